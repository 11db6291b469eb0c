package decidertest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// newerVersion is an entry of a future format: everything that this version
// asks for is there, and may mean something else.
const newerVersion = `{
  "cloudelect": 2, "leader_id": "future", "term_expiry": "2031-01-02T03:04:05Z", "term_length": "15s",
  "election_number": 7, "fencing_token": 7, "nonce": "n"
}`

func foreignCases() []testCase {
	return []testCase{
		{
			"corrupt-record-is-ErrBadEntry-with-a-usable-token",
			"what nobody understands is not a free election; an operator must be able to overwrite exactly it",
			func(s *suite) {
				r := s.record()
				s.need(r.Plant != nil, "Plant")
				d := r.Open()
				absent := s.read(d)
				for _, content := range []string{
					"rubbish", `{"some": "JSON"}`, `{"cloudelect": 1, "leader_id": "half`, "null", "[]",
					strings.Replace(newerVersion, `"cloudelect": 2`, `"cloudelect": 1, "held": "perhaps"`, 1),
				} {
					if err := r.Plant([]byte(content)); err != nil {
						s.Fatalf("Plant: %v", err)
					}
					s.bad(d, absent, fmt.Sprintf("%.40q", content))
				}
			},
		},
		{
			"newer-version-is-ErrBadEntry",
			"who does not understand an entry must not overwrite it: two versions of a program run side by side in every rollout",
			func(s *suite) {
				r := s.record()
				s.need(r.Plant != nil || r.PlantNewer != nil, "Plant or PlantNewer")
				plant := r.PlantNewer
				if plant == nil {
					plant = func() error { return r.Plant([]byte(newerVersion)) }
				}
				d := r.Open()
				absent := s.read(d)
				if err := plant(); err != nil {
					s.Fatalf("planting a newer version: %v", err)
				}
				s.bad(d, absent, "an entry of a newer version")
			},
		},
		{
			"deleted-record-is-a-lost-race",
			"a leader whose entry somebody deleted must hear of it, and must not bring the entry back by a renewal",
			func(s *suite) {
				r := s.record()
				s.need(r.Delete != nil, "Delete")
				d := r.Open()
				e := following(s.read(d), "leader")
				token := s.write(d, e)
				if err := r.Delete(); err != nil {
					s.Fatalf("Delete: %v", err)
				}
				err := s.lose(d, after(e, token, "leader"), "on a deleted record")
				if cur := current(err); cur != nil && !cur.Absent() {
					s.Errorf("LostRaceError.Current of a deleted record is %+v, want none or an absent entry", cur)
				}
				got := s.read(d)
				if !got.Absent() {
					s.Fatalf("a deleted record reads as %+v", got)
				}
				again := following(got, "again")
				s.write(d, again)
				s.same(s.read(d), again, "the record that was created again")
				s.lose(d, after(e, token, "leader"), "with a token from before the deletion")
			},
		},
	}
}

// bad expects a record that reads as ErrBadEntry, is not free, and can be
// overwritten with the token that came with the error.
func (s *suite) bad(d core.RaceDecider, absent *entry.RaceEntry, what string) {
	s.Helper()
	got, err := s.tryRead(d)
	if !errors.Is(err, core.ErrBadEntry) || errors.Is(err, core.ErrBroken) {
		s.Fatalf("reading %s: %+v, %v; want ErrBadEntry", what, got, err)
	}
	if got == nil || got.Token == nil {
		s.Fatalf("reading %s: %+v: want an entry with a token", what, got)
	}
	if got.LeaderID != "" || got.Nonce != "" {
		s.Errorf("reading %s: %+v: want nothing but a token to be believed", what, got)
	}
	err = s.lose(d, following(absent, "creator"), "as if nothing were stored, over "+what)
	if cur := current(err); cur != nil {
		s.Errorf("LostRaceError.Current over %s is %+v: want none, so that it is read", what, cur)
	}
	e := following(&entry.RaceEntry{Token: got.Token}, "operator")
	s.write(d, e)
	s.same(s.read(d), e, "the record after "+what+" was overwritten")
	s.lose(d, following(&entry.RaceEntry{Token: got.Token}, "operator"), "a second time over "+what)
}

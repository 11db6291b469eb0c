package decidertest

import (
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

func readingCases() []testCase {
	return []testCase{
		{
			"absent-reads-as-no-elections",
			"a candidate that finds nothing must know that it found nothing, and be able to create the first entry",
			func(s *suite) {
				r := s.record()
				d := r.Open()
				for range 2 { // a read creates nothing
					e := s.read(d)
					s.same(e, &entry.RaceEntry{ElectionNumber: entry.NoElections}, "an absent record")
				}
				first := following(s.read(d), "first")
				s.write(d, first)
				s.same(s.read(d), first, "the first entry")
			},
		},
		{
			"read-your-write-through-another-handle",
			"a read that is older than a confirmed write elects a second leader",
			func(s *suite) {
				r := s.record()
				writer, reader := r.Open(), r.Open()
				s.read(reader) // whatever it may have kept of this is out of date below
				base := s.read(writer)
				for _, id := range []string{"first", "second", "third"} {
					e := following(base, id)
					e.Token = s.write(writer, e)
					s.same(s.read(reader), e, "another handle's read after "+id)
					base = e
				}
			},
		},
		{
			"a-read-token-overwrites-through-another-handle",
			"a token names the version, not the connection that it came over",
			func(s *suite) {
				r := s.record()
				e := following(s.read(r.Open()), "first")
				s.write(r.Open(), e)
				next := following(s.read(r.Open()), "second")
				s.write(r.Open(), next)
				s.same(s.read(r.Open()), next, "the second entry")
			},
		},
		{
			"vacant-is-stored-and-not-absent",
			"a resignation keeps the numbers: a store that forgets them hands out old fencing tokens again",
			func(s *suite) {
				d := s.record().Open()
				e := following(s.read(d), "leader")
				e.FencingToken = 41
				vacant := after(e, s.write(d, e), "")
				vacant.FencingToken, vacant.HostPort, vacant.Checkpoint = 41, nil, []byte("slot 7")
				s.write(d, vacant)
				got := s.read(d)
				s.same(got, vacant, "a resigned entry")
				if got.Absent() || !got.Vacant() {
					s.Errorf("a resigned entry reads as absent %v, vacant %v", got.Absent(), got.Vacant())
				}
			},
		},
		{
			"two-records-do-not-meet",
			"elections that share a bucket or a table are separate",
			func(s *suite) {
				one, two := s.record().Open(), s.record().Open()
				e := following(s.read(one), "one")
				token := s.write(one, e)
				if !s.read(two).Absent() {
					s.Fatalf("a write to one record is seen in another")
				}
				f := following(s.read(two), "two")
				s.write(two, f)
				s.same(s.read(one), e, "the first record")
				s.write(one, after(e, token, "one again"))
				s.same(s.read(two), f, "the second record")
			},
		},
		{
			"store-date-on-every-token",
			"the proof store-time needs the store's clock on every answer: reads, writes, and the winner inside a lost race",
			func(s *suite) {
				if s.h.NoStoreDate {
					s.Logf("this store tells no time")
					return
				}
				r := s.record()
				d := r.Open()
				absent := s.read(d)
				s.dated(absent.Token, "a read of nothing")
				e := following(absent, "first")
				rest(d)
				token, err := once(s.Context(), d, e)
				if err != nil {
					s.Fatalf("first write: %v", err)
				}
				s.dated(token, "a write")
				s.dated(s.read(d).Token, "a read")
				stale := following(absent, "stale")
				if cur := current(s.lose(d, stale, "with a stale token")); cur != nil {
					s.dated(cur.Token, "LostRaceError.Current")
				}
				if r.Plant != nil {
					if err := r.Plant([]byte("rubbish")); err != nil {
						s.Fatalf("Plant: %v", err)
					}
					if bad, _ := s.tryRead(d); bad != nil {
						s.dated(bad.Token, "a read of a bad entry")
					}
				}
			},
		},
	}
}

// dated expects a token with the store's time, in the whole seconds of HTTP.
func (s *suite) dated(token entry.LeaderToken, what string) {
	s.Helper()
	d, ok := token.(core.DatedToken)
	switch {
	case !ok:
		s.Errorf("the token of %s (%T) is no core.DatedToken", what, token)
	case d.StoreDate().IsZero():
		s.Errorf("the token of %s has no StoreDate", what)
	case d.StoreDate().Truncate(time.Second) != d.StoreDate():
		s.Errorf("the StoreDate of %s is %v: not whole seconds", what, d.StoreDate())
	}
}

package decidertest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

func contentCases() []testCase {
	return []testCase{
		{
			"round-trip-every-field",
			"a field that a store drops is a fact that the next candidate does not have",
			func(s *suite) {
				d := s.record().Open()
				full := everyField(s)
				full.Token = s.read(d).Token
				token := s.write(d, full)
				s.same(s.read(d), full, "an entry with every field set")

				vacant := &entry.RaceEntry{TermLength: 1, TermExpiry: time.Unix(0, 0), ElectionNumber: full.ElectionNumber + 1, Nonce: "n", Token: token}
				s.write(d, vacant)
				s.same(s.read(d), vacant, "an entry with nothing set that need not be")
			},
		},
		{
			"nanosecond-expiry",
			"a time that was rounded up ends a term late, one that was rounded down early",
			func(s *suite) {
				d := s.record().Open()
				base := s.read(d)
				zone := time.FixedZone("elsewhere", -5*3600-1800)
				for i, at := range []time.Time{
					time.Date(2031, 1, 2, 3, 4, 5, 999_999_999, time.UTC),
					time.Date(2031, 1, 2, 3, 4, 5, 1, zone),
					time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC),
				} {
					e := following(base, fmt.Sprintf("time %d", i))
					e.TermExpiry, e.SentBy, e.TermLength = at, at.Add(-7*time.Nanosecond), 15*time.Second+time.Nanosecond
					e.Token = s.write(d, e)
					s.same(s.read(d), e, fmt.Sprintf("an entry until %v", at))
					base = e
				}
			},
		},
		{
			"empty-and-largest-payloads",
			"what may be stored must fit, and what is empty must not become something",
			func(s *suite) {
				d := s.record().Open()
				large := following(s.read(d), strings.Repeat("é", 400))
				large.HostPort = slices.Repeat([]string{"[2001:db8::1]:65535"}, 30)
				large.ConnectionParams = bytes.Repeat([]byte{0, 0xff, '"', '\n'}, 4<<10)
				large.Checkpoint = bytes.Repeat([]byte{0xfe}, entry.MaxCheckpoint)
				token := s.write(d, large)
				s.same(s.read(d), large, "a large entry")

				empty := after(large, token, "empty")
				empty.HostPort, empty.ConnectionParams, empty.Checkpoint = []string{}, []byte{}, []byte{}
				token = s.write(d, empty)
				s.same(s.read(d), empty, "an entry with empty payloads")

				none := after(empty, token, "none")
				none.HostPort = nil
				s.write(d, none)
				s.same(s.read(d), none, "an entry without payloads")
			},
		},
		{
			"the-callers-entry-is-left-alone",
			"an entry belongs to the caller: a decider that keeps or changes it changes history",
			func(s *suite) {
				d := s.record().Open()
				e := following(s.read(d), "leader")
				e.Checkpoint, e.ConnectionParams = []byte("checkpoint"), []byte("params")
				before := e.Clone()
				s.write(d, e)
				s.same(e, &before, "the caller's entry after WriteEntry")
				if !reflect.DeepEqual(e.Token, before.Token) {
					s.Errorf("WriteEntry changed the caller's Token")
				}
				e.HostPort[0], e.Checkpoint[0], e.ConnectionParams[0] = "changed", 'X', 'X'
				got := s.read(d)
				s.same(got, &before, "the record after the caller changed what it had written")
				got.HostPort[0], got.Checkpoint[0], got.LeaderID = "changed", 'X', "changed"
				s.same(s.read(d), &before, "the record after the caller changed what it had read")
			},
		},
		{
			"refuses-to-write-a-bad-entry",
			"an entry that nobody can read back blocks its election until an operator breaks it",
			func(s *suite) {
				d := s.record().Open()
				for name, spoil := range map[string]func(e *entry.RaceEntry){
					"no nonce":                 func(e *entry.RaceEntry) { e.Nonce = "" },
					"no term":                  func(e *entry.RaceEntry) { e.TermLength = 0 },
					"a negative number":        func(e *entry.RaceEntry) { e.ElectionNumber = -1 },
					"a checkpoint beyond 4 KB": func(e *entry.RaceEntry) { e.Checkpoint = make([]byte, entry.MaxCheckpoint+1) },
					"no expiry":                func(e *entry.RaceEntry) { e.TermExpiry = time.Time{} },
				} {
					e := following(s.read(d), "bad")
					spoil(e)
					if _, err := once(s.Context(), d, e); err == nil || isLost(err) {
						s.Errorf("writing an entry with %s: %v, want an error that is not lost", name, err)
					}
					if got := s.read(d); !got.Absent() {
						s.Fatalf("an entry with %s was stored: %+v", name, got)
					}
				}
			},
		},
	}
}

// everyField fills every field of an entry by reflection, so that one that is
// added later cannot be forgotten here.
func everyField(s *suite) *entry.RaceEntry {
	s.Helper()
	e := &entry.RaceEntry{}
	v := reflect.ValueOf(e).Elem()
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		if name == "Token" {
			continue
		}
		// Text that JSON, HTML and shells treat specially; counters beyond what
		// a float64 can hold.
		text := name + " \"quoted\" <a&b> \\ \n € 😀"
		switch f.Interface().(type) {
		case string:
			f.SetString(text)
		case []string:
			f.Set(reflect.ValueOf([]string{text, "", "second"}))
		case []byte:
			b := []byte(name)
			for c := range 256 {
				b = append(b, byte(c))
			}
			f.SetBytes(b)
		case time.Time:
			f.Set(reflect.ValueOf(time.Date(2031, 1, 2, 3, 4, i, 123_456_789, time.UTC)))
		case time.Duration:
			f.SetInt(int64(time.Hour) + int64(i))
		case int64, entry.ElectionNumber:
			f.SetInt(1<<60 + int64(i))
		case bool:
			f.SetBool(true)
		default:
			s.Fatalf("decidertest: teach everyField to fill %s (%s)", name, f.Type())
		}
	}
	if err := e.Validate(); err != nil {
		s.Fatalf("decidertest: everyField makes an entry that is not valid: %v", err)
	}
	return e
}

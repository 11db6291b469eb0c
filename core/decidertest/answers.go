package decidertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

func answerCases() []testCase {
	return []testCase{
		{
			"cancelled-context-is-not-lost",
			"a cancelled request proves nothing, whatever the context's cause is; a reign must not end over it",
			cancelled,
		},
		{
			"lost-answer-is-unknown-then-found-by-nonce",
			"a retry that finds its own write and calls it lost gives up an election that was won",
			func(s *suite) {
				r := s.record()
				s.need(r.LoseNext != nil, "LoseNext")
				d := r.Open()
				base := s.read(d)
				for _, what := range []string{"creation", "renewal"} {
					e := following(base, what)
					rest(d)
					r.LoseNext(d)
					if _, err := once(s.Context(), d, e); outcome(err) != "unknown" {
						s.Fatalf("a %s whose answer was lost is %s, want unknown: %v", what, outcome(err), err)
					}
					got := s.read(d)
					if got.Nonce != e.Nonce {
						s.Fatalf("a %s whose answer was lost is not stored: %+v", what, got)
					}
					s.same(got, e, "a "+what+" whose answer was lost")
					rest(d)
					_, err := once(s.Context(), d, e) // sent twice: its base is gone
					if outcome(err) == "stored" || outcome(err) == "broken" {
						s.Errorf("the same %s again is %s, want lost: %v", what, outcome(err), err)
					}
					s.same(s.read(d), e, "the record after the same write was sent twice")
					base = got
				}
			},
		},
		{
			"denied-is-broken",
			"no permission is neither a lost race nor a free election, and waiting does not cure it",
			func(s *suite) {
				r := s.record()
				s.need(r.Deny != nil, "Deny")
				d, denied := r.Open(), r.Deny()
				absent := s.read(d)
				if _, err := s.tryRead(denied); !errors.Is(err, core.ErrBroken) {
					s.Errorf("a denied read of nothing: %v, want ErrBroken", err)
				}
				s.denied(denied, following(absent, "denied"), "creation")
				e := following(absent, "leader")
				token := s.write(d, e)
				if _, err := s.tryRead(denied); !errors.Is(err, core.ErrBroken) {
					s.Errorf("a denied read: %v, want ErrBroken", err)
				}
				s.denied(denied, after(e, token, "denied"), "write")
				s.same(s.read(d), e, "the record after denied writes")
			},
		},
		{
			"refuses-a-foreign-token",
			"a token of another decider, or none, names no version: it must not overwrite one",
			func(s *suite) {
				d := s.record().Open()
				e := following(s.read(d), "leader")
				s.write(d, e)
				for _, token := range []entry.LeaderToken{nil, foreignToken{}} {
					if _, err := once(s.Context(), d, after(e, token, "foreign")); err == nil {
						s.Errorf("a write with the token %T was stored", token)
					}
					s.same(s.read(d), e, "the record after a write with a foreign token")
				}
			},
		},
	}
}

type foreignToken struct{}

func (foreignToken) CommitTS() time.Time { return time.Time{} }

func (s *suite) denied(d core.RaceDecider, e *entry.RaceEntry, what string) {
	s.Helper()
	if _, err := once(s.Context(), d, e); outcome(err) != "broken" {
		s.Errorf("a denied %s is %s, want broken: %v", what, outcome(err), err)
	}
}

// cancelled uses causes that look like answers of the store: HTTP clients
// return the cause, and a decider that wraps what it is given passes it on.
func cancelled(s *suite) {
	d := s.record().Open()
	base := s.read(d)
	for _, cause := range []error{context.Canceled, &core.LostRaceError{}, core.ErrBroken, fmt.Errorf("held: %w", core.ErrBadEntry)} {
		ctx, cancel := context.WithCancelCause(s.Context())
		cancel(cause)
		e := following(base, "cancelled")
		if _, err := d.WriteEntry(ctx, e); outcome(err) != "unknown" {
			s.Errorf("a write with a context cancelled by %q is %s, want unknown: %v", cause, outcome(err), err)
		}
		if _, err := d.ReadCurrent(ctx); err == nil || errors.Is(err, core.ErrBroken) || errors.Is(err, core.ErrBadEntry) {
			s.Errorf("a read with a context cancelled by %q: %v, want an error of no class", cause, err)
		}
	}
	ctx, cancel := context.WithDeadline(s.Context(), time.Unix(1, 0))
	defer cancel()
	if _, err := d.WriteEntry(ctx, following(base, "late")); outcome(err) != "unknown" {
		s.Errorf("a write after its deadline is %s, want unknown: %v", outcome(err), err)
	}
	e := following(s.read(d), "alive") // the handle still works
	s.write(d, e)
	s.same(s.read(d), e, "the record")
}

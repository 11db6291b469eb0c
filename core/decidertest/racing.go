package decidertest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

func racingCases() []testCase {
	return []testCase{
		{
			"create-race-one-winner",
			"many candidates find nothing; one of them creates the entry",
			func(s *suite) {
				r := s.record()
				s.race(r, s.read(r.Open()))
			},
		},
		{
			"overwrite-race-one-winner",
			"many candidates find the same expired entry; one of them takes over",
			func(s *suite) {
				r := s.record()
				d := r.Open()
				s.write(d, following(s.read(d), "before"))
				rest(d)
				s.race(r, s.read(d))
			},
		},
		{
			"stale-token-loses",
			"a candidate that was overtaken must hear of it, and not that the store has a problem",
			func(s *suite) {
				r := s.record()
				d, other := r.Open(), r.Open()
				absent := s.read(d)
				first := following(s.read(other), "first")
				token := s.write(other, first)
				s.lose(d, following(absent, "late creator"), "with the token of an absent record that was created since")

				s.write(other, after(first, token, "second"))
				s.lose(d, after(first, token, "late"), "with the token of a version that was replaced")
				s.lose(other, after(first, token, "late"), "by the writer of the replaced version")
			},
		},
		{
			"lost-race-leaves-the-record",
			"a write that lost must change nothing, and what it says is stored must be what is stored",
			func(s *suite) {
				r := s.record()
				d := r.Open()
				absent := s.read(d)
				winner := following(absent, "winner")
				token := s.write(d, winner)
				for _, loser := range []*entry.RaceEntry{following(absent, "loser"), after(winner, absent.Token, "loser again")} {
					err := s.lose(r.Open(), loser, "with a stale token")
					if cur := current(err); cur != nil {
						s.same(cur, winner, "LostRaceError.Current")
					}
					s.same(s.read(d), winner, "the record after a lost race")
				}
				s.write(d, after(winner, token, "winner")) // its token is still good
			},
		},
		{
			"the-winner-in-a-lost-race-can-be-overwritten",
			"a candidate may go on from LostRaceError.Current without a read of its own",
			func(s *suite) {
				d := s.record().Open()
				absent := s.read(d)
				s.write(d, following(absent, "winner"))
				cur := current(s.lose(d, following(absent, "loser"), "with a stale token"))
				if cur == nil {
					s.Logf("this store's answer does not tell what is stored")
					return
				}
				if cur.Token == nil {
					s.Fatalf("LostRaceError.Current has no token")
				}
				next := following(cur, "next")
				s.write(d, next)
				s.same(s.read(d), next, "the record")
			},
		},
		{
			"token-changes-on-every-write",
			"the token of a write must name that version: the next renewal is built on it without a read",
			func(s *suite) {
				d := s.record().Open()
				base := s.read(d)
				old := []entry.LeaderToken{base.Token}
				for _, id := range []string{"first", "second", "third"} {
					e := following(base, id)
					e.Token = s.write(d, e)
					for i, token := range old {
						s.lose(d, after(e, token, "late"), fmt.Sprintf("with the token from %d writes ago", len(old)-i))
					}
					old = append(old, e.Token)
					base = e
				}
				s.same(s.read(d), base, "the record")
			},
		},
		{
			"equal-content-still-changes-the-token",
			"a token computed from the content lets a writer of the past overwrite its successor; the nonce keeps versions apart",
			func(s *suite) {
				d := s.record().Open()
				e := following(s.read(d), "same")
				first := s.write(d, e)
				again := *e
				again.Nonce, again.Token = following(e, "").Nonce, first
				second := s.write(d, &again)
				late := *e
				late.Nonce, late.Token = following(e, "").Nonce, first
				s.lose(d, &late, "with the token of an equal version that was replaced")
				s.write(d, after(&again, second, "next"))
			},
		},
		{
			"concurrent-use",
			"one handle is used by a reign, its readers and a watcher at the same time; no write may vanish",
			concurrentUse,
		},
	}
}

// race lets several candidates write on the same version, each through a handle
// of its own, and expects one to win.
func (s *suite) race(r Record, base *entry.RaceEntry) {
	s.Helper()
	const candidates = 6
	entries := make([]*entry.RaceEntry, candidates)
	errs := make([]error, candidates)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range candidates {
		d := r.Open()
		entries[i] = following(base, fmt.Sprintf("candidate %d", i))
		wg.Go(func() {
			<-start
			_, errs[i] = settle(s.Context(), d, entries[i])
		})
	}
	close(start)
	wg.Wait()
	var winner *entry.RaceEntry
	for i, err := range errs {
		switch outcome(err) {
		case "stored":
			if winner != nil {
				s.Errorf("both %q and %q won", winner.LeaderID, entries[i].LeaderID)
			}
			winner = entries[i]
		case "lost":
		default:
			s.Errorf("%q is %s, want stored or lost: %v", entries[i].LeaderID, outcome(err), err)
		}
	}
	if winner == nil {
		s.Fatalf("nobody won")
	}
	s.same(s.read(r.Open()), winner, "the record after the race")
}

func current(err error) *entry.RaceEntry {
	var lost *core.LostRaceError
	if errors.As(err, &lost) {
		return lost.Current
	}
	return nil
}

func concurrentUse(s *suite) {
	const workers, each = 3, 2
	d := s.record().Open()
	s.read(d)
	var met sync.WaitGroup // all have read before the first one writes, so that some do lose
	met.Add(workers)
	errs := make([]error, workers)
	var unclear atomic.Int64 // writes that may have been stored and overwritten unseen
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			meet := sync.OnceFunc(met.Done)
			defer meet()
			errs[i] = s.increments(d, each, &unclear, func() { meet(); met.Wait() })
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		s.Fatalf("%v", err)
	}
	least := entry.ElectionNumber(workers*each - 1)
	if got := s.read(d).ElectionNumber; got < least || got > least+entry.ElectionNumber(unclear.Load()) {
		s.Errorf("%d writes were confirmed, %d were unclear, and the record has number %d", workers*each, unclear.Load(), got)
	}
}

// increments makes n writes, each on top of what it read, beginning again when
// it loses. Reads must never go back.
func (s *suite) increments(d core.RaceDecider, n int, unclear *atomic.Int64, beforeWrite func()) error {
	last := entry.NoElections
	for done := 0; done < n; {
		cur, err := s.tryRead(d)
		if err != nil {
			return err
		}
		if cur.ElectionNumber < last {
			return fmt.Errorf("a read shows number %d after %d", cur.ElectionNumber, last)
		}
		e := following(cur, "worker")
		beforeWrite()
		_, asked, err := settleAsking(s.Context(), d, e)
		switch {
		case err == nil:
			done++
			last = e.ElectionNumber
		case !isLost(err):
			return err
		case asked:
			unclear.Add(1)
		}
	}
	return nil
}

package breakcmd

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// A running leader loses at its next renewal, and whoever comes next does so only
// when it must have noticed even if it could not renew.
func TestBreakEndsARunningReign(t *testing.T) {
	for name, cut := range map[string]bool{"that can renew": false, "that cannot reach the store": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testRunningReign(t, cut) })
		})
	}
}

func testRunningReign(t *testing.T, cut bool) {
	const term = 9 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := newWorld()
	handle := w.Handle()
	old, err := core.Config{LeaderID: "old", Decider: handle, TermLength: term}.Campaign(ctx)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second) // one renewal, at 3 s
	termEnd := old.LastRenewed().Add(term)
	if cut {
		handle.FailNext(1<<30, nil)
	}

	next := make(chan *core.Leadership)
	go func() {
		l, err := core.Config{LeaderID: "next", Decider: w.Handle(), TermLength: term}.Campaign(ctx)
		if err != nil {
			t.Error(err)
		}
		next <- l
	}()
	if _, err := w.run(t, "--fencing-token", itoa(old.FencingToken())); err != nil {
		t.Fatal(err)
	}
	broken := time.Now()

	<-old.Context().Done()
	ended := time.Now()
	want, latest := core.ErrLeadershipLost, broken.Add(term/3+time.Second)
	if cut {
		want, latest = core.ErrTermExpired, termEnd
	}
	if cause := context.Cause(old.Context()); !errors.Is(cause, want) || ended.After(latest) {
		t.Errorf("the old reign ended after %v by %v; want within %v, by %v", ended.Sub(broken), cause, latest.Sub(broken), want)
	}

	l := <-next
	if l == nil {
		return
	}
	if won := time.Now(); won.Before(termEnd) || won.Before(broken.Add(term)) || won.After(broken.Add(term+6*time.Second)) {
		t.Errorf("somebody won %v after the break; want at least a whole term of %v, and not much more", won.Sub(broken), term)
	}
	if l.FencingToken() != old.FencingToken()+2 {
		t.Errorf("the next fencing token is %d, want %d", l.FencingToken(), old.FencingToken()+2)
	}
	cancel()
	_ = l.Resign(t.Context())
}

// With --now the next leader comes at its next look.
func TestNowLetsTheNextLeaderInAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		e := w.Lead("dead", time.Hour)
		if _, err := w.run(t, "--now", "--fencing-token", itoa(e.FencingToken)); err != nil {
			t.Fatal(err)
		}
		l, err := core.Config{LeaderID: "next", Decider: w.Handle()}.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Resign(t.Context())
		if l.FencingToken() != e.FencingToken+1 {
			t.Errorf("fencing token %d, want %d", l.FencingToken(), e.FencingToken+1)
		}
	})
}

// awkward is a store whose writes go wrong as the test says, n at a time.
type awkward struct {
	*memory.Decider
	before func() // called before each write
	drop   int    // writes that fail without being stored, unknown to the caller
	lose   int    // writes that are stored and not answered
	broken bool
	writes int
}

func (a *awkward) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	a.writes++
	if a.before != nil {
		a.before()
	}
	switch {
	case a.broken:
		return nil, core.ErrBroken
	case a.drop > 0:
		a.drop--
		return nil, errors.New("503")
	case a.lose > 0:
		a.lose--
		a.LoseNext(1)
	}
	return a.Decider.WriteEntry(ctx, e)
}

func TestAnswersThatGoWrong(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  awkward
		writes int
		code   int
	}{
		{"lost, but stored", awkward{lose: 1}, 1, cliutil.ExitOK},
		{"not stored, twice", awkward{drop: 2}, 3, cliutil.ExitOK},
		{"not stored, then stored and lost", awkward{drop: 1, lose: 1}, 2, cliutil.ExitOK},
		{"never stored", awkward{drop: 99}, attempts, cliutil.ExitUnavailable},
		{"denied", awkward{broken: true}, 1, cliutil.ExitBroken},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := c.store
				a.Decider = memory.NewDecider()
				old := a.Lead("w1", 10*time.Second)
				err := breakWith(t, &a, old.FencingToken)
				if got := cliutil.CodeOf(err); got != c.code || a.writes != c.writes {
					t.Errorf("code %d (%v) after %d writes, want %d after %d", got, err, a.writes, c.code, c.writes)
				}
				e, _ := a.Stored()
				wanted := old.FencingToken
				if c.code == cliutil.ExitOK {
					wanted++
				}
				if e.FencingToken != wanted {
					t.Errorf("fencing token %d is stored, want %d", e.FencingToken, wanted)
				}
			})
		})
	}
}

// A leader that renews between the look and the write is still the one to end.
func TestARenewalInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &awkward{Decider: memory.NewDecider()}
		old := a.Lead("w1", 10*time.Second)
		a.before = func() {
			if a.writes == 1 {
				renewed := old
				renewed.ElectionNumber, renewed.Nonce = 1, "renewed"
				a.Plant(renewed)
			}
		}
		if err := breakWith(t, a, old.FencingToken); err != nil {
			t.Fatal(err)
		}
		if e, _ := a.Stored(); e.ElectionNumber != 2 || e.FencingToken != old.FencingToken+1 {
			t.Errorf("stored: number %d, fencing token %d; want 2, %d", e.ElectionNumber, e.FencingToken, old.FencingToken+1)
		}
	})
}

// A leader that was followed in between is not the one to end.
func TestANewReignInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &awkward{Decider: memory.NewDecider()}
		old := a.Lead("w1", 10*time.Second)
		a.before = func() { a.Lead("w2", 10*time.Second) }
		err := breakWith(t, a, old.FencingToken)
		if cliutil.CodeOf(err) != ExitChanged {
			t.Errorf("break = %v, want a refusal", err)
		}
		if e, _ := a.Stored(); e.LeaderID != "w2" {
			t.Errorf("%q is stored, want w2", e.LeaderID)
		}
	})
}

func breakWith(t *testing.T, a *awkward, token int64) error {
	t.Helper()
	b := breaker{
		options: options{token: token, tokenGiven: true, timeout: time.Minute},
		store:   "mem://test", decider: a, clock: clocks.DefaultClock(), who: "elect break by op@host",
	}
	_, err := b.run(t.Context())
	return err
}

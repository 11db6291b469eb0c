package core

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"
)

// pacing is what a schedule needs of a Config, with a name of its own.
func pacing(name string, poll, term time.Duration) *settings {
	return &settings{Config: Config{LeaderID: name, PollInterval: poll, TermLength: term, RenewInterval: term / 3}}
}

// readsOf plays a candidate that reads as its schedule says, until the time
// runs out, and returns when it read. due is when a proof can hold.
func readsOf(s *settings, until time.Duration, due func(now time.Duration) time.Duration) []time.Duration {
	now := time.Duration(0)
	sched := newSchedule(s, at(now))
	var reads []time.Duration
	for now < until {
		reads = append(reads, now)
		now += sched.next(at(now), due(now))
	}
	return reads
}

func neverDue(time.Duration) time.Duration { return never }

// TestPollsOncePerInterval: between two polls lies one interval, the hundredth
// time as well as the second. The first comes early, to set candidates apart
// that began together.
func TestPollsOncePerInterval(t *testing.T) {
	const poll = 3 * time.Second
	first := map[time.Duration]bool{}
	for i := range 20 {
		reads := readsOf(pacing(fmt.Sprint("w", i), poll, 15*time.Second), 1000*time.Second, neverDue)
		for i := 1; i < len(reads); i++ {
			gap := reads[i] - reads[i-1]
			if i == 1 {
				if gap < poll/2 || gap > poll {
					t.Fatalf("the first poll came after %v, want half of %v at least", gap, poll)
				}
				first[gap] = true
				continue
			}
			if gap != poll {
				t.Fatalf("read %d came %v after the one before, want %v", i, gap, poll)
			}
		}
	}
	if len(first) < 18 {
		t.Errorf("%d different beginnings: candidates poll in step", len(first))
	}
}

// TestOneDueReadPerInterval: however often a proof seems due, an interval has
// one read besides its poll.
func TestOneDueReadPerInterval(t *testing.T) {
	const poll = 3 * time.Second
	for _, due := range []time.Duration{1, time.Millisecond, time.Second, 2999 * time.Millisecond} {
		s := pacing("w", poll, 15*time.Second)
		reads := readsOf(s, 300*time.Second, func(time.Duration) time.Duration { return due })
		if len(reads) > 2*101+1 {
			t.Errorf("due in %v all the time: %d reads in 100 intervals", due, len(reads))
		}
		if due < poll/2 && len(reads) < 150 {
			t.Errorf("due in %v all the time: %d reads: the due ones are missing", due, len(reads))
		}
	}
}

// TestReadsWhenAProofIsDue: soon after, never before, and not all at once.
func TestReadsWhenAProofIsDue(t *testing.T) {
	const poll, term, due = 5 * time.Second, 15 * time.Second, 2 * time.Second
	first := map[time.Duration]bool{}
	for i := range 50 {
		s := pacing(fmt.Sprint("w", i), poll, term)
		sched := newSchedule(s, at(0))
		d := sched.next(at(0), due)
		if d < due || d > due+500*time.Millisecond {
			t.Fatalf("reads after %v, want %v and at most 500 ms more", d, due)
		}
		first[d] = true
		// The read showed a renewal: nothing is due now, and the poll stays where it was.
		if rest := sched.next(at(d), never); d+rest < poll/2 || d+rest > poll {
			t.Fatalf("polls after %v, want %v", d+rest, poll)
		}
	}
	if len(first) < 40 {
		t.Errorf("50 contenders read at %d different times", len(first))
	}
	short := newSchedule(pacing("w", poll, time.Second), at(0))
	if d := short.next(at(0), due); d < due || d > due+100*time.Millisecond {
		t.Errorf("reads after %v, want at most a tenth of the term more", d)
	}
	late := newSchedule(pacing("w", poll, term), at(0))
	if d := late.next(at(0), poll-1); d < poll/2 || d > poll {
		t.Errorf("due just before the poll: %v", d)
	}
}

// TestFailoverBound: from the answer that showed the last version, a candidate
// looks again, with its proof, within the term, its margin, one interval and
// the jitter, wherever in its interval it is and whatever it spent its due read on.
func TestFailoverBound(t *testing.T) {
	for i := range 200 {
		poll := time.Duration(1+i%7) * 700 * time.Millisecond
		term := time.Duration(1+i%11) * 2 * time.Second
		proof := term + rateMargin(term)
		s := pacing(fmt.Sprint("w", i), poll, term)
		wasted := time.Duration(i) * proof / 200 // another proof seems due then, and does not hold
		reads := readsOf(s, 2*(proof+poll), func(now time.Duration) time.Duration {
			if now < wasted {
				return wasted - now
			}
			if now < proof {
				return proof - now
			}
			return never
		})
		for _, r := range reads {
			if r < proof {
				continue
			}
			if most := proof + poll + poll/10; r > most {
				t.Errorf("poll %v, term %v, due read wasted at %v: looked at %v, want at most %v", poll, term, wasted, r, most)
			}
			break
		}
	}
}

// TestLateWakeUpsDoNotBunch: a candidate that slept through polls makes up for none.
func TestLateWakeUpsDoNotBunch(t *testing.T) {
	s := pacing("w", time.Second, 15*time.Second)
	sched := newSchedule(s, at(0))
	for _, now := range []time.Duration{time.Hour, 2 * time.Hour, 2*time.Hour + time.Minute} {
		if d := sched.next(at(now), never); d != time.Second {
			t.Errorf("at %v: next read after %v", now, d)
		}
	}
}

func TestSpread(t *testing.T) {
	const most = 1000
	seen := map[time.Duration]int{}
	for i := range 5000 {
		d := spread(fmt.Sprint("worker-", i), 3, most)
		if d < 0 || d > most {
			t.Fatalf("%d is not within [0, %d]", d, most)
		}
		if again := spread(fmt.Sprint("worker-", i), 3, most); again != d {
			t.Fatalf("%d, then %d: a run cannot be repeated", d, again)
		}
		seen[d*10/(most+1)]++
	}
	for tenth := range time.Duration(10) {
		if n := seen[tenth]; n < 400 || n > 600 {
			t.Errorf("%d of 5000 names are in tenth %d, want about 500", n, tenth)
		}
	}
	over := map[time.Duration]bool{}
	for n := range uint64(1000) {
		over[spread("w", n, 1<<40)] = true
	}
	if len(over) < 990 {
		t.Errorf("one name has %d different values in 1000 rounds", len(over))
	}
	for _, most := range []time.Duration{0, -1, -time.Hour} {
		if d := spread("w", 1, most); d != 0 {
			t.Errorf("within %v: %v", most, d)
		}
	}
	if a, b := spread("w", 0, 1), spread("", 9, never); a < 0 || a > 1 || b < 0 {
		t.Errorf("%v, %v", a, b)
	}
}

// TestPausesGrow: half to the whole of a base that doubles up to its limit.
func TestPausesGrow(t *testing.T) {
	s := pacing("w", 3*time.Second, 24*time.Second) // renews every 8 s
	sched := newSchedule(s, at(0))
	limited := pacing("w", 3*time.Second, 24*time.Second)
	limited.Decider = &slowStore{interval: 4 * time.Second}
	for _, tc := range []struct {
		name  string
		pause func(n int) time.Duration
		bases []time.Duration // of n = 0, 1, ..; the last one stays
	}{
		{"after failed reads", sched.afterFailure, []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second}},
		{"after failed writes", s.retryPause, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}},
		{"after failed writes, with a limited store", limited.retryPause, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}},
	} {
		for n := range 100 {
			base := tc.bases[min(n, len(tc.bases)-1)]
			if d := tc.pause(n); d < base/2 || d > base {
				t.Errorf("%s: pause %d is %v, want %v to %v", tc.name, n, d, base/2, base)
			}
		}
		if d := tc.pause(1 << 40); d <= 0 {
			t.Errorf("%s: a pause of %v after very many", tc.name, d)
		}
	}
}

// waker is a campaign that does nothing but sleep.
func waker(t *testing.T, wake <-chan struct{}) *campaign {
	t.Helper()
	s := pacing("w", 3*time.Second, 15*time.Second)
	s.Wake, s.Clock, s.Memory = wake, clocks.DefaultClock(), new(Memory)
	if err := s.Memory.attach(s.Clock); err != nil {
		t.Fatal(err)
	}
	return newCampaign(s, newHooks(t.Context(), s), false)
}

func doze(ctx context.Context, c *campaign, d time.Duration) {
	c.idle(ctx, &move{kind: moveWait, wait: d, listen: true})
}

func TestWakeCausesAReadNowButNotMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 1000)
		c := waker(t, wake)
		time.Sleep(time.Second)
		for range 1000 {
			wake <- struct{}{}
		}
		start := time.Now()
		sleep := func() time.Duration {
			doze(t.Context(), c, 2*time.Second)
			return time.Since(start)
		}
		if d := sleep(); d != 0 {
			t.Errorf("the first read comes after %v, want at once", d)
		}
		for i := 1; i <= 50; i++ {
			if d, want := sleep(), time.Duration(i)*wakeGap; d != want {
				t.Fatalf("read %d comes after %v, want %v: one per %v", i, d, want, wakeGap)
			}
		}
	})
}

func TestWakeDoesNotDelayAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{}, 2)
		c := waker(t, wake)
		wake <- struct{}{}
		wake <- struct{}{}
		doze(t.Context(), c, time.Second)
		start := time.Now()
		doze(t.Context(), c, wakeGap/2)
		if d := time.Since(start); d != wakeGap/2 {
			t.Errorf("a poll due in %v came after %v", wakeGap/2, d)
		}
		doze(t.Context(), c, -1)
		if d := time.Since(start); d != wakeGap/2 {
			t.Errorf("an overdue poll waited %v", d-wakeGap/2)
		}
	})
}

func TestClosedWakeIsAsGoodAsNil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		close(wake)
		c := waker(t, wake)
		for range 3 {
			start := time.Now()
			doze(t.Context(), c, time.Second)
			if d := time.Since(start); d != time.Second {
				t.Errorf("slept %v, want the whole second", d)
			}
		}
	})
}

func TestSleepEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wake := make(chan struct{})
		c := waker(t, wake)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		doze(ctx, c, time.Hour)
		if d := time.Since(start); d != time.Second {
			t.Errorf("slept %v after its context's end", d-time.Second)
		}
		if pause(ctx, c.Clock, 0) || pause(ctx, c.Clock, time.Hour) || !pause(t.Context(), c.Clock, 0) || !pause(t.Context(), c.Clock, -1) {
			t.Error("pause tells whether its context lasts")
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("a pause of nothing took %v", d-time.Second)
		}
	})
}

package core_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// What went wrong in other people's leases and could go wrong here. Which fault
// which test shows is a table in docs/TESTING.md; many have their test elsewhere.
// What concerns the answers of one store only is tested with its decider.

// digitaldrywood/detent#2527: after 429s the contenders came back every time as
// fast as before. Here each unknown answer doubles the pause.
func TestPitfall_ContendersBackOff(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.PollInterval = time.Second / 2
		h.door.all(write, fault{kind: refuse, err: errors.New("429 too many requests")})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		<-w.campaign(ctx, h)
		writes := 0
		for _, c := range h.door.log() {
			if c.op == write {
				writes++
			}
		}
		// RenewInterval is term/3: at most two attempts in that time, some more at first.
		if most := int(2*10*time.Minute/(term/3)) + 10; writes > most || writes < 100 {
			t.Errorf("%d attempts in ten minutes, want %d at most", writes, most)
		}
	})
}

// cirello-io/dynamolock#56: whoever lost the race to create the entry gave up
// with an error, instead of waiting for its turn.
func TestPitfall_LosingTheCreateRaceIsNotFatal(t *testing.T) {
	for _, omit := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("slow", nil)
			h.door.RaceDecider = w.handle(omit)
			h.door.then(write, fault{kind: stuckLate, d: time.Second})
			out := w.campaign(t.Context(), h)
			time.Sleep(time.Second / 2)
			first := w.host("first", nil).win(t)
			time.Sleep(3 * term)
			wantLeading(t, first)
			resign(t, first)
			r := <-out
			if r.err != nil {
				t.Fatal(r.err)
			}
			resign(t, r.Leadership)
		})
	}
}

// silent is a decider that answers nothing for a while: no token, no entry and
// no error.
type silent struct {
	core.RaceDecider
	mu    sync.Mutex
	quiet int
}

func (d *silent) silent() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quiet--
	return d.quiet >= 0
}

func (d *silent) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	tok, err := d.RaceDecider.WriteEntry(ctx, e)
	if d.silent() {
		return nil, nil
	}
	return tok, err
}

func (d *silent) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if d.silent() {
		return nil, nil
	}
	return d.RaceDecider.ReadCurrent(ctx)
}

// apache/iceberg#2034: an answer that nobody had thought of killed the
// heartbeat. A decider that answers with nothing at all has an unknown outcome.
func TestPitfall_AnswersThatAreNone(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		d := &silent{RaceDecider: h.door}
		h.Decider = d
		for quiet := range 6 {
			d.mu.Lock()
			d.quiet = quiet
			d.mu.Unlock()
			l := h.win(t)
			for range 3 {
				d.mu.Lock()
				d.quiet = quiet
				d.mu.Unlock()
				time.Sleep(term)
				wantLeading(t, l)
			}
			d.mu.Lock()
			d.quiet = quiet
			d.mu.Unlock()
			resign(t, l)
		}
	})
}

// ShedLock#231, #639, #1439: with clocks three minutes apart both ran the job.
// Where the store tells no time and clocks are not to be believed, only what
// was observed counts.
func TestPitfall_ClocksThreeMinutesApart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.host("right", nil).win(t)
		ahead := w.host("ahead", &skewclock.Options{Offset: 3 * time.Minute})
		ahead.NoClockProof = true
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if r := <-w.campaign(ctx, ahead); r.err == nil {
			t.Error("a second leader")
		}
		wantLeading(t, l)
		resign(t, l)
	})
}

// ConductorOne/baton-sdk#1007: a worker is frozen between two invocations, the
// monotonic clock with it, and its connections are dead when it wakes. The first
// request hangs; it must not take the invocation with it, and what was observed
// before must not count for more than it is.
func TestPitfall_FrozenBetweenInvocations(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		leader := w.host("leader", nil).win(t)
		h := w.host("worker", nil)
		h.Memory, h.NoClockProof = new(core.Memory), true
		for range 5 {
			l, err := h.TryAcquire(t.Context())
			wantHeld(t, l, err)
			h.clock.FreezeMono()
			time.Sleep(term * 3 / 4)
			h.clock.ThawMono(false)
			h.door.then(read, fault{kind: hang})
			began := time.Now()
			if l, err := h.TryAcquire(t.Context()); l != nil || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("TryAcquire on a dead connection = %v, %v", l, err)
			}
			if took := time.Since(began); took > term/4+time.Microsecond {
				t.Errorf("it took %v", took)
			}
		}
		wantLeading(t, leader)
		resign(t, leader)
		l, err := h.TryAcquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resign(t, l)
	})
}

// etcd-io/etcd#11746: terms below a second work like any other.
func TestPitfall_TermBelowASecond(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for _, term := range []time.Duration{200 * time.Millisecond, 10 * time.Millisecond, time.Millisecond} {
			h := w.host("a", nil)
			h.TermLength, h.PollInterval, h.Memory = term, 0, new(core.Memory)
			l := h.win(t)
			time.Sleep(100 * term)
			wantLeading(t, l)
			h.door.all(write, fault{kind: refuse})
			time.Sleep(term)
			wantOver(t, l, core.ErrTermExpired)
			h.door.all(write, fault{})
			resign(t, h.win(t))
		}
	})
}

// openshift/library-go#1104: a store that is away for a minute ends no reign
// whose term is longer than that, two pauses and a request that hangs.
func TestPitfall_OutageShorterThanTheTerm(t *testing.T) {
	for _, f := range []fault{{kind: refuse}, {kind: hang}, {kind: stuck, d: time.Minute}, {kind: lose}} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			h.TermLength, h.RenewInterval = 107*time.Second, 5*time.Second
			l := h.win(t)
			for range 5 {
				h.door.all(read, f)
				h.door.all(write, f)
				time.Sleep(time.Minute)
				h.door.all(read, fault{})
				h.door.all(write, fault{})
				time.Sleep(107 * time.Second)
				wantLeading(t, l)
			}
			resign(t, l)
		})
	}
}

// tristanls/dynamodb-lock-client#1: a heartbeat that went on after the release
// kept the worker alive, and the lock.
func TestPitfall_NoHeartbeatAfterTheEnd(t *testing.T) {
	for _, end := range []func(l *core.Leadership, cancel func()){
		func(l *core.Leadership, _ func()) { _ = l.Resign(context.Background()) },
		func(_ *core.Leadership, cancel func()) { cancel() },
	} {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host("a", nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l := h.winIn(t, ctx)
			time.Sleep(term)
			end(l, cancel)
			h.door.forget()
			time.Sleep(10 * term)
			h.door.wantRequests(t, "ten terms after the end", 0, 0)
		})
	}
}

// cirello-io/dynamolock#14, Clever/dynamodb-lock-go#5: the second reign of a
// process is renewed like the first, with the same Config and Memory.
func TestPitfall_HeartbeatOfTheSecondReign(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		h.Memory = new(core.Memory)
		for range 4 {
			l := h.win(t)
			time.Sleep(5 * term)
			wantLeading(t, l)
			resign(t, l)
		}
	})
}

// hashicorp/vault#6636: after somebody had deleted the item, leadership went
// round for ever. Here the leader notices, one of all follows when the longest
// term has passed, and stays.
func TestPitfall_NoRotationAfterADeletion(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var reigns []time.Time
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			h := w.host(name, nil)
			h.OnElected = func(context.Context, *core.TimeView) {
				mu.Lock()
				defer mu.Unlock()
				reigns = append(reigns, time.Now())
			}
			w.run(func() { _ = h.Acquire(ctx) })
		}
		time.Sleep(5 * term)
		w.store.Delete()
		deleted := time.Now()
		time.Sleep(20 * term)
		mu.Lock()
		defer mu.Unlock()
		if len(reigns) != 2 {
			t.Errorf("%d reigns, want one before the deletion and one after", len(reigns))
		} else if came := reigns[1].Sub(deleted); came < term || came > 2*term {
			t.Errorf("the second one came %v after the deletion", came)
		}
		cancel()
	})
}

// hashicorp/consul#9469: everybody came back at the same moment. Fifty that
// wait for the same term to end read at different times, and hardly any of
// them writes in vain.
func TestPitfall_Herd(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("dead", term)
		ctx, cancel := context.WithCancel(t.Context())
		const n = 50
		var hosts []*host
		for range n {
			h := w.host("candidate-"+string(rune('A'+len(hosts))), nil)
			h.door.lane += 20 * time.Millisecond // a round trip
			hosts = append(hosts, h)
			w.campaign(ctx, h)
		}
		time.Sleep(3 * term)
		cancel()
		writes := 0
		reads := map[time.Duration]int{}
		crowd := 0
		for _, h := range hosts {
			for i, c := range h.door.log() {
				if c.op == write {
					writes++
				} else if i > 0 {
					at := time.Duration(c.at.UnixNano()).Truncate(10 * time.Millisecond)
					reads[at]++
					crowd = max(crowd, reads[at])
				}
			}
		}
		// The winner's own writes are the win, its renewals and nothing else.
		if most := n / 3; writes > most+2*3 {
			t.Errorf("%d writes by %d candidates for one election, want %d at most", writes, n, most)
		}
		if crowd > n/3 {
			t.Errorf("%d of %d reads came within 10 ms", crowd, n)
		}
	})
}

// k/k#61151, #22775, metallb#140: two processes of one name, both sure that the
// entry is theirs. A name proves nothing here, unless Reclaim promises it.
func TestPitfall_TwoOfOneName(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		one, two := w.host("twin", nil), w.host("twin", nil)
		l := one.win(t)
		ctx, cancel := context.WithTimeout(t.Context(), 5*term)
		defer cancel()
		if r := <-w.campaign(ctx, two); r.err == nil {
			t.Error("both lead")
		}
		wantLeading(t, l)
		resign(t, l)
		second := two.win(t)
		if again, err := one.TryAcquire(t.Context()); again != nil {
			t.Errorf("both lead: %v", err)
		}
		resign(t, second)
	})
}

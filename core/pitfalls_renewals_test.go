package core_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// k/k#112023: a leader that was cancelled in the middle of a renewal released
// with the version from before it, which failed, and left an entry that nobody
// could use. Here the resignation finds out what is stored, whatever became of
// the renewal, and the next leader need not wait.
func TestPitfall_CancelledWhileRenewing(t *testing.T) {
	for name, f := range map[string]fault{
		"answer lost":              {kind: lose, d: time.Second},
		"not sent":                 {kind: refuse},
		"not sent, no answer":      {kind: hang},
		"stored, no answer":        {kind: hangAfter},
		"stored, answered late":    {kind: slowBack, d: time.Second},
		"stored and answered late": {kind: stuckLate, d: time.Second},
		"lands soon":               {kind: late, d: 100 * time.Millisecond},
		"lands late":               {kind: late, d: time.Second},
	} {
		for _, acquire := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, acquire=%v", name, acquire), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					h := w.host("a", nil)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var l *core.Leadership
					if acquire {
						elected := make(chan *core.Leadership, 1)
						h.OnElected = func(ctx context.Context, _ *core.TimeView) {
							l, _ := core.FromContext(ctx)
							elected <- l
						}
						w.run(func() { _ = h.Acquire(ctx) })
						l = <-elected
					} else {
						l = h.winIn(t, ctx)
					}
					sent := w.sentAt(h, l.Entry().Nonce)
					h.door.then(write, f)
					time.Sleep(time.Until(sent.Add(term/3 + 50*time.Millisecond))) // the renewal is on its way
					cancel()
					if !acquire {
						resign(t, l)
					}
					time.Sleep(4 * time.Second)
					got := w.stored(t)
					if err := got.Validate(); err != nil || !got.Vacant() || got.FencingToken != l.FencingToken() {
						t.Errorf("stored: %+v (%v), want this reign's vacant entry", got, err)
					}
					next, err := w.host("b", nil).TryAcquire(t.Context())
					if err != nil {
						t.Fatalf("the next leader: %v", err)
					}
					resign(t, next)
				})
			})
		}
	}
}

// dying is a decider whose writes end their goroutine while it is told to, as
// t.FailNow in somebody's decider does.
type dying struct {
	core.RaceDecider
	left atomic.Int64
}

func (d *dying) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if d.left.Add(-1) >= 0 {
		runtime.Goexit()
	}
	return d.RaceDecider.WriteEntry(ctx, e)
}

// apache/iceberg#2034: what went wrong in one heartbeat silently ended all of
// them. Here a renewal that never returns is one without an answer.
func TestPitfall_RenewalThatNeverReturns(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		d := &dying{RaceDecider: h.door}
		h.Decider = d
		l := h.win(t)
		for range 5 {
			d.left.Store(2)
			time.Sleep(2 * term)
			wantLeading(t, l)
		}
		d.left.Store(1)
		resign(t, l)
		if !w.stored(t).Vacant() {
			t.Error("not vacant")
		}
	})
}

// hashicorp/vault#7455: a store that had answered nothing but 429 for a while
// left a state in which no node could lead. Here some of the refused writes were
// stored and some were not, and yet one leads as soon as the store takes writes.
func TestPitfall_RefusalsLeaveNothingBehind(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.tellTime(0)
		ctx, cancel := context.WithCancel(t.Context())
		tooMany := errors.New("429 too many requests")
		var hosts []*host
		leading := func() (n int) {
			for _, h := range hosts {
				n += len(h.told(core.EventElected)) - len(h.told(core.EventEnded))
			}
			return n
		}
		for i := range 4 {
			h := w.host(fmt.Sprint("node-", i), nil)
			h.OnElected = func(context.Context, *core.TimeView) {}
			hosts = append(hosts, h)
			w.run(func() { _ = h.Acquire(ctx) })
		}
		time.Sleep(3 * term)
		for round := range 6 {
			for _, h := range hosts {
				if round%2 == 0 {
					h.door.all(write, fault{kind: refuse, err: tooMany})
				} else { // stored, and refused all the same; nobody can look
					h.door.all(write, fault{kind: lose})
					h.door.all(read, fault{kind: refuse, err: tooMany})
				}
			}
			time.Sleep(3 * term)
			if n := leading(); n != 0 {
				t.Errorf("%d lead without an answer for three terms", n)
			}
			for _, h := range hosts {
				h.door.all(write, fault{})
				h.door.all(read, fault{})
			}
			time.Sleep(2 * term)
			if n := leading(); n != 1 {
				t.Errorf("%d lead two terms after the last refusal", n)
			}
			if e := w.stored(t); e.Validate() != nil || e.Vacant() {
				t.Errorf("stored: %+v", e)
			}
		}
		cancel()
	})
}

package faultdecider_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/faultdecider"
	"github.com/cloudelect/cloudelect/core/memory"
)

func wrap(t *testing.T, store core.RaceDecider, plan string) *faultdecider.Decider {
	t.Helper()
	p, err := faultdecider.Parse(plan)
	if err != nil {
		t.Fatal(err)
	}
	d, err := faultdecider.New(store, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func anEntry(t *testing.T, store *memory.Decider, id string) *entry.RaceEntry {
	t.Helper()
	cur, err := store.ReadCurrent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &entry.RaceEntry{
		LeaderID: id, TermLength: time.Second, TermExpiry: time.Unix(100, 0), Nonce: "nonce of " + id,
		ElectionNumber: cur.ElectionNumber + 1, Token: cur.Token,
	}
}

func class(err error) string {
	var lost core.FailedAcquisitionErr
	switch {
	case err == nil:
		return "stored"
	case errors.As(err, &lost):
		return "lost"
	case errors.Is(err, core.ErrBroken):
		return "broken"
	default:
		return "unknown"
	}
}

// What each kind does to one write, whose context ends after 10 s.
func TestKindsOnAWrite(t *testing.T) {
	for _, tc := range []struct {
		fault  string
		class  string
		took   time.Duration
		stored bool // when the answer is there
		later  bool // 5 s later
	}{
		{"fail", "unknown", 0, false, false},
		{"lose", "unknown", 0, true, true},
		{"broken", "broken", 0, false, false},
		{"delay for=3s", "stored", 3 * time.Second, true, true},
		{"delay for=11s", "unknown", 10 * time.Second, false, false},
		{"delay-after for=3s", "stored", 3 * time.Second, true, true},
		{"delay-after for=11s", "unknown", 10 * time.Second, true, true},
		{"hang", "unknown", 10 * time.Second, false, false},
		{"hang-after", "unknown", 10 * time.Second, true, true},
		{"stuck", "unknown", 30 * time.Second, false, false},
		{"late for=3s", "unknown", 0, false, true},
		{"duplicate", "lost", 0, true, true},
		{"delay for=2s; write duplicate; write delay-after for=1s; write lose", "unknown", 3 * time.Second, true, true},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.NewDecider()
				d := wrap(t, store, "write "+tc.fault)
				time.AfterFunc(30*time.Second, d.Heal)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				_, err := d.WriteEntry(ctx, anEntry(t, store, "a"))
				if got := class(err); got != tc.class || time.Since(start) != tc.took {
					t.Errorf("%s after %v (%v), want %s after %v", got, time.Since(start), err, tc.class, tc.took)
				}
				if tc.class == "unknown" && !errors.Is(err, faultdecider.ErrInjected) {
					t.Errorf("%v is not ErrInjected", err)
				}
				if _, stored := store.Stored(); stored != tc.stored {
					t.Errorf("stored: %v", stored)
				}
				time.Sleep(5 * time.Second)
				if _, stored := store.Stored(); stored != tc.later {
					t.Errorf("stored 5 s later: %v", stored)
				}
			})
		})
	}
}

func TestKindsOnARead(t *testing.T) {
	for fault, ok := range map[string]bool{
		"fail": false, "lose": false, "broken": false, "delay for=1s": true, "delay-after for=1s": true,
		"hang": false, "hang-after": false, "late for=1s": false, "duplicate": true,
	} {
		synctest.Test(t, func(t *testing.T) {
			store := memory.NewDecider()
			store.Lead("somebody", time.Minute)
			d := wrap(t, store, "read "+fault)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			e, err := d.ReadCurrent(ctx)
			if (err == nil) != ok || (e != nil) != ok {
				t.Errorf("%s: %+v, %v", fault, e, err)
			}
		})
	}
}

// A late write meets the world as it is then.
func TestALateWriteCanLose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewDecider()
		d := wrap(t, store, "write late times=1 for=3s")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := d.WriteEntry(ctx, anEntry(t, store, "late"))
		cancel() // whoever sent it has given up
		if class(err) != "unknown" {
			t.Errorf("late: %v", err)
		}
		if _, err := d.WriteEntry(t.Context(), anEntry(t, store, "quick")); err != nil {
			t.Errorf("quick: %v", err)
		}
		start := time.Now()
		d.Settle()
		if e, _ := store.Stored(); e.LeaderID != "quick" || time.Since(start) != 3*time.Second {
			t.Errorf("%q leads after %v", e.LeaderID, time.Since(start))
		}
		if _, writes := store.Requests(); writes != 2 {
			t.Errorf("%d writes, want 2", writes)
		}
	})
}

// A late write is what was sent, whatever became of its sender.
func TestALateWriteLandsWithoutItsSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewDecider()
		d := wrap(t, store, "write late for=3s")
		ctx, cancel := context.WithCancel(t.Context())
		e := anEntry(t, store, "late")
		e.HostPort = []string{"192.0.2.1:1"}
		_, _ = d.WriteEntry(ctx, e)
		cancel()
		e.HostPort[0] = "changed"
		d.Settle()
		if got, ok := store.Stored(); !ok || got.HostPort[0] != "192.0.2.1:1" {
			t.Errorf("stored: %+v, %v", got, ok)
		}
	})
}

func TestCloseDropsWhatHasNotLanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewDecider()
		d := wrap(t, store, "write late times=1 for=3s; read stuck")
		_, _ = d.WriteEntry(t.Context(), anEntry(t, store, "late"))
		loose := make(chan error)
		go func() {
			_, err := d.ReadCurrent(t.Context())
			loose <- err
		}()
		synctest.Wait()
		start := time.Now()
		d.Close()
		if err := <-loose; !errors.Is(err, faultdecider.ErrInjected) {
			t.Errorf("the stuck read: %v", err)
		}
		if time.Since(start) != 0 {
			t.Errorf("Close took %v", time.Since(start))
		}
		time.Sleep(time.Minute)
		if _, stored := store.Stored(); stored {
			t.Error("a late write landed after Close")
		}
		if _, err := d.WriteEntry(t.Context(), anEntry(t, store, "a")); err != nil {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestCountsAndProbability(t *testing.T) {
	store := memory.NewDecider()
	run := func(plan string) (pattern string, d *faultdecider.Decider) {
		d = wrap(t, store, plan)
		for range 1_000 {
			if _, err := d.ReadCurrent(t.Context()); err != nil {
				pattern += "x"
			} else {
				pattern += "."
			}
		}
		return pattern, d
	}
	if got, d := run("read fail after=2 times=3; write lose"); got[:7] != "..xxx.." || fmt.Sprint(d.Counts()) != "map[fail:3]" {
		t.Errorf("%s, counts %v", got[:7], d.Counts())
	}
	seven, d := run("seed=7; any fail p=0.25")
	if n := d.Counts()[faultdecider.Fail]; n < 150 || n > 350 { // the seed fixes n: it is never near a bound by chance
		t.Errorf("%d of 1,000 with p=0.25", n)
	}
	again, _ := run(d.String())
	other, _ := run("seed=8; any fail p=0.25")
	if again != seven || other == seven {
		t.Errorf("same seed repeats: %v, another seed differs: %v", again == seven, other != seven)
	}
	// A fault that is added leaves the others where they were.
	with, d2 := run("seed=7; any fail p=0.25; any broken p=0.5")
	for i := range with {
		if seven[i] == 'x' && with[i] != 'x' {
			t.Fatalf("request %d failed with %s and not with %s", i, d, d2)
		}
	}
}

func TestHeal(t *testing.T) {
	store := memory.NewDecider()
	d := wrap(t, store, "any fail")
	if _, err := d.ReadCurrent(t.Context()); err == nil {
		t.Error("no fault")
	}
	d.Heal()
	d.Heal()
	if _, err := d.ReadCurrent(t.Context()); err != nil {
		t.Errorf("after Heal: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := faultdecider.New(nil, faultdecider.Plan{}, nil); err == nil {
		t.Error("a nil decider is taken")
	}
	if _, err := faultdecider.New(memory.NewDecider(), faultdecider.Plan{Faults: []faultdecider.Fault{{}}}, nil); err == nil {
		t.Error("a fault without a kind is taken")
	}
}

func TestWriteLimitPassesThrough(t *testing.T) {
	store := memory.NewDecider()
	if got := wrap(t, store, "").MinWriteInterval(); got != 0 {
		t.Errorf("%v without a limit", got)
	}
	if got := wrap(t, store.Limited(time.Second), "").MinWriteInterval(); got != time.Second {
		t.Errorf("%v, want 1s", got)
	}
}

// Without faults it is the decider that it wraps; and the suite holds with a
// store that fails now and then.
func TestConformance(t *testing.T) {
	for _, plan := range []string{"", "any delay p=0.2 for=1ms; read fail p=0.1"} {
		t.Run(plan, func(t *testing.T) {
			decidertest.Run(t, decidertest.Harness{
				NoStoreDate: true, AllowSkips: true,
				New: func(decidertest.TB) decidertest.Record {
					store := memory.NewDecider()
					return decidertest.Record{Open: func() core.RaceDecider { return wrap(t, store.Handle(), plan) }}
				},
			})
		})
	}
}

package k8slock_test

import (
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/adapters/k8slock"
	"github.com/cloudelect/cloudelect/core/entry"
)

func TestOneLeadsAndTheOtherFollowsAfterACrash(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.run(w.lock(w.store.Handle(), "a", nil), false)
		first := w.leader(0)
		b := w.run(w.lock(w.store.Handle(), "b", nil), false)
		defer b.stop()
		time.Sleep(10 * time.Minute)
		if got := w.past(); len(got) != 1 || first.who != "a" {
			t.Fatalf("reigns %v, want a's alone", got)
		}
		last, _ := w.store.Stored()
		a.stop()
		next := w.leader(1)
		waited := next.at.Sub(last.SentBy.Add(-time.Second))
		if next.who != "b" || waited < leaseTime || waited > leaseTime+time.Second+2*pause {
			t.Errorf("%v led %v after the last renewal", next, waited)
		}
	})
}

func TestAReleaseLetsTheNextLeadAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.run(w.lock(w.store.Handle(), "a", nil), true)
		w.leader(0)
		b := w.run(w.lock(w.store.Handle(), "b", nil), true)
		time.Sleep(time.Minute)
		a.stop()
		if e, ok := w.store.Stored(); !ok || !e.Vacant() {
			t.Fatalf("stored after the release: %+v", e)
		}
		released := time.Now()
		if next := w.leader(1); next.who != "b" || next.at.Sub(released) > pause {
			t.Errorf("%v led %v after the release", next, next.at.Sub(released))
		}
		b.stop()
	})
}

// client-go tries a release once, and the read before it too. The lock repeats
// both, and finds out what became of it.
func TestAReleaseIsRepeated(t *testing.T) {
	for _, plan := range []string{"write lose times=1", "write fail times=3", "write hang-after times=1",
		"read fail times=1; write lose times=1", "read fail times=2", "write lose times=1; read fail after=1 times=3"} {
		bubble(t, func(t *testing.T, w *world) {
			d := w.store.Handle()
			door := w.faults(d, "")
			a := w.run(w.lock(door, "a", nil), true)
			w.leader(0)
			time.Sleep(retry / 2)
			door.set(w.faults(d, plan))
			a.stop()
			if e, _ := w.store.Stored(); !e.Vacant() {
				t.Errorf("%s: stored %+v", plan, e)
			}
			door.close()
		})
	}
}

// A renewal that the end of the context has cut off is no failed one.
func TestAReleaseDuringARenewal(t *testing.T) {
	for _, plan := range []string{"write hang", "write hang-after"} {
		bubble(t, func(t *testing.T, w *world) {
			door := w.faults(w.store.Handle(), "")
			a := w.run(w.lock(door, "a", nil), true)
			w.leader(0)
			time.Sleep(retry / 2)
			door.set(w.faults(w.store.Handle(), plan))
			time.Sleep(retry/2 + time.Second) // it hangs now
			door.set(w.faults(w.store.Handle(), ""))
			a.stop()
			if e, _ := w.store.Stored(); !e.Vacant() {
				t.Errorf("%s: stored %+v", plan, e)
			}
			door.close()
		})
	}
}

// client-go releases before it ends the work's context when renewals have failed.
func TestNoReleaseAfterFailedRenewals(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		d := w.store.Handle()
		door := w.faults(d, "")
		a := w.run(w.lock(door, "a", nil), true)
		w.leader(0)
		time.Sleep(retry / 2)
		before, _ := w.store.Stored()
		door.set(w.faults(d, "write fail times=12")) // the deadline passes, and the store recovers
		<-a.worked
		<-a.done
		door.set(w.faults(d, ""))
		if e, _ := w.store.Stored(); e.Vacant() || e.Nonce != before.Nonce {
			t.Errorf("stored %+v, want the last renewal", e)
		}
		if n := len(w.leaders()); n != 0 {
			t.Errorf("%d lead after the deadline", n)
		}
		a.stop()
		door.close()
	})
}

// A leader whose reads hang and whose renewals fail has stopped when its lease is over.
func TestTheWorkEndsWithTheLease(t *testing.T) {
	for _, plan := range []string{"any fail", "any hang", "any stuck", "any late for=1h", "write lose times=1; any stuck", "write delay-after for=1400ms; any hang after=1", "any broken"} {
		for _, release := range []bool{false, true} {
			bubble(t, func(t *testing.T, w *world) {
				d := w.store.Handle()
				door := w.faults(d, "")
				a := w.run(w.lock(door, "a", nil), release)
				w.leader(0)
				time.Sleep(3 * retry / 2)
				door.set(w.faults(d, plan))
				<-a.worked
				ended := time.Now()
				e, _ := w.store.Stored()
				if sent := e.TermExpiry.Add(-leaseTime); ended.Sub(sent) > leaseTime+time.Second {
					t.Errorf("%s (release %v): the work ended %v after the last stored write was sent", plan, release, ended.Sub(sent))
				}
				a.stop()
				door.close()
			})
		}
	}
}

func TestABadEntryBlocksAndStays(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		rubbish := "somebody else's"
		w.store.PlantRaw([]byte(rubbish))
		a := w.run(w.lock(w.store.Handle(), "a", nil), true)
		time.Sleep(10 * time.Minute)
		if _, writes := w.store.Requests(); writes != 0 || string(w.store.Raw()) != rubbish || len(w.past()) != 0 {
			t.Errorf("%d writes, stored %q, reigns %v", writes, w.store.Raw(), w.past())
		}
		a.stop()

		w.store.Delete() // an operator's act
		b := w.run(w.lock(w.store.Handle(), "b", nil), true)
		w.leader(0)
		w.store.PlantRaw([]byte(rubbish)) // under a leader
		<-b.worked
		b.stop()
		if string(w.store.Raw()) != rubbish {
			t.Errorf("stored %q", w.store.Raw())
		}
	})
}

// A process that starts again under its old name, or a twin: client-go would lead
// at once.
func TestAnotherProcessOfTheSameIdentity(t *testing.T) {
	for _, reclaim := range []bool{false, true} {
		bubble(t, func(t *testing.T, w *world) {
			old := w.run(w.lock(w.store.Handle(), "a", nil), false)
			w.leader(0)
			time.Sleep(time.Minute)
			if reclaim { // the promise: the old one is dead
				old.stop()
			}
			begin := time.Now()
			again := w.run(w.lock(w.store.Handle(), "a", &k8slock.Options{Reclaim: reclaim}), false)
			if !reclaim {
				time.Sleep(10 * time.Minute)
				if got := w.past(); len(got) != 1 {
					t.Fatalf("reigns %v: the twin leads too", got)
				}
				old.stop()
				begin = time.Now()
			}
			next := w.leader(1)
			if waited := next.at.Sub(begin); reclaim != (waited < time.Second) {
				t.Errorf("reclaim %v: waited %v", reclaim, waited)
			}
			again.stop()
		})
	}
}

// An elector that has lost ends. The next one on the same lock has a new reign.
func TestRunningAgainIsANewReign(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		l := w.lock(w.store.Handle(), "a", nil)
		for i := range 3 {
			e := w.run(l, i == 1)
			if w.leader(i); l.FencingToken() == 0 || l.Check() != nil {
				t.Errorf("reign %d: token %d, %v", i, l.FencingToken(), l.Check())
			}
			e.stop()
			if l.FencingToken() != 0 || l.Check() == nil {
				t.Errorf("after reign %d: token %d, %v", i, l.FencingToken(), l.Check())
			}
		}
	})
}

// Cloud Storage takes one write per second: client-go's second write comes at once.
func TestAWriteLimit(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		d := w.store.Handle().Limited(time.Second)
		a := w.run(w.lock(d, "a", nil), true)
		w.leader(0)
		time.Sleep(time.Minute)
		e, _ := w.store.Stored()
		_, writes := w.store.Requests()
		if int(e.ElectionNumber)+1 != writes {
			t.Errorf("%d writes, %d stored", writes, e.ElectionNumber+1)
		}
		time.Sleep(retry - time.Minute%retry + time.Millisecond)
		a.stop()
		if e, _ = w.store.Stored(); !e.Vacant() {
			t.Errorf("stored %+v", e)
		}
	})
}

func TestADeletedEntryIsWaitedFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("core's", time.Minute)
		a := w.run(w.lock(w.store.Handle(), "a", nil), true)
		time.Sleep(10 * time.Second)
		before, _ := w.store.Stored()
		w.store.Delete()
		deleted := time.Now()
		next := w.leader(0)
		if waited := next.at.Sub(deleted); waited < 63*time.Second || waited > 64*time.Second+2*pause {
			t.Errorf("led %v after the deletion", waited)
		}
		e, _ := w.store.Stored()
		if e.ElectionNumber <= before.ElectionNumber || next.token <= before.FencingToken {
			t.Errorf("%+v after %+v", e, before)
		}
		a.stop()
	})
}

// What client-go's electors leave is what core's tools read.
func TestEveryVersionIsAnEntry(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.run(w.lock(w.store.Handle(), "a", &k8slock.Options{HostPort: []string{"10.0.0.1:80"}}), true)
		w.leader(0)
		time.Sleep(time.Minute)
		e, _ := w.store.Stored()
		if _, err := entry.Encode(&e); err != nil || e.LeaderID != "a" || e.TermLength != leaseTime || e.Held || e.HostPort[0] != "10.0.0.1:80" ||
			time.Until(e.SentBy) > 2*time.Second || e.TermExpiry.Before(time.Now().Add(leaseTime-retry)) {
			t.Errorf("%v: %+v at %v", err, e, time.Now())
		}
		a.stop()
		e, _ = w.store.Stored()
		if _, err := entry.Encode(&e); err != nil || !e.Vacant() || e.HostPort != nil || e.FencingToken != w.past()[0].token {
			t.Errorf("released: %v: %+v", err, e)
		}
	})
}

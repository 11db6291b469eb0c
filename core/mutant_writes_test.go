package core_test

import (
	"testing"
	"time"
)

// Two callers renew at once. The second waits for the first: a write that is built
// on a version which is just being replaced could only lose, and the answer to the
// first would come when nobody waits for it any more.
func TestMutantOneWriteAtATime(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		h := w.host("a", nil)
		l := h.lead(t)
		h.door.forget()
		h.door.then(write, fault{kind: slowBack, d: time.Second})
		first := make(chan error, 1)
		w.run(func() { first <- l.Renew(t.Context()) })
		time.Sleep(time.Second / 2)
		if err := l.Renew(t.Context()); err != nil {
			t.Errorf("the second Renew = %v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("the first Renew = %v", err)
		}
		h.door.wantRequests(t, "two renewals at once", 0, 2)
		wantLeading(t, l)
		resign(t, l)
	})
}

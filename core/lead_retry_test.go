package core_test

import (
	"testing"
	"time"
)

// Pauses between failed renewals grow, but not past the end of the term: a
// store that is back when a sixth of the term is left is asked once more in it.
func TestHoldingRetriesDoNotSleepOverTheEnd(t *testing.T) {
	for ms := range time.Duration(40) {
		bubble(t, func(t *testing.T, w *world) {
			h := w.host(string(rune('a'+ms%10)), nil)
			h.RenewInterval = term / 2
			l := h.win(t)
			sent := w.sentAt(h, l.Entry().Nonce)
			h.door.all(write, fault{kind: refuse})
			back := term*5/6 - ms*term/100
			time.Sleep(time.Until(sent.Add(back)))
			h.door.all(write, fault{})
			time.Sleep(term)
			if err := l.Check(); err != nil {
				t.Errorf("the store was back %v before the end of the term: %v", term-back, err)
			}
			resign(t, l)
		})
	}
}

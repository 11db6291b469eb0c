package lambdaleader

import (
	"context"
	"sync"
	"time"
)

// keepRenewed renews the leadership while the handler runs, if it does not last
// as it is. The function that it returns ends that, and waits for it: a request
// that is under way is not cut off, because nobody would wait for its end.
func (inv *invocation) keepRenewed() (stop func()) {
	if _, _, needed := inv.nextRenewal(); !needed {
		return func() {}
	}
	handling, returned := context.WithCancel(inv.ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { inv.renew(handling) })
	return func() {
		returned()
		renewing.Wait()
	}
}

func (inv *invocation) nextRenewal() (wait, within time.Duration, ok bool) {
	t := inv.tenure
	return inv.l.window(inv.called).renewal(t.TimeLeft(), t.term, t.interval)
}

// renew ends when no renewal is needed or allowed any more, and with handling: when
// the handler has returned, or the leadership is over.
func (inv *invocation) renew(handling context.Context) {
	clock, pause := inv.l.clock, time.Duration(0)
	for handling.Err() == nil {
		wait, within, ok := inv.nextRenewal()
		if !ok {
			return
		}
		if wait > 0 {
			clock.SleepFor(handling, wait)
			continue
		}
		limited, cancel := inv.ctx, context.CancelFunc(func() {})
		if pause > 0 && within < forever/2 {
			// After an unknown answer Renew may find an older write confirmed, and
			// send once more: not after the time at which that is allowed.
			limited, cancel = clock.ContextWithTimeout(inv.ctx, within)
		}
		err := inv.tenure.Renew(limited)
		cancel()
		if err == nil {
			pause = 0
			continue
		}
		pause = min(max(2*pause, min(inv.tenure.term/16, inv.l.opts.Margin/4)), inv.tenure.term/8)
		clock.SleepFor(handling, pause)
	}
}

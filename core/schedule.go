package core

import (
	"context"
	"time"
)

// schedule says when a waiting candidate reads next: once per PollInterval,
// once more in between when a proof is due, and when it is woken.
type schedule struct {
	*settings
	polls  uint64
	polled time.Duration // when the last regular poll was due, on the monotonic clock
	// dueSpent: the extra read of this interval was used.
	dueSpent bool
	sleeper
}

// newSchedule begins with a read at now. The poll that follows comes early by
// up to half an interval, which sets candidates apart that began at the same
// time; from then on polls keep their distance, so that a vacant election is
// seen within PollInterval.
func newSchedule(s *settings, now instant) schedule {
	return schedule{
		settings: s, sleeper: newSleeper(s.Wake, now),
		polled: now.mono - spread(s.LeaderID, 0, s.PollInterval/2),
	}
}

// next returns how long to wait before the next read, if a proof can hold in
// due (never: if none can).
func (s *schedule) next(now instant, due time.Duration) time.Duration {
	poll := s.polled + s.PollInterval - now.mono
	if poll <= 0 { // that poll has been read just now
		s.polls++
		s.polled, s.dueSpent = now.mono, false
		poll = s.PollInterval
	}
	if due >= poll || s.dueSpent {
		return poll
	}
	// Contenders for whom the same proof is due at once do not all write.
	due += spread(s.LeaderID, s.polls, min(s.TermLength/10, 500*time.Millisecond))
	if due >= poll {
		return poll
	}
	s.dueSpent = true
	return due
}

// afterFailure is the pause after the n-th read in a row that failed.
func (s *schedule) afterFailure(n int) time.Duration {
	base := min(s.PollInterval/4<<min(n, 8), s.PollInterval)
	return base/2 + spread(s.LeaderID, uint64(n), base/2)
}

// lastLook is how long before the end of WaitAtMost a candidate looks a last time: long
// enough for a store to answer.
const lastLook = 250 * time.Millisecond

// untilLook is when to look next, if that is due after d: where only left is left of
// WaitAtMost, a last time shortly before its end; after that look, the end itself.
func untilLook(d, left, request time.Duration) time.Duration {
	if d < left {
		return d
	}
	if early := min(lastLook, request); left > early {
		return left - early
	}
	return left
}

// await is the move of a candidate that has no proof: wait for the next read.
func (c *campaign) await(rec *record, v verdict, now instant) move {
	d := untilLook(c.sched.next(now, v.wait), c.waitLeft(now), c.request())
	if c.hooks.wantsEvents() {
		err := c.lastErr
		if err == nil {
			err = v.held(rec.current)
		}
		c.hooks.tell(now, Event{Kind: EventWaiting, Entry: *rec.current, Wait: d, Err: err})
	}
	return move{kind: moveWait, wait: d, listen: true}
}

// idle waits as m says.
func (c *campaign) idle(ctx context.Context, m *move) {
	if !m.listen {
		pause(ctx, c.Clock, m.wait)
		return
	}
	c.sched.wait(ctx, c.Clock, c.Memory.keeper, m.wait)
}

package core

import (
	"context"
	"slices"

	"github.com/cloudelect/cloudelect/core/entry"
)

// attempt prepares the write that begins our reign, which proof allows.
func (c *campaign) attempt(rec *record, proof Proof) move {
	c.dropExpired()
	if len(c.attempts) == 0 {
		c.base = rec.current
	}
	e := c.candidacy(rec)
	a := c.stamp(e, c.sample(), c.TermLength)
	c.attempts, c.proof = append(c.attempts, a), proof
	c.lookout.start(&c.client)
	return move{kind: moveWrite, write: e, sent: a.sent}
}

// dropExpired gives up attempts whose term has passed: found stored, they would
// be no wins any more, but ended reigns of our own.
func (c *campaign) dropExpired() {
	now := c.sample()
	c.attempts = slices.DeleteFunc(c.attempts, func(a attempt) bool {
		expired := now.elapsed >= a.sent.elapsed+c.TermLength
		if expired {
			c.Memory.end(a.nonce)
		}
		return expired
	})
}

// attempted takes in the answer to an attempt. known tells whether that showed
// what is stored, so that no read is needed.
func (c *campaign) attempted(ctx context.Context, t *turn) (l *Leadership, known bool, err error) {
	outcome, err := c.noteWrite(OpAcquire, t.move.sent, t.move.write, t.token, t.err)
	c.tried, c.lost = err, outcome == OutcomeLost
	current := lostCurrent(err)
	switch {
	case outcome == OutcomeStored:
		return c.win(ctx, t.move.write, c.attempts[len(c.attempts)-1]), true, nil
	case outcome == OutcomeBroken:
		return nil, false, err
	case outcome == OutcomeLost && current != nil && stand(c.attempts, c.base, current) != standingBase:
		return nil, true, nil // ours after all, or another's: the record knows which
	}
	// Unknown, or lost to an entry that has to be read. If that turns out to be
	// the very version that the attempt was built on, whoever said "lost" must not
	// be asked again and again without a pause; if it is another, adopt forgets this.
	c.notBefore = c.sample().mono + max(c.retryPause(c.unknowns), c.minWrite())
	c.unknowns++
	c.unsettled = true
	return nil, false, nil
}

// candidacy is the entry that would begin our reign on top of what is known.
// The caller stamps it.
func (c *campaign) candidacy(rec *record) *entry.RaceEntry {
	e := &entry.RaceEntry{
		LeaderID: c.LeaderID, HostPort: c.HostPort, ConnectionParams: c.ConnectionParams,
		ElectionNumber: rec.nextNumber(), FencingToken: rec.nextToken(),
		Token: rec.current.Token,
	}
	if rec.sight == sightEntry {
		e.Checkpoint = rec.current.Checkpoint
	}
	return e
}

// adopt looks whether what is stored is one of our attempts whose answer was
// lost. If its term has not passed, that is a win, and it counts from its own
// sending. If something else is stored, the attempts are dead.
func (c *campaign) adopt(ctx context.Context) *Leadership {
	if len(c.attempts) == 0 {
		return nil
	}
	rec := c.Memory.known()
	stored := rec.current
	if rec.sight != sightEntry && rec.sight != sightAbsent {
		return nil
	}
	switch stand(c.attempts, c.base, stored) {
	case standingOurs:
		return c.win(ctx, stored, c.attempts[find(c.attempts, stored.Nonce)])
	case standingForeign:
		c.forget()
	}
	return nil
}

// win begins the reign that attempt a has won, or nil if its term has passed:
// then it is an ended reign of our own, to be reclaimed with a new write.
func (c *campaign) win(ctx context.Context, stored *entry.RaceEntry, a attempt) *Leadership {
	others := c.attempts
	c.attempts, c.unsettled, c.unknowns, c.notBefore = nil, false, 0, 0
	l := newLeadership(ctx, c.client, c.proof, stored, a)
	c.lookout.stop()
	for _, o := range others {
		if l == nil || o.nonce != a.nonce {
			c.Memory.end(o.nonce)
		}
	}
	if l != nil && c.serves {
		l.working.Go(func() { c.OnElected(l.ctx, &l.view) })
	}
	return l
}

// forget gives the attempts up: whatever becomes of them, they are no wins.
func (c *campaign) forget() {
	for _, a := range c.attempts {
		c.Memory.end(a.nonce)
	}
	c.attempts, c.unsettled, c.unknowns, c.notBefore = nil, false, 0, 0
	c.lookout.stop()
}

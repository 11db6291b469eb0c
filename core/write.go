package core

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// newNonce is fresh for every attempt to write.
func newNonce() string {
	var b [16]byte
	var text [2 * len(b)]byte
	rand.Read(b[:]) // never fails
	hex.Encode(text[:], b[:])
	return string(text[:])
}

// stamp fills in what every write has in common: the times, as of now, which
// is just before it is sent, and the nonce.
func (c *client) stamp(e *entry.RaceEntry, now instant, term time.Duration) attempt {
	e.Nonce = newNonce()
	e.TermLength = term
	e.SentBy = c.Memory.sentBy(now)
	e.TermExpiry = now.wall.Add(term)
	if byStore := e.SentBy.Add(term); !e.SentBy.IsZero() && byStore.After(e.TermExpiry) {
		e.TermExpiry = byStore
	}
	return attempt{nonce: e.Nonce, sent: now}
}

// lock takes the right to write for this reign, or gives up with ctx or when
// ended is closed (nil: never).
func (l *Leadership) lock(ctx context.Context, ended <-chan struct{}) error {
	for {
		l.mu.Lock()
		if !l.writing {
			l.writing = true
			l.mu.Unlock()
			return nil
		}
		if l.written == nil {
			l.written = make(chan struct{})
		}
		written := l.written
		l.mu.Unlock()
		select {
		case <-written:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ended:
			return context.Cause(l.ctx)
		}
	}
}

func (l *Leadership) unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing = false
	if l.written != nil {
		close(l.written)
		l.written = nil
	}
}

// send writes the next version of this reign, which change has prepared from
// the current one, and settles the answer. The lock is held, and now is just
// before. A nil error means that some write of this reign was confirmed: stored
// is the nonce of that one, and sent that of the one that was sent now.
func (l *Leadership) send(ctx, until context.Context, op Op, now instant, limit, term time.Duration, change func(*entry.RaceEntry)) (sent, stored string, err error) {
	l.mu.Lock()
	e := new(entry.RaceEntry)
	*e = *l.reign.current
	l.mu.Unlock()
	e.ElectionNumber++
	if change != nil {
		change(e)
	}
	a := l.c.stamp(e, now, term)
	a.vacates = op == OpResign
	l.mu.Lock()
	if op != OpResign {
		if err := l.reign.check(a.sent); err != nil { // never send what can no longer be confirmed
			l.mu.Unlock()
			l.end(err)
			return "", "", err
		}
	}
	l.reign.attempts = append(l.reign.attempts, a)
	ended := l.reign.over != nil
	l.mu.Unlock()
	if ended {
		l.c.Memory.end(a.nonce)
	}

	outcome, err := l.c.write(ctx, until, limit, op, e, a.sent)
	switch outcome {
	case OutcomeStored:
		return a.nonce, a.nonce, l.confirmed(a.nonce, e)
	case OutcomeBroken:
		return a.nonce, "", err
	case OutcomeLost:
		if current := lostCurrent(err); current != nil {
			stored, settled := l.settle(current, err)
			return a.nonce, stored, settled
		}
	}
	stored, err = l.readBack(ctx, until, limit, err)
	return a.nonce, stored, err
}

// readBack looks what became of the attempts of this reign after an answer
// that did not say. unknown is what that answer was.
func (l *Leadership) readBack(ctx, until context.Context, limit time.Duration, unknown error) (stored string, err error) {
	current, outcome, err := l.c.read(ctx, until, limit)
	switch outcome {
	case OutcomeRead:
		return l.settle(current, unknown)
	case OutcomeBadEntry:
		return "", l.replaced(err)
	}
	return "", fmt.Errorf("%w (reading back failed as well: %w)", unknown, err)
}

// settle decides by what is stored. unknown is the error of the write, which
// stands if its base is still there.
func (l *Leadership) settle(stored *entry.RaceEntry, unknown error) (string, error) {
	l.mu.Lock()
	where := stand(l.reign.attempts, l.reign.current, stored)
	l.mu.Unlock()
	switch where {
	case standingOurs:
		return stored.Nonce, l.confirmed(stored.Nonce, stored)
	case standingForeign:
		if stored.Absent() {
			return "", l.replaced(errors.New("nothing is stored any more: somebody deleted the entry"))
		}
		return "", l.replaced(fmt.Errorf("stored now: leader %q, fencing token %d, election number %d",
			stored.LeaderID, stored.FencingToken, stored.ElectionNumber))
	}
	if lost := FailedAcquisitionErr(nil); errors.As(unknown, &lost) {
		return "", fmt.Errorf("core: the store said that a write lost, but what it built on is still stored: %v", unknown)
	}
	return "", unknown
}

// confirmed notes that the attempt with this nonce is stored as v.
func (l *Leadership) confirmed(nonce string, v *entry.RaceEntry) error {
	l.mu.Lock()
	now := l.c.sample()
	i := find(l.reign.attempts, nonce)
	if i < 0 { // only under the lock are attempts added or dropped
		l.mu.Unlock()
		return fmt.Errorf("core: an answer for the unknown write %q", nonce)
	}
	wasOver := l.reign.over
	err := l.reign.confirm(now, i, v)
	end, resigned := l.reign.end, l.reign.resigned
	l.mu.Unlock()
	switch {
	case resigned:
		l.c.Memory.end(v.Nonce)
		l.c.hooks.tell(now, Event{Kind: EventResigned, Entry: *v})
		return nil
	case err != nil:
		l.c.Memory.end(v.Nonce)
		if wasOver == nil {
			l.ended(now, err)
		}
		return err
	}
	l.view.show(now, end)
	l.c.hooks.tell(now, Event{Kind: EventRenewed, Entry: *v})
	return nil
}

// replaced ends the reign: it is proved that something else is stored.
func (l *Leadership) replaced(detail error) error {
	l.mu.Lock()
	now := l.c.sample()
	news := l.reign.over == nil
	nonces := l.reign.nonces()
	l.reign.replaced(now)
	why := l.reign.over
	l.mu.Unlock()
	l.c.Memory.end(nonces...)
	if news {
		l.ended(now, why)
	}
	if errors.Is(why, ErrLeadershipLost) {
		return fmt.Errorf("%w: %w", why, detail)
	}
	return why
}

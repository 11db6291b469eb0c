package sim

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// ledger is the store. It remembers what was written, by whom and when it was
// sent, and checks every version that it takes.
type ledger struct {
	w     *world
	inner *memory.Decider
	clock *storeClock

	mu      sync.Mutex
	sent    map[string]sending // by nonce
	current *entry.RaceEntry   // the version last written; nil where none is
	deleted bool               // the entry that was there is gone
	corrupt bool               // what is stored cannot be read
	began   time.Duration      // when the last reign was begun
	token   int64              // the highest
	reigns  map[string]int     // the order of reigns, by the nonce that began them
	under   int                // writes that are being sent
}

// sending is where a write came from.
type sending struct {
	life *life
	at   time.Duration
}

func newLedger(w *world) *ledger {
	l := &ledger{w: w, inner: memory.NewDecider(), sent: map[string]sending{}, reigns: map[string]int{},
		clock: &storeClock{clocks.DefaultClock(), w.plan.Store, w.plan.Seed}}
	l.inner.SetLimit(w.plan.Store.Limit)
	return l
}

// MinWriteInterval makes the ledger a core.WriteLimiter.
func (l *ledger) MinWriteInterval() time.Duration { return l.w.plan.Store.Limit }

// tell lets the next answer have the store's time, or not.
func (l *ledger) tell() {
	if l.clock.tells() {
		l.inner.SetClock(l.clock)
	} else {
		l.inner.SetClock(nil)
	}
}

// ReadCurrent returns what is stored.
func (l *ledger) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell()
	return l.inner.ReadCurrent(ctx)
}

// WriteEntry stores, and checks what was stored.
func (l *ledger) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell()
	tok, err := l.inner.WriteEntry(ctx, e)
	from, known := l.sent[e.Nonce]
	if !known {
		l.w.judge.violated(chainBroken, -1, "version %d has a nonce that nobody has sent", e.ElectionNumber)
		return tok, err
	}
	switch {
	case err == nil:
		l.stored(from, e)
		if l.w.ctx.Err() == nil && trueTime()-from.at > e.TermLength/4 {
			l.w.counts.add("fault write lands after its sender gave up", 1)
		}
	case errors.Is(err, core.ErrLostRace):
		l.lost(from, e)
	}
	return tok, err
}

// stored checks the version that has just been taken against the one before.
// l.mu is held.
func (l *ledger) stored(from sending, e *entry.RaceEntry) {
	last := l.current
	now := e.Clone()
	l.current = &now
	who := from.life.host.number
	l.w.diary.stored(who, from.at, e)
	begins := e.FencingToken != l.token || l.deleted || last == nil
	switch {
	case last == nil && !l.deleted:
		if e.ElectionNumber != 0 {
			l.w.judge.violated(chainBroken, who, "the first version has the number %d", e.ElectionNumber)
		}
	case last == nil: // the chain begins anew, but not the tokens
	case e.ElectionNumber != last.ElectionNumber+1:
		l.w.judge.violated(chainBroken, who, "version %d follows version %d", e.ElectionNumber, last.ElectionNumber)
	case !begins:
		before := l.sent[last.Nonce].life
		if last.Vacant() || last.Held || before != from.life || !e.Vacant() && e.LeaderID != last.LeaderID {
			l.w.judge.violated(tokenFell, who, "the fencing token %d of %q's reign is used again, by %q", e.FencingToken, last.LeaderID, e.LeaderID)
		}
	}
	if begins {
		if e.FencingToken <= l.token {
			l.w.judge.violated(tokenFell, who, "the fencing token %d was followed by %d", l.token, e.FencingToken)
		}
		l.heldLongEnough(who, last)
		l.reigns[e.Nonce], l.began = len(l.reigns), trueTime()
	}
	l.token, l.deleted = max(l.token, e.FencingToken), false
	l.corrupt = false
	for _, h := range l.w.hosts {
		h.rouse()
	}
}

// heldLongEnough checks that nobody wins sooner than the last leader's MinHold
// after its win, if that one has said so. l.mu is held.
func (l *ledger) heldLongEnough(who int, last *entry.RaceEntry) {
	if last == nil || !last.Held {
		return
	}
	by := l.sent[last.Nonce].life
	if by != nil && trueTime()-l.began < by.host.MinHold {
		l.w.judge.violated(tooSoon, who, "a win %v after that of %s, whose MinHold is %v", trueTime()-l.began, by.host.Name, by.host.MinHold)
	}
}

// isOf tells whether what is stored is still of this reign.
func (l *ledger) isOf(by *life, token int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current != nil && !l.corrupt && l.current.FencingToken == token && l.sent[l.current.Nonce].life == by
}

// lost counts wins that were contested: a write that would have begun a reign
// lost to one that has.
func (l *ledger) lost(from sending, e *entry.RaceEntry) {
	if l.current == nil || e.Vacant() || e.FencingToken > l.token+1 {
		return
	}
	winner := l.sent[l.current.Nonce].life
	_, begins := l.reigns[l.current.Nonce]
	if begins && winner != from.life && e.FencingToken == l.current.FencingToken {
		l.w.counts.add("contested win", 1)
		l.w.diary.note(from.life.host.number, lostRace, e.FencingToken, 0, "")
	}
}

// sends notes a write before it is sent.
func (l *ledger) sends(from *life, e *entry.RaceEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.under++
	l.sent[e.Nonce] = sending{from, trueTime()}
}

func (l *ledger) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.under--
}

// sentAt is when the write with this nonce was sent.
func (l *ledger) sentAt(nonce string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent[nonce].at
}

// reign is the place of a reign in the order of all reigns.
func (l *ledger) reign(nonce string) (int, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.reigns[nonce]
	return n, ok
}

// free tells whether nobody leads by what is stored, nor can do so any more, and
// nothing is on its way. l.mu is held.
func (l *ledger) free() bool {
	if l.current == nil || l.under > 0 {
		return false
	}
	return l.current.Vacant() || trueTime() > l.sent[l.current.Nonce].at+l.current.TermLength*6/5
}

package core

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// moveKind is what a candidate does next.
type moveKind int

const (
	moveRead  moveKind = iota // look at the entry
	moveWrite                 // attempt to win
	moveWait                  // wait, then look again
	moveDone                  // end the campaign, with a win or without
)

// move is one decision of a campaign.
type move struct {
	kind moveKind
	// write is the entry that moveWrite sends; sent is just before the request.
	write *entry.RaceEntry
	sent  instant
	// wait is how long moveWait waits; Wake may cut it short if listen is set.
	wait   time.Duration
	listen bool
	// won and err are how moveDone ends the campaign.
	won *Leadership
	err error
}

// leg is a row of turns that one goroutine plays. It ends with its last turn.
type leg struct {
	last    *turn
	playing sync.WaitGroup
}

func (l *leg) begin() *leg {
	l.playing.Add(1)
	return l
}

func (l *leg) end(t *turn) {
	l.last = t
	l.playing.Done()
}

// wait returns the last turn when the leg has ended.
func (l *leg) wait() *turn {
	l.playing.Wait()
	return l.last
}

// turn is one move and the answer that it brought.
type turn struct {
	leg   *leg
	move  move
	entry *entry.RaceEntry  // what a read brought
	token entry.LeaderToken // what a write brought
	err   error

	mu sync.Mutex
	// settled: the answer is in, or the request was given up. What comes after
	// that changes nothing.
	settled bool
}

// request makes the turn's request on this goroutine and tells whether it was
// answered. It is given up when ctx ends or when it takes too long, with an
// unknown outcome, and the error says why: then the leg has ended, and somebody
// else may be playing already.
func (t *turn) request(ctx context.Context, s *settings, limit time.Duration) (answered bool) {
	if ctx.Err() != nil { // it may have ended since the decision
		return t.settle(nil, nil, givenUp(ctx, nil))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := s.Clock.AfterFunc(limit, func() { cancel(&noAnswerError{limit}) })
	defer timer.Stop()
	stop := context.AfterFunc(ctx, func() {
		if t.settle(nil, nil, givenUp(ctx, nil)) {
			t.leg.end(t)
		}
	})
	defer stop()
	defer func() { // runs out of turn only if the decider ends its goroutine (runtime.Goexit)
		if t.settle(nil, nil, errGoexit) {
			t.leg.end(t)
		}
	}()
	if t.move.kind == moveWrite {
		tok, err := s.Decider.WriteEntry(ctx, t.move.write)
		return t.settle(nil, tok, trusted(ctx, err))
	}
	e, err := s.Decider.ReadCurrent(ctx)
	return t.settle(e, nil, trusted(ctx, err))
}

var errGoexit = errors.New("core: the decider ended the goroutine of a request (runtime.Goexit)")

// settle notes the answer. Only the first one counts: it tells whether this was it.
func (t *turn) settle(e *entry.RaceEntry, tok entry.LeaderToken, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.settled {
		return false
	}
	t.settled = true
	t.entry, t.token, t.err = e, tok, err
	return true
}

// deepen grows the goroutine's small stack to what a campaign takes, in one
// step. Step by step it is copied more often; and where thousands begin at once
// the sizes in between leave holes in the memory for stacks that the small
// stacks of those who wait keep open.
//
//go:noinline
func deepen() byte {
	var room [5 << 10]byte
	return room[len(none)]
}

// none keeps the compiler from seeing that the room is not used.
var none string

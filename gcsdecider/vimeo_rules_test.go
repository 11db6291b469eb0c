package gcsdecider

import (
	"context"
	"errors"
	"sync"
	"time"
)

// oldCandidate follows the rules of vimeo/leaderelection, as its source and its
// README state them: it believes its own clock and the term_expiry that it reads.
type oldCandidate struct {
	*line
	form   peerForm
	id     string
	ahead  time.Duration // its clock, of the true time
	term   time.Duration
	skew   time.Duration
	jitter func() time.Duration // up to a tenth of the term

	mu     sync.Mutex
	expiry time.Time // what its worker sees: it leads while its clock has not reached this
	dead   bool
}

func (o *oldCandidate) now() time.Time { return time.Now().Add(o.ahead) }

// leads is what that library tells workers to ask.
func (o *oldCandidate) leads() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.dead && o.now().Before(o.expiry)
}

func (o *oldCandidate) show(expiry time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expiry = expiry
}

// die is a crash: its worker stops at once, and it never resigns.
func (o *oldCandidate) die() {
	o.mu.Lock()
	o.dead = true
	o.mu.Unlock()
	o.crash()
}

func (o *oldCandidate) sleepUntil(ctx context.Context, t time.Time) error {
	return sleepFor(ctx, t.Sub(o.now()))
}

// seenEntry is an entry with the generation that it was read at or written as.
type seenEntry struct {
	peerEntry
	generation int64
}

func (o *oldCandidate) look(ctx context.Context) (seenEntry, error) {
	body, token, err := o.read(ctx)
	if err != nil || token.generation == 0 {
		return seenEntry{}, err
	}
	e, err := o.form.read(body)
	return seenEntry{e, token.generation}, err
}

// follow writes the version after last.
func (o *oldCandidate) follow(ctx context.Context, last seenEntry, expiry time.Time) (seenEntry, error) {
	next := seenEntry{peerEntry: peerEntry{leader: o.id, hosts: []string{o.id + ":80"}, expiry: expiry}}
	if last.generation > 0 {
		next.number = last.number + 1
	}
	body, err := o.form.write(next.peerEntry)
	if err != nil {
		return next, err
	}
	ctx, cancel := context.WithTimeout(ctx, expiry.Sub(o.now())-o.skew)
	defer cancel()
	token, err := o.write(ctx, last.generation, body)
	next.generation = token.generation
	return next, err
}

// acquire campaigns and leads until ctx ends or something fails that this
// library returns from; its program would start it again.
func (o *oldCandidate) acquire(ctx context.Context) error {
	last, err := o.look(ctx)
	for err == nil {
		// An expiry that its clock has passed is taken over at once, without
		// regard to the skew; any other is waited for, and the skew as well.
		begin := last.expiry
		if last.generation == 0 || begin.Before(o.now()) {
			begin = o.now()
		} else if err := o.sleepUntil(ctx, begin.Add(o.jitter()+o.skew)); err != nil {
			return err
		}
		var won seenEntry
		switch won, err = o.follow(ctx, last, begin.Add(o.term)); {
		case err == nil:
			last = o.reign(ctx, won)
		case errors.Is(err, errOutdated) || errors.Is(err, context.DeadlineExceeded):
			if seen, failed := o.look(ctx); failed == nil {
				last = seen
			}
		default:
			return err
		}
		err = o.sleepUntil(ctx, last.expiry.Add(o.jitter()+o.skew))
	}
	return err
}

// reign renews, at once and then twice per term, until a renewal is refused.
// Any other failure it only tries again, for ever.
func (o *oldCandidate) reign(ctx context.Context, mine seenEntry) seenEntry {
	o.show(mine.expiry)
	for {
		next, err := o.follow(ctx, mine, o.now().Add(o.term))
		switch {
		case err == nil:
			mine = next
			o.show(mine.expiry)
		case errors.Is(err, errOutdated):
			o.sleepUntil(ctx, mine.expiry)
			return mine
		case errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
			return mine
		}
		if sleepFor(ctx, mine.expiry.Sub(o.now())/2-o.skew) != nil {
			return mine
		}
	}
}

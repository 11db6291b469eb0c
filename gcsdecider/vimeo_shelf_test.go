package gcsdecider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// shelf is one object with generations, as bytes, on simulated time: what both
// kinds of candidates share.
type shelf struct {
	t     *testing.T
	ahead time.Duration // the store's clock, of the true time
	dated bool          // answers have a Date

	mu         sync.Mutex
	rand       *rand.Rand
	generation int64
	body       []byte
	updated    time.Time // true time
	highest    int64     // fencing token so far
	last       *entry.RaceEntry
	follows    map[string]int // how often who has followed whom
}

var (
	errOutdated = errors.New("412: another generation is current")
	errTooOften = errors.New("429: more than one write per second")
	errNoAnswer = errors.New("the connection was lost")
)

// line is one candidate's way to the shelf.
type line struct {
	*shelf
	mu  sync.Mutex
	cut time.Time // nothing passes before this, in true time
	off bool      // for good: the candidate has crashed
}

func (l *line) cutFor(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = time.Now().Add(d)
}

func (l *line) crash() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
}

func (l *line) open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.off && !time.Now().Before(l.cut)
}

// pass is the way there, or back.
func (l *line) pass(ctx context.Context) error {
	l.shelf.mu.Lock()
	delay := time.Duration(5+l.rand.IntN(200)) * time.Millisecond
	lost := l.rand.IntN(40) == 0
	l.shelf.mu.Unlock()
	for {
		if sleepFor(ctx, delay) != nil {
			return fmt.Errorf("%w: %w", errNoAnswer, ctx.Err())
		}
		switch {
		case lost:
			return errNoAnswer
		case l.open():
			return nil
		}
		delay = 100 * time.Millisecond // a cut line hangs
	}
}

func sleepFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *line) read(ctx context.Context) (body []byte, token Token, err error) {
	if err := l.pass(ctx); err != nil {
		return nil, Token{}, err
	}
	l.shelf.mu.Lock()
	body, token = l.body, l.now()
	l.shelf.mu.Unlock()
	return body, token, l.pass(ctx)
}

func (l *line) write(ctx context.Context, base int64, body []byte) (token Token, err error) {
	if err := l.pass(ctx); err != nil {
		return Token{}, err
	}
	if token, err = l.put(base, body); err != nil {
		return token, err
	}
	return token, l.pass(ctx)
}

// now is the token of the current generation. The lock is held.
func (s *shelf) now() Token {
	t := Token{generation: s.generation}
	if s.dated {
		t.date = time.Now().Add(s.ahead).Truncate(time.Second)
	}
	if s.generation > 0 {
		t.commit = s.updated.Add(s.ahead).Truncate(time.Second)
	}
	return t
}

func (s *shelf) put(base int64, body []byte) (Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch now := time.Now(); {
	case base != s.generation:
		return Token{}, errOutdated
	case s.generation > 0 && now.Sub(s.updated) < time.Second:
		return Token{}, errTooOften
	default:
		s.generation, s.body, s.updated = s.generation+1, body, now
	}
	token := s.now()
	s.checkChain(&token)
	return token, nil
}

// checkChain looks at every version: its number is one higher than the one before,
// and a reign of ours has a higher token than any before it.
func (s *shelf) checkChain(token *Token) {
	e, err := decode(s.body, token)
	if err != nil {
		s.t.Errorf("generation %d cannot be read: %v", token.generation, err)
		return
	}
	last := s.last
	s.last = e
	s.follows[kind(e)+" after "+kind(last)]++
	if last != nil && e.ElectionNumber != last.ElectionNumber+1 {
		s.t.Errorf("number %d follows %d", e.ElectionNumber, last.ElectionNumber)
	}
	if e.Foreign() != "" {
		return
	}
	goesOn := last != nil && last.Foreign() == "" && last.FencingToken == e.FencingToken && !last.Vacant()
	if !goesOn && e.FencingToken <= s.highest {
		s.t.Errorf("a reign with token %d begins after one with %d", e.FencingToken, s.highest)
	}
	s.highest = max(s.highest, e.FencingToken)
}

func kind(e *entry.RaceEntry) string {
	switch {
	case e == nil:
		return "nothing"
	case e.Foreign() != "":
		return "old"
	case e.Vacant():
		return "vacant"
	}
	return "ours"
}

// shelfDecider is a Decider on the shelf: the codec is the real one.
type shelfDecider struct {
	*line
	vimeo bool
}

func (d *shelfDecider) MinWriteInterval() time.Duration { return time.Second }

func (d *shelfDecider) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	body, token, err := d.read(ctx)
	switch {
	case err != nil:
		return nil, err
	case token.generation == 0:
		return &entry.RaceEntry{ElectionNumber: entry.NoElections, Token: &token}, nil
	}
	return decode(body, &token)
}

func (d *shelfDecider) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	body, err := (&Decider{opts: Options{VimeoForm: d.vimeo}}).encode(e)
	if err != nil {
		return nil, err
	}
	token, err := d.write(ctx, e.Token.(*Token).generation, body)
	switch {
	case errors.Is(err, errOutdated):
		return nil, &core.LostRaceError{Err: err}
	case err != nil:
		return nil, err
	}
	return &token, nil
}

package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// basics does one thing after the other, through changing handles. A check that
// fails ends it only if the next ones would have nothing to build on.
func (s *scratch) basics(ctx context.Context) {
	absent, ok := s.absent(ctx)
	if !ok {
		return
	}
	// A token must be good for whoever has it: look's, used by a.
	first, ok := s.succeed(ctx, CheckCreate, s.a, scratchEntry(absent))
	if !ok || !s.shows(ctx, first) {
		return
	}
	s.refuse(ctx, CheckCreateTwice, s.b, scratchEntry(absent), first)
	now, err := s.read(ctx, s.b)
	if err != nil {
		s.list.fail(CheckReadBack, err)
		return
	}
	second, ok := s.succeed(ctx, CheckOverwrite, s.a, scratchEntry(now))
	if !ok || !s.shows(ctx, second) {
		return
	}
	s.list.pass(CheckReadBack, "%d handles", 3)
	s.refuse(ctx, CheckOldToken, s.b, scratchEntry(first), second)
	if now, err = s.read(ctx, s.look); err != nil {
		s.list.fail(CheckReadBack, err)
		return
	}
	// Equal in all but the nonce, which is how two writes of one leader differ at least.
	equal := scratchEntry(now)
	equal.ElectionNumber = now.number
	third, ok := s.succeed(ctx, CheckEqualContent, s.b, equal)
	if ok {
		s.refuse(ctx, CheckEqualContent, s.a, scratchEntry(now), third)
	}
}

// absent looks at a name that nobody has used, through every handle: what one of
// them remembers of it shows later.
func (s *scratch) absent(ctx context.Context) (version, bool) {
	var v version
	for _, d := range []core.RaceDecider{s.a, s.b, s.look} {
		var err error
		if v, err = s.read(ctx, d); err != nil {
			s.list.fail(CheckRead, err)
			return v, false
		}
		if v.nonce != "" {
			s.list.pass(CheckRead, "")
			s.list.fail(CheckReadBack, fmt.Errorf("%s is new, and a read shows %s", s.Name, v))
			return v, false
		}
	}
	s.list.pass(CheckRead, "what is missing reads as missing")
	return v, true
}

// shows compares what every handle reads with what was stored last.
func (s *scratch) shows(ctx context.Context, want version) bool {
	for _, d := range []core.RaceDecider{s.b, s.look, s.a} {
		got, err := s.read(ctx, d)
		if err == nil && (got.nonce != want.nonce || got.number != want.number) {
			err = fmt.Errorf("%s was said to be stored, and a read that followed shows %s", want, got)
			if got.number == want.number {
				err = fmt.Errorf("%s was said to be stored, and a read that followed shows another one of that number", want)
			}
		}
		if err != nil {
			s.list.fail(CheckReadBack, err)
			return false
		}
	}
	return true
}

// succeed writes until one write was said to be stored: e, or a later one with a
// nonce of its own. Where an answer is unclear a read tells what became of it.
func (s *scratch) succeed(ctx context.Context, check string, d core.RaceDecider, e *entry.RaceEntry) (version, bool) {
	base := version{token: e.Token, number: e.ElectionNumber - 1}
	sent := map[string]bool{} // whose outcome is unclear
	for p := s.patience(); ; {
		o, v, err := s.paced(ctx, d, e)
		switch o {
		case stored:
			s.list.pass(check, "")
			return v, true
		case broken:
			s.list.fail(check, err)
			return v, false
		}
		sent[e.Nonce] = true
		now, readErr := s.read(ctx, s.look)
		mine := readErr == nil && sent[now.nonce]
		switch {
		case readErr != nil:
			s.list.fail(check, fmt.Errorf("%w (the write before it: %v)", readErr, err))
			return v, false
		case mine && check == CheckCreate: // cannot be had again; overwriting must be clear
			s.list.pass(check, "")
			return now, true
		case mine:
			base = now
		case o == lost:
			s.list.fail(check, fmt.Errorf("refused, although nobody else has written: %w", err))
			return v, false
		}
		if !p.pause(ctx) {
			s.list.fail(check, &unclearError{err})
			return v, false
		}
		e = scratchEntry(base)
	}
}

// refuse writes what must not be stored over current, and looks that nothing has
// changed.
func (s *scratch) refuse(ctx context.Context, check string, d core.RaceDecider, e *entry.RaceEntry, current version) {
	before, err := s.bytes(ctx)
	if err != nil {
		s.list.fail(check, err)
		return
	}
	for p := s.patience(); ; {
		o, _, err := s.paced(ctx, d, e)
		if o == stored {
			s.list.fail(check, errors.New("it was accepted: the store ignores the condition"))
			return
		}
		if o == broken {
			s.list.fail(check, err)
			return
		}
		now, readErr := s.read(ctx, s.look)
		switch {
		case readErr != nil:
			s.list.fail(check, readErr)
			return
		case now.nonce == e.Nonce && o == lost:
			s.list.fail(check, errors.New("it was refused in words, and stored"))
			return
		case now.nonce == e.Nonce:
			s.list.fail(check, fmt.Errorf("it was stored: the store ignores the condition (the answer: %v)", err))
			return
		case now.nonce != current.nonce:
			s.list.fail(check, fmt.Errorf("%s was stored, and after the refusal a read shows %s", current, now))
			return
		case o == lost:
			after, err := s.bytes(ctx)
			if err == nil && !bytes.Equal(before, after) {
				err = errors.New("the stored bytes have changed all the same")
			}
			if err != nil {
				s.list.fail(check, err)
				return
			}
			s.list.pass(check, "")
			return
		}
		if !p.pause(ctx) {
			s.list.fail(check, &unclearError{err})
			return
		}
		e = scratchEntry(version{token: e.Token, number: e.ElectionNumber - 1})
	}
}

// bytes are the stored ones, or nil where the decider cannot tell.
func (s *scratch) bytes(ctx context.Context) ([]byte, error) {
	if s.Raw == nil {
		return nil, nil
	}
	for p := s.patience(); ; {
		reqCtx, cancel := s.request(ctx)
		b, err := s.Raw(reqCtx)
		cancel()
		if err == nil || errors.Is(err, core.ErrBroken) {
			return b, err
		}
		s.meter.again()
		if !p.pause(ctx) {
			return nil, &unclearError{err}
		}
	}
}

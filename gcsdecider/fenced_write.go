package gcsdecider

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// ErrStaleToken is what every StaleTokenError is (errors.Is).
var ErrStaleToken = errors.New("gcsdecider: stale fencing token")

// StaleTokenError says that a write was refused, because a leader with a higher
// fencing token has written before: the reign it was made in is over. It Is
// ErrStaleToken. The object is as that leader, or one after it, left it.
type StaleTokenError struct {
	Object  string // its address
	Token   int64  // of the write that was refused
	Highest int64  // of the object
}

// Error names the object and both tokens.
func (e *StaleTokenError) Error() string {
	return fmt.Sprintf("%v: %s: a leader with token %d has written since, the write with token %d is refused: this reign is over, stop its work",
		ErrStaleToken, e.Object, e.Highest, e.Token)
}

// Is makes every StaleTokenError an ErrStaleToken.
func (*StaleTokenError) Is(target error) bool { return target == ErrStaleToken }

const (
	fencedAttempts = 10 // of one write to become the current version
	firstPause     = 50 * time.Millisecond
	lastPause      = 2 * time.Second // the store wants a second between two writes
)

// Write makes data the content of the object, unless a leader with a higher fencing
// token has written it before: then the error is a *StaleTokenError and the object is
// left as it was. token is the reign's (core.Leadership.FencingToken); it is a number
// and not the Leadership, so that the process that writes need not be the one that
// leads. A reign may write any number of times, once per second.
//
// Answers that are lost are read back, so a nil error means stored, and stays true:
// only a reign of the same or a higher token can have replaced it since. An error
// that Is core.ErrBroken means not stored; any other that is no StaleTokenError means
// that the data may have been stored, or may be yet, unless such a reign writes first.
// Writing again is safe.
//
// Writes of one reign that run at the same time end in one order or another.
func (f *FencedObject) Write(ctx context.Context, token int64, data []byte) error {
	switch {
	case f.invalid != nil:
		return f.invalid
	case token < 0:
		return f.d.misuse("write", fmt.Errorf("fencing token %d is negative; pass the Leadership's", token))
	case int64(len(data)) > f.opts.MaxSize:
		return f.d.misuse("write", fmt.Errorf("the data has %d bytes, more than %d; raise FencedOptions.MaxSize", len(data), f.opts.MaxSize))
	}
	base, err := f.look(ctx)
	for p := (pause{}); err == nil; {
		switch {
		case base.foreign && !f.opts.Adopt:
			return f.foreign()
		case base.token > token:
			return &StaleTokenError{Object: f.String(), Token: token, Highest: base.token}
		}
		var done bool
		if done, base, err = f.replace(ctx, base, token, data, &p); done {
			return nil
		}
	}
	return err
}

// replace tries to put data in the place of base until the outcome is known: done,
// or the state that is there now. An error is Write's.
func (f *FencedObject) replace(ctx context.Context, base fencedState, token int64, data []byte, p *pause) (done bool, now fencedState, err error) {
	nonce := rand.Text()
	doubt := false // it may be stored yet
	for {
		err := f.put(ctx, base, token, nonce, data)
		if err == nil {
			return true, fencedState{}, nil
		}
		if errors.Is(err, core.ErrBroken) && !doubt {
			return false, fencedState{}, err
		}
		var refused core.FailedAcquisitionErr
		doubt = doubt || !errors.As(err, &refused)
		now, lookErr := f.look(ctx)
		switch {
		case lookErr != nil:
			err = errors.Join(err, lookErr) // sending the same once more does no harm
		case now.nonce == nonce:
			return true, fencedState{}, nil
		case now.replaced == nonce: // stored, and replaced by now
			return true, fencedState{}, nil
		case now.generation != base.generation:
			// The base is gone for good: no generation comes twice.
			if now.token > token || p.wait(ctx) {
				return false, now, nil
			}
			return false, fencedState{}, f.unsettled(ctx, err)
		}
		if errors.Is(lookErr, core.ErrBroken) || !p.wait(ctx) {
			return false, fencedState{}, f.unsettled(ctx, err)
		}
	}
}

// unsettled is about a write that may have been stored, or may be yet. Of what its
// requests met it Is nothing that would say more than that: a lost race, or a
// denial after an answer that was lost.
func (f *FencedObject) unsettled(ctx context.Context, err error) error {
	var refused core.FailedAcquisitionErr
	if errors.As(err, &refused) || errors.Is(err, core.ErrBroken) {
		err = errors.New(err.Error())
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w (%v): %w", ctx.Err(), context.Cause(ctx), err)
	}
	return &storeError{where: f.String(), what: "write: it is not known whether the data was stored", err: err, todo: "write again, or read what is stored"}
}

// pause is the time between the attempts of one write.
type pause struct{ count int }

// wait returns false when there have been attempts enough, or ctx has ended.
func (p *pause) wait(ctx context.Context) bool {
	if p.count++; p.count >= fencedAttempts {
		return false
	}
	d := min(firstPause<<(p.count-1), lastPause)
	timer := time.NewTimer(d/2 + mathrand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

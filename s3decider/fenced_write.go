package s3decider

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
var ErrStaleToken = errors.New("s3decider: stale fencing token")

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
	swaps      = 8 // attempts of one write to become the current version
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Write makes data the content of the object, unless a leader with a higher fencing
// token has written it before: then the error is a *StaleTokenError and the object is
// left as it was. token is the reign's (core.Leadership.FencingToken); it is a number
// and not the Leadership, so that the process that writes need not be the one that
// leads. A reign may write any number of times.
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
		return f.object.misuse("write", fmt.Errorf("fencing token %d is negative; pass the Leadership's", token))
	case int64(len(data)) > f.opts.MaxSize:
		return f.object.misuse("write", fmt.Errorf("the data has %d bytes, more than %d; raise FencedOptions.MaxSize", len(data), f.opts.MaxSize))
	}
	base, err := f.pointer(ctx)
	for p := (pause{}); err == nil; {
		if base.Token > token {
			return &StaleTokenError{Object: f.String(), Token: token, Highest: base.Token}
		}
		// Everything is fresh for every base: whoever replaced ours may have
		// deleted its data by now.
		next := pointer{Format: pointerFormat, Token: token, Nonce: rand.Text(), Data: f.dataKey(), Replaced: base.Data}
		if err = f.upload(ctx, next.Data, data); err != nil {
			f.erase(ctx, next.Data)
			return f.failed("store the data", err)
		}
		var done bool
		if done, base, err = f.replace(ctx, base, next, &p); done {
			return nil
		}
	}
	return err
}

// replace tries to put next in the place of base until the outcome is known: done,
// or the pointer that is there now. An error is Write's.
func (f *FencedObject) replace(ctx context.Context, base, next pointer, p *pause) (done bool, now pointer, err error) {
	doubt := false // next may be stored yet
	for {
		err := f.swap(ctx, base, next)
		if err == nil {
			// The second time for the one before: its writer may not have got so far.
			f.erase(ctx, base.Data, base.Replaced)
			return true, pointer{}, nil
		}
		if errors.Is(err, core.ErrBroken) && !doubt {
			f.erase(ctx, next.Data)
			return false, pointer{}, err
		}
		var refused core.FailedAcquisitionErr
		doubt = doubt || !errors.As(err, &refused)
		now, readErr := f.pointer(ctx)
		switch {
		case readErr != nil:
			err = errors.Join(err, readErr) // sending the same once more does no harm
		case now.Nonce == next.Nonce:
			f.erase(ctx, base.Data, base.Replaced)
			return true, pointer{}, nil
		case now.Replaced == next.Data: // stored, and replaced by now
			return true, pointer{}, nil
		case now.Nonce != base.Nonce:
			// The base is gone for good, since no two pointers are equal: next
			// cannot be stored any more.
			f.erase(ctx, next.Data)
			if now.Token > next.Token || p.wait(ctx) {
				return false, now, nil
			}
			return false, pointer{}, f.failed(unsettled, err, ended(ctx))
		}
		if errors.Is(readErr, core.ErrBroken) || !p.wait(ctx) {
			return false, pointer{}, f.failed(unsettled, err, ended(ctx))
		}
	}
}

const unsettled = "it is not known whether the data was stored"

// failed is about a write that may have been stored, or may be yet. Of what its
// requests met it Is nothing that would say more than that: a lost race, or a
// denial after an answer that was lost.
func (f *FencedObject) failed(what string, met ...error) error {
	for i, err := range met {
		var refused core.FailedAcquisitionErr
		if errors.As(err, &refused) || what == unsettled && errors.Is(err, core.ErrBroken) {
			met[i] = errors.New(err.Error())
		}
	}
	return &storeError{where: f.object, what: "write: " + what, err: errors.Join(met...), todo: "write again, or read what is stored"}
}

// pause is the time between the attempts of one write.
type pause struct{ count int }

// wait returns false when there have been attempts enough, or ctx has ended.
func (p *pause) wait(ctx context.Context) bool {
	if p.count++; p.count >= swaps {
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

package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
)

// Target is the store that is probed, as its decider opens it.
type Target struct {
	// Scratch opens a scratch record beside the election. suffix is made of letters,
	// digits and dashes, at most 40, and never the same twice: append it to the
	// election's own name, or to another one that is nobody's. Scratch sends nothing.
	Scratch func(suffix string) Record
	// MinWriteInterval is the time to leave between two writes to one record; 0: none.
	MinWriteInterval time.Duration
}

// Record is one scratch record.
type Record struct {
	// Name is its address, for people.
	Name string
	// Open returns a handle of its own on the record, so that what one handle
	// remembers shows in another. It must not be one with ProbeFirst.
	Open func() core.RaceDecider
	// Raw returns the bytes that are stored; nil where the decider has no way to
	// tell. A refused write must leave them as they are.
	Raw func(ctx context.Context) ([]byte, error)
	// Clean deletes the record; that there is none is fine. An error that Is
	// core.ErrBroken is final.
	Clean func(ctx context.Context) error
}

// Options are what may be chosen about a probe. Nil, or the zero value, is right.
type Options struct {
	// Clock is where time comes from; nil: the system's.
	Clock clocks.Clock
	// Patience is how long a request is repeated whose answers stay unclear; 0: 10 s.
	Patience time.Duration
	// Timeout bounds the whole probe, without the cleaning up; 0: 40 s.
	Timeout time.Duration
	// RequestTimeout bounds one request; 0: 5 s.
	RequestTimeout time.Duration
	// RaceTime is how long pairs of writers are raced, if the store is fast
	// enough for more than the fewest rounds; 0: 3 s.
	RaceTime time.Duration
}

func (o *Options) orDefault() Options {
	var set Options
	if o != nil {
		set = *o
	}
	if set.Clock == nil {
		set.Clock = clocks.DefaultClock()
	}
	for d, def := range map[*time.Duration]time.Duration{
		&set.Patience: 10 * time.Second, &set.Timeout: 40 * time.Second,
		&set.RequestTimeout: 5 * time.Second, &set.RaceTime: 3 * time.Second,
	} {
		if *d <= 0 {
			*d = def
		}
	}
	return set
}

func (t Target) validate() error {
	switch {
	case t.Scratch == nil:
		return fmt.Errorf("probe: %w: the target has no Scratch", core.ErrInvalidConfig)
	case t.MinWriteInterval < 0:
		return fmt.Errorf("probe: %w: MinWriteInterval %v is negative", core.ErrInvalidConfig, t.MinWriteInterval)
	}
	return nil
}

func (r Record) validate() error {
	if r.Open == nil || r.Clean == nil {
		return fmt.Errorf("probe: %w: a scratch record needs Open and Clean", core.ErrInvalidConfig)
	}
	return nil
}

// errTimeout ends a probe that takes too long: what it has found out until then counts.
var errTimeout = errors.New("the time for the probe is over")

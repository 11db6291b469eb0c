package legrpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// opener is the store of an election that is opened by the first read, and by the
// next one if that failed: so a store that cannot be opened is one that cannot
// be read, and is asked as seldom.
type opener struct {
	ctx    context.Context // of the resolver: a store may keep what Open is given
	name   string
	open   func(ctx context.Context, name string) (core.RaceDecider, error)
	begins func()        // is told of each read
	turn   chan struct{} // held by who opens: an Open that hangs keeps the others waiting, not piling up
	opened core.RaceDecider
}

func (o *opener) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	o.begins()
	d, err := o.store(ctx)
	if err != nil {
		return nil, err
	}
	return d.ReadCurrent(ctx)
}

func (o *opener) store(ctx context.Context) (core.RaceDecider, error) {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("its store is still being opened: %w", ctx.Err())
	}
	if o.opened != nil {
		return o.opened, nil
	}
	d, err := o.open(o.ctx, o.name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its store cannot be opened: %w", err)
	case null.Is(d):
		return nil, fmt.Errorf("%w: Options.Open returned neither a store nor an error", core.ErrInvalidConfig)
	}
	o.opened = d
	return d, nil
}

// WriteEntry is what a reader never does.
func (*opener) WriteEntry(context.Context, *entry.RaceEntry) (entry.LeaderToken, error) {
	return nil, errors.New("legrpc: a resolver does not write")
}

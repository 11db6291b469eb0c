package cliutil

import (
	"context"
	"errors"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// Open opens what --store names. Its errors have their exit codes.
func (e *Env) Open(ctx context.Context, url string) (*stores.Store, error) {
	if url == "" {
		return nil, Usage("--store is missing: say where the election is kept, %s", stores.Usage)
	}
	s, err := e.Stores.Open(ctx, url)
	switch {
	case errors.Is(err, stores.ErrURL):
		return nil, Usage("--store: %w", err)
	case err != nil:
		return nil, Exit(ExitBroken, "--store: %w", err)
	}
	return s, nil
}

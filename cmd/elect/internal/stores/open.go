// Package stores turns the URL of a store, as --store takes it, into a decider.
package stores

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// Opener opens stores, and owns those that live in this process: mem://NAME is
// the same election for everything that one Opener has opened. The zero Opener
// is ready to use, also concurrently.
type Opener struct {
	mu     sync.Mutex
	memory map[string]*memory.Decider
}

// Store is one election in one store.
type Store struct {
	// URL is the canonical form of what was opened.
	URL string
	// Decider is the election.
	Decider core.RaceDecider

	close func() error
}

// Open returns the election at rawURL. It sends nothing: a bucket that is
// missing is found out by the first request. An error Is ErrURL if rawURL has to
// be changed; any other one means that no client could be made, for the lack of
// credentials most likely. The caller closes the Store.
func (o *Opener) Open(ctx context.Context, rawURL string) (*Store, error) {
	loc, err := Parse(rawURL)
	if err != nil {
		return nil, err
	}
	if loc.Scheme == SchemeMemory {
		return &Store{URL: loc.String(), Decider: o.Memory(loc.Name).Handle()}, nil
	}
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: no client for Cloud Storage: %w"+
			" (log in with \"gcloud auth application-default login\", or set STORAGE_EMULATOR_HOST for an emulator)", loc, err)
	}
	return &Store{
		URL:     loc.String(),
		Decider: gcsdecider.NewDecider(client, loc.Bucket, loc.Name, nil),
		close:   client.Close,
	}, nil
}

// Memory returns the decider behind mem://name, so that a test can play the rest
// of the world.
func (o *Opener) Memory(name string) *memory.Decider {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.memory == nil {
		o.memory = make(map[string]*memory.Decider)
	}
	d := o.memory[name]
	if d == nil {
		d = memory.NewDecider()
		o.memory[name] = d
	}
	return d
}

// ErrNoVersions: the store has no names for versions that a person could type.
var ErrNoVersions = errors.New("this store's versions have no names")

// TokenFor returns the token of a version that a person has copied from a
// message, where the store's decider has such names: else the error Is
// ErrNoVersions. An error that Is core.ErrInvalidConfig means that version is
// not such a name.
func (s *Store) TokenFor(version string) (entry.LeaderToken, error) {
	d, ok := s.Decider.(interface {
		TokenFor(version string) (entry.LeaderToken, error)
	})
	if !ok {
		return nil, fmt.Errorf("%s: %w", s.URL, ErrNoVersions)
	}
	return d.TokenFor(version)
}

// Close lets go of the client. The Decider must not be used after it.
func (s *Store) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Package stores turns the URL of a store, as --store takes it, into a decider.
package stores

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	// Location is the URL in parts. Its Region is the one that the client uses,
	// wherever it came from.
	Location Location
	// Decider is the election.
	Decider core.RaceDecider

	close   func() error
	prepare func(context.Context) error
}

// Open returns the election at rawURL. It asks the store for nothing: a bucket or
// a table that is missing is found out by the first request. An error Is ErrURL if
// rawURL has to be changed; any other one means that no client could be made, for
// the lack of credentials most likely. The caller closes the Store.
func (o *Opener) Open(ctx context.Context, rawURL string) (*Store, error) {
	loc, err := Parse(rawURL)
	if err != nil {
		return nil, err
	}
	var s *Store
	switch loc.Scheme {
	case SchemeMemory:
		s = &Store{Location: loc, Decider: o.Memory(loc.Name).Handle()}
	case SchemeS3:
		s, err = openS3(ctx, loc)
	case SchemeDynamoDB:
		s, err = openDynamoDB(ctx, loc)
	default:
		s, err = openGCS(ctx, loc)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", loc, err)
	}
	s.URL = loc.String()
	return s, nil
}

func openGCS(ctx context.Context, loc Location) (*Store, error) {
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		return nil, fmt.Errorf("no client for Cloud Storage: %w"+
			" (log in with \"gcloud auth application-default login\", or set STORAGE_EMULATOR_HOST for an emulator)", err)
	}
	return &Store{
		Location: loc,
		Decider:  gcsdecider.NewDecider(client, loc.Bucket, loc.Name, nil),
		close:    client.Close,
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

// ErrNoVersions: no token can be made of this version's name; it can only be
// compared with the name of what is stored.
var ErrNoVersions = errors.New("this version's name is not enough to overwrite it")

// TokenFor returns the token of a version that a person has copied from a
// message: a generation of gs, an ETag of s3, "nonce:..." of dynamodb. Where the store's
// decider has no such names the error Is ErrNoVersions; so it is for DynamoDB's items
// that are no entry. An error that Is core.ErrInvalidConfig means that version is
// no name of a version.
func (s *Store) TokenFor(version string) (entry.LeaderToken, error) {
	d, ok := s.Decider.(interface {
		TokenFor(version string) (entry.LeaderToken, error)
	})
	// "item:" and a digest names what the item contains, which cannot be told
	// from the digest.
	if !ok || s.Location.Scheme == SchemeDynamoDB && strings.HasPrefix(version, "item:") {
		return nil, fmt.Errorf("%s: %w", s.URL, ErrNoVersions)
	}
	return d.TokenFor(version)
}

// ErrNothingToPrepare: elect creates nothing in this kind of store.
var ErrNothingToPrepare = errors.New("nothing to create in this kind of store")

// Prepare creates what elections need in the store and elect can create: the
// table, of dynamodb. It is fine if it exists. Buckets are their owner's to create, and
// for all other stores the error Is ErrNothingToPrepare.
func (s *Store) Prepare(ctx context.Context) error {
	if s.prepare == nil {
		return ErrNothingToPrepare
	}
	return s.prepare(ctx)
}

// Close lets go of the client. The Decider must not be used after it.
func (s *Store) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Package memory holds an election's entry in the memory of this process: a
// real decider with nothing behind it, for tests and demonstrations.
//
// A test gives one Decider, or several handles on it (Decider.Handle), to its
// candidates and then plays the rest of the world: somebody else leads
// (Lead), the store fails (FailNext) or swallows an answer (LoseNext), the
// entry vanishes (Delete) or is overwritten with rubbish (PlantRaw). It behaves
// like the stores do: linearizable, one version per write, one clock on every
// answer (SetClock). It outlives nothing: what it holds is gone with the process.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Decider is a core.RaceDecider that keeps its entry in memory. It is safe for
// concurrent use. Get one from NewDecider.
type Decider struct {
	rec *record

	// What goes wrong next, for this handle alone. Under rec.mu.
	failures    int
	failure     error
	losses      int
	omitCurrent bool
}

// record is what all handles share: the stored entry and the store's clock.
type record struct {
	mu       sync.Mutex
	clock    clocks.Clock // nil: the store tells no time
	version  uint64       // of the last write; never falls, not even by a deletion
	present  bool
	current  entry.RaceEntry
	commit   time.Time
	planted  *planted      // by PlantRaw or Plant; nil after any other write
	limit    time.Duration // shortest time between two writes; 0: none
	accepted time.Time     // when WriteEntry last stored something, for limit
	reads    int
	writes   int
}

// planted is what a test has put there.
type planted struct {
	bad error  // why it cannot be believed; nil: it can
	raw []byte // the bytes, if it was bytes
}

// bad is why what is stored cannot be believed; nil: it can.
func (r *record) bad() error {
	if r.planted == nil {
		return nil
	}
	return r.planted.bad
}

// NewDecider returns a decider with nothing stored.
func NewDecider() *Decider { return &Decider{rec: &record{}} }

// Handle returns a second decider on the same entry, as another process would
// hold it: it shares what is stored, the clock, the limit and the counters, but
// not what FailNext, LoseNext and OmitCurrent have ordered.
func (d *Decider) Handle() *Decider { return &Decider{rec: d.rec} }

// errTooSoon is what a write gets that comes sooner than SetLimit allows.
var errTooSoon = errors.New("memory: 429 too many requests: the last write was too recent")

// WriteEntry stores a copy of e if the version that e.Token names is still the
// current one. A lost race is a *core.LostRaceError with Current set. A context
// that has already ended, and an entry or token that is not valid, store
// nothing and are neither lost nor broken.
func (d *Decider) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	r := d.rec
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes++
	if err := d.fault(ctx); err != nil {
		return nil, err
	}
	if e == nil {
		return nil, errors.New("memory: no entry to write")
	}
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("memory: refusing to write: %w", err)
	}
	base, ok := e.Token.(*token)
	if !ok || base == nil || base.rec != r {
		return nil, fmt.Errorf("memory: the token (%T) is not one of this decider's: write with the token of what was read", e.Token)
	}
	if r.tooSoon() {
		return nil, errTooSoon
	}
	if !r.matches(base) {
		return nil, d.lost()
	}
	r.store(e)
	r.accepted = r.commit
	if d.losses > 0 {
		d.losses--
		return nil, errAnswerLost
	}
	return r.token(), nil
}

// ReadCurrent returns a copy of what is stored.
func (d *Decider) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	r := d.rec
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	if err := d.fault(ctx); err != nil {
		return nil, err
	}
	if bad := r.bad(); bad != nil {
		return &entry.RaceEntry{Token: r.token()}, fmt.Errorf("memory: %w", bad)
	}
	return r.read(), nil
}

// fault is what keeps a request from reaching the record, if anything does.
// The context's cause is text only: whatever it is, it is no answer of the store.
func (d *Decider) fault(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memory: not sent: %w (%v)", err, context.Cause(ctx))
	}
	if d.failures > 0 {
		d.failures--
		return d.failure
	}
	return nil
}

// lost is the proof that another version is current. What cannot be decoded is
// left for the caller to read.
func (d *Decider) lost() error {
	lost := &core.LostRaceError{}
	if !d.omitCurrent && d.rec.bad() == nil {
		lost.Current = d.rec.read()
	}
	return lost
}

func (r *record) matches(t *token) bool {
	if !t.present || !r.present {
		return t.present == r.present
	}
	return t.version == r.version
}

func (r *record) tooSoon() bool {
	return r.limit > 0 && r.clock != nil && !r.accepted.IsZero() && r.clock.Now().Sub(r.accepted) < r.limit
}

// store makes a copy of e the current version. It copies field by field into
// place: a benchmark of core is one of this, too.
func (r *record) store(e *entry.RaceEntry) {
	r.current = *e
	r.current.HostPort = slices.Clone(e.HostPort)
	r.current.ConnectionParams = bytes.Clone(e.ConnectionParams)
	r.current.Checkpoint = bytes.Clone(e.Checkpoint)
	r.current.Token = nil
	r.version++
	r.present, r.planted = true, nil
	r.commit = r.now()
}

// read returns a copy of what is stored, for a caller who may change it.
func (r *record) read() *entry.RaceEntry {
	if !r.present {
		return &entry.RaceEntry{ElectionNumber: entry.NoElections, Token: r.token()}
	}
	e := r.current.Clone()
	e.Token = r.token()
	return &e
}

func (r *record) now() time.Time {
	if r.clock == nil {
		return time.Time{}
	}
	return r.clock.Now()
}

package core

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// twin is the store of a member's election, and looks in everything that it
// answers for another running process with the member's ID.
//
// That the ID is in an entry which this call has not written proves nothing: an
// earlier incarnation that has crashed may have left it. Nor does one renewal:
// a crashed process may have sent it before, and the network delivered it late.
// Two do. A write names the version that it replaces, so the second renewal was
// sent by somebody who knew the first to be stored; that happened after this call had
// read the version before both, so whoever sent it was running then. Every
// write adds one to the election number, so two renewals show even if no read
// fell between them. An earlier incarnation in the same process is no different.
//
// It passes on what an election asks of a store: there, core asks for
// WriteLimiter only.
type twin struct {
	id      string
	decider RaceDecider
	end     context.CancelCauseFunc

	mu  sync.Mutex // a leaf: not held over I/O
	own []string   // nonces of this call, the newest last
	// first and last are the versions with the lowest and the highest election number
	// that were seen of the latest reign that has our ID and is not ours.
	first, last *entry.RaceEntry
}

// maxOwn bounds the nonces that are kept. Only those of writes that may yet turn out to
// be stored matter: a term has fewer attempts than that.
const maxOwn = 64

func (t *twin) watch(id string, d RaceDecider, end context.CancelCauseFunc) {
	t.id, t.decider, t.end = id, d, end
}

// String names the object, if its decider does.
func (t *twin) String() string {
	if s, ok := t.decider.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("of type %T", t.decider)
}

func (t *twin) MinWriteInterval() time.Duration { return writeInterval(t.decider) }

func (t *twin) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	t.mu.Lock()
	t.own = append(t.own, e.Nonce)
	if extra := len(t.own) - maxOwn; extra > 0 {
		t.own = slices.Delete(t.own, 0, extra)
	}
	t.mu.Unlock()
	tok, err := t.decider.WriteEntry(ctx, e)
	if current := lostCurrent(err); current != nil {
		t.look(current)
	}
	return tok, err
}

func (t *twin) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	e, err := t.decider.ReadCurrent(ctx)
	if readOutcome(e, err) == OutcomeRead {
		t.look(e)
	}
	return e, err
}

// look takes in a version that is or was stored: answers may come late.
func (t *twin) look(e *entry.RaceEntry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.LeaderID != t.id || e.Held || slices.Contains(t.own, e.Nonce):
		return
	case e.Nonce == "": // of another library's form: it may be ours, written in that form
		return
	case t.first == nil || t.first.FencingToken != e.FencingToken || e.ElectionNumber < t.first.ElectionNumber:
		t.first, t.last = e, e
	case e.ElectionNumber > t.last.ElectionNumber:
		t.last = e
	}
	if since := t.first.ElectionNumber; t.last.ElectionNumber >= since+2 {
		t.end(t.proved(fmt.Sprintf("it was renewed since election number %d, when this member saw it first", since)))
	}
}

// replaced tells whether a leadership whose last version is ours was replaced by a
// twin. There one look is enough: who replaces a version has read it.
func (t *twin) replaced(ours entry.RaceEntry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil || t.last.ElectionNumber <= ours.ElectionNumber || t.last.FencingToken <= ours.FencingToken {
		return nil
	}
	return t.proved(fmt.Sprintf("it took over from fencing token %d, which this member had", ours.FencingToken))
}

// proved is the error. The lock is held.
func (t *twin) proved(how string) error {
	return fmt.Errorf("%w: the store %v holds an entry by %q with host and port %q, fencing token %d and election number %d, "+
		"which this process has not written: %s; give every member an ID of its own",
		ErrDuplicateMember, t, t.id, t.last.HostPort, t.last.FencingToken, t.last.ElectionNumber, how)
}

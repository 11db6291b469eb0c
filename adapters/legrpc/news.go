package legrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// news is what the reads have brought, for who asks why there is nobody to go to.
type news struct {
	log  *slog.Logger
	seen bool
	// leader is who led by the last version; nowhere is why it cannot be gone to, if so.
	leader  string
	nowhere error
	// unanswered: a read is under way. failed is what the last one said, if not an entry,
	// and outage the kinds of failure since the last one that did.
	unanswered bool
	failed     error
	outage     map[string]bool
}

// version: e is new. nowhere says why nobody can be gone to.
func (n *news) version(e *entry.RaceEntry, nowhere error) {
	n.same()
	n.seen, n.leader, n.nowhere = true, e.LeaderID, nowhere
}

// same: a read found what is known.
func (n *news) same() {
	if n.failed != nil {
		n.log.Info("legrpc: the election can be read again")
	}
	n.unanswered, n.failed, n.outage = false, nil, nil
}

// failure: a read found nothing out. It is logged once for each kind in a row: the
// text may differ at every read, in a port or a request's number.
func (n *news) failure(err error) {
	n.unanswered, n.failed = false, err
	kind := "other"
	for _, k := range []error{core.ErrInvalidConfig, core.ErrBroken, core.ErrBadEntry, context.DeadlineExceeded} {
		if errors.Is(err, k) {
			kind = k.Error()
			break
		}
	}
	if n.outage == nil {
		n.outage = map[string]bool{}
	}
	if !n.outage[kind] {
		n.outage[kind] = true
		n.log.Warn("legrpc: the election cannot be read", slog.Any("error", err))
	}
}

var errNoAnswer = errors.New("no answer yet")

// why returns why there is nobody to go to, and of what kind that is: the kind has
// no words of the store's.
func (n *news) why() (kind string, why error) {
	unknown := "who leads now is not known"
	switch over := fmt.Sprintf("the term of %q is over, and ", n.leader); {
	case n.failed != nil && !n.seen:
		unknown = "the leader is not known"
	case n.failed == nil && n.nowhere != nil:
		return n.nowhere.Error(), n.nowhere
	case n.failed == nil && !n.unanswered:
		why = errors.New(over + "nobody has followed")
		return why.Error(), why
	case n.nowhere == nil:
		unknown = over + unknown
	}
	if n.failed == nil {
		return unknown, fmt.Errorf("%s: %w", unknown, errNoAnswer)
	}
	return unknown, fmt.Errorf("%s: %w", unknown, n.failed)
}

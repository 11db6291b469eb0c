package legrpc

import (
	"errors"
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// leads tells whether somebody leads by what e says; if not, the error says why.
func leads(e *entry.RaceEntry) error {
	switch {
	case e.Absent():
		return errors.New("nobody leads: nothing is stored")
	case e.Vacant():
		return errors.New("nobody leads: the last leader has resigned")
	case e.Held:
		return fmt.Errorf("nobody leads: %q has finished, and nobody may follow before %v", e.LeaderID, e.TermExpiry.UTC().Format(time.RFC3339))
	}
	return nil
}

// destination returns where to go by what e says, and for how long. Without addresses
// the error says why there is nowhere to go; with some, what is wrong with others.
func destination(e *entry.RaceEntry) ([]string, time.Duration, error) {
	if err := leads(e); err != nil {
		return nil, 0, err
	}
	left := remaining(e)
	if left <= 0 {
		return nil, 0, fmt.Errorf("the term of %q is over, by the store's own clock", e.LeaderID)
	}
	addrs, bad := addresses(e)
	return addrs, left, bad
}

// addresses returns those of the leader's addresses that can be dialled, in order,
// and what is wrong with the others.
func addresses(e *entry.RaceEntry) (good []string, bad error) {
	var faults []error
	for _, hp := range e.HostPort {
		if err := core.ValidateHostPort(hp); err != nil {
			faults = append(faults, fmt.Errorf("the leader %q gives the address %q: %w", e.LeaderID, hp, err))
			continue
		}
		good = append(good, hp)
	}
	if len(e.HostPort) == 0 {
		faults = append(faults, fmt.Errorf("the leader %q gives no address: set HostPort in its core.Config", e.LeaderID))
	}
	return good, errors.Join(faults...)
}

// foreignTerm is the term of an entry in another library's form that does not say
// how long it is: core's default.
const foreignTerm = 15 * time.Second

// remaining is how long, from now on, the leader of e may still lead by what the
// answer says that has just shown it for the first time; not positive if its term is over.
func remaining(e *entry.RaceEntry) time.Duration {
	term := e.TermLength
	if e.Foreign() != "" {
		term = max(term, foreignTerm)
	}
	left := term + term/20
	date := storeDate(e)
	if e.SentBy.IsZero() || date.IsZero() {
		return left
	}
	// As for core's store-time proof: the leader's clock may be slow by a fortieth
	// while the store's servers disagree.
	skew := min(time.Second, term/10)
	return min(left, e.SentBy.Sub(date)+term+max(term/20, term/40+skew))
}

func storeDate(e *entry.RaceEntry) time.Time {
	if t, ok := e.Token.(core.DatedToken); ok && !null.Is(t) {
		return t.StoreDate()
	}
	return time.Time{}
}

package breakcmd

import (
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/core/entry"
)

// matchesForeign is matches for an entry of another library. All of them have the
// fencing token 0, so only the version names the one that the operator has seen; it
// is what is stored, as matches has found.
func (b *breaker) matchesForeign(seen statuscmd.Sight) error {
	library := seen.Entry.Foreign()
	if b.version == "" {
		return cliutil.Usage("%s: what is stored is an entry of %s, which has no fencing token: name its version (and in --term the longest term that candidates of that library use here): %s",
			b.store, library, b.foreignBreak(seen))
	}
	// Its leader may lead for so long, and this much is what the next one waits.
	if left := foreignLeft(seen); !b.now && !b.termGiven && left > b.term {
		return cliutil.Usage("%s: %s of the term of this entry of %s are left, longer than the %s that break would keep the election closed: "+
			"give the longest term that candidates of that library use here with --term, or, to wait for all of it, one not shorter than what is left",
			b.store, statuscmd.Seconds(left), library, statuscmd.Seconds(b.term))
	}
	return nil
}

// foreignBreak is the command that ends the reign that was seen: with a term where it
// would be refused without.
func (b *breaker) foreignBreak(seen statuscmd.Sight) string {
	var term time.Duration
	if b.termGiven || foreignLeft(seen) > b.term {
		term = b.term
	}
	line := statuscmd.ForeignBreak(b.store, seen.Version(), term)
	if b.now {
		line = statuscmd.ForeignBreak(b.store, seen.Version(), 0) + " --now"
	}
	return line
}

// foreignLeft is what is left of a foreign term, or all that there can have been where
// only this host's clock tells: it may be wrong.
func foreignLeft(seen statuscmd.Sight) time.Duration {
	left, by := seen.TimeLeft()
	if by == statuscmd.ByLocal {
		return seen.Entry.TermLength
	}
	return left
}

// endForeign turns a foreign entry into one to write. It says neither what tokens there
// were before it nor how long a term is.
func (b *breaker) endForeign(e *entry.RaceEntry, seen statuscmd.Sight) error {
	token, err := b.freshToken(seen)
	if err != nil {
		return err
	}
	e.ElectionNumber++
	e.FencingToken = max(token, e.Token.CommitTS().Unix()+1, int64(e.ElectionNumber))
	e.TermLength = b.term
	return nil
}

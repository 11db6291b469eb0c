package breakcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// errNoVersions is fine: then the version's own words are compared.
var errNoVersions = stores.ErrNoVersions

// breaker ends one reign.
type breaker struct {
	options
	store   string
	decider core.RaceDecider
	clock   clocks.Clock
	who     string

	nonces []string        // of every attempt so far
	before statuscmd.Sight // what the latest attempt was to replace
}

// attempts is how often a write is tried: a leader that lives renews in between.
const attempts = 6

// run reads, compares and writes, until it is settled what is stored.
func (b *breaker) run(ctx context.Context) (*result, error) {
	var unsettled error // what the store said to an attempt that may have been stored
	for n := range attempts {
		if n > 0 && !pause(ctx, time.Duration(n)*400*time.Millisecond) {
			break
		}
		seen, err := b.look(ctx)
		switch {
		case errors.Is(err, core.ErrBroken), err != nil && len(b.nonces) == 0:
			return nil, fmt.Errorf("break: %w", err)
		case err != nil:
			continue
		}
		if slices.Contains(b.nonces, seen.Entry.Nonce) { // ours, though its answer was lost
			return b.result(seen.Entry), nil
		}
		if err := b.matches(seen); err != nil {
			if unsettled != nil {
				return nil, cliutil.Exit(cliutil.ExitUnavailable, "break: an answer was lost, and something else is stored now; whether the reign was ended before is not known: %v", err)
			}
			return nil, err
		}
		e, err := b.replacement(seen)
		if err != nil {
			return nil, err
		}
		b.nonces, b.before = append(b.nonces, e.Nonce), seen
		token, err := b.write(ctx, &e)
		if err == nil {
			e.Token = token
			return b.result(e), nil
		}
		var lost core.FailedAcquisitionErr
		switch {
		case errors.Is(err, core.ErrBroken):
			return nil, fmt.Errorf("break: nothing was written: %w", err)
		case !errors.As(err, &lost):
			unsettled = err
		}
	}
	if unsettled != nil {
		return nil, cliutil.Exit(cliutil.ExitUnavailable, "break: it is not known whether the reign was ended: look with elect status --store %s (%w)", cliutil.ShellWord(b.store), unsettled)
	}
	return nil, cliutil.Exit(cliutil.ExitUnavailable, "break: nothing was written: others wrote first, %d times: try again", len(b.nonces))
}

func (b *breaker) look(ctx context.Context) (statuscmd.Sight, error) {
	return statuscmd.Look(ctx, b.clock, b.decider, min(b.timeout, statuscmd.DefaultTimeout))
}

func (b *breaker) write(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, statuscmd.DefaultTimeout, errors.New("no answer to a write"))
	defer cancel()
	return b.decider.WriteEntry(ctx, e)
}

// matches refuses what is not what the operator has seen.
func (b *breaker) matches(seen statuscmd.Sight) error {
	e := seen.Entry
	again := "look again with elect status --store " + cliutil.ShellWord(b.store)
	switch {
	case seen.Bad != nil && !b.corrupt:
		return cliutil.Exit(statuscmd.ExitBadEntry, "%w", statuscmd.BadAdvice(statuscmd.Describe(b.store, seen)))
	case seen.Bad == nil && e.Absent():
		return changed("%s: nothing is stored, so there is no reign to end: anybody can lead at once", b.store)
	case b.corrupt && e.Foreign() != "":
		return changed("%s: what is stored is an entry of %s and not corrupt: to end its reign: %s", b.store, e.Foreign(), b.foreignBreak(seen))
	case seen.Bad == nil && b.corrupt:
		return changed("%s: what is stored is an entry and not corrupt (fencing token %d): to end its reign use --fencing-token without --corrupt",
			b.store, e.FencingToken)
	case b.version != "" && !sameVersion(b.version, seen.Version()):
		return changed("%s: version %s is stored now, not %s: nothing was written, %s", b.store, seen.Version(), b.version, again)
	case errors.Is(seen.Bad, entry.ErrNewer) && !b.newer:
		return cliutil.Exit(statuscmd.ExitBadEntry, "%w (nothing was written: --corrupt does not replace what a newer program has written, see --force-newer in elect break --help)",
			statuscmd.BadAdvice(statuscmd.Describe(b.store, seen)))
	case seen.Bad != nil:
		return nil
	case e.Foreign() != "":
		return b.matchesForeign(seen)
	case !b.tokenGiven:
		return cliutil.Usage("%s: version %s has a fencing token: give --fencing-token %d as well, so that no other reign is ended", b.store, seen.Version(), e.FencingToken)
	case b.termGiven:
		return cliutil.Usage("%s: what is stored says how long its term is: leave --term out, it is for --corrupt and for entries of another library", b.store)
	case e.FencingToken != b.token:
		return changed("%s: the fencing token is %d now, not %d: nothing was written, %s", b.store, e.FencingToken, b.token, again)
	case e.Vacant():
		return changed("%s: nobody leads: the reign with fencing token %d was resigned, and anybody can lead at once", b.store, b.token)
	}
	return nil
}

// sameVersion compares what was typed with what is stored. A shell takes the quotes
// of an ETag away; they tell nothing apart, and the write is conditional anyway.
func sameVersion(typed, stored string) bool {
	bare := strings.NewReplacer(`"`, "")
	return bare.Replace(typed) == bare.Replace(stored)
}

func changed(format string, args ...any) error {
	return cliutil.Exit(ExitChanged, format, args...)
}

// pause waits; false: ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

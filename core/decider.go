package core

import (
	"context"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// RaceDecider is the store of one election: it keeps one entry and overwrites
// it only for whoever names the current version. Everything an election needs
// of a store is in these two methods.
//
// Implementations are safe for concurrent use, read no clock, keep no
// goroutine, and honour the context. They may assume that nobody changes an
// entry after it was passed in, and must not change or keep it themselves
// after they returned.
type RaceDecider interface {
	// WriteEntry stores e if the version that e.Token names is still the
	// current one. It makes one attempt and has four outcomes:
	//
	//   - stored: nil, and the token of the new version. The write is durable.
	//   - lost: an error that holds a FailedAcquisitionErr (errors.As), usually
	//     a *LostRaceError. It is proved that e was not stored, because another
	//     version is current.
	//   - broken: an error that Is ErrBroken. e was not stored, and trying again
	//     cannot help until a person has changed something.
	//   - unknown: any other error. e may have been stored, may still be, or may
	//     never be.
	//
	// In doubt an implementation answers unknown: a wrong "lost" or "broken"
	// ends a reign that lives or elects a second one.
	WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error)

	// ReadCurrent returns the current version with its token, and never an
	// older one (linearizable). Where nothing is stored that is an entry with
	// LeaderID "", ElectionNumber entry.NoElections and a token that means
	// "still nothing there". For content that cannot be understood the error
	// Is ErrBadEntry, and the entry that comes with it has a usable token and
	// nothing else. ErrBroken means the same as for WriteEntry. Any other error
	// means that nothing was learned.
	ReadCurrent(ctx context.Context) (*entry.RaceEntry, error)
}

// WriteLimiter is implemented by deciders whose store accepts only one write
// per object in MinWriteInterval. An election does not renew more often.
type WriteLimiter interface{ MinWriteInterval() time.Duration }

// DatedToken is a token that also knows the store's clock.
type DatedToken interface {
	entry.LeaderToken
	// StoreDate is the store's own clock on the answer that brought this token:
	// HTTP's Date, in whole seconds. Zero where the answer had none, or came
	// out of a cache (an Age header).
	StoreDate() time.Time
}

// Prober is implemented by deciders that can prove, on a scratch key, that
// their store honours what WriteEntry relies on. The report's checks are the
// proof, one by one; a nil error means that the probe ran, not that it passed.
type Prober interface {
	Probe(ctx context.Context) (ProbeReport, error)
}

// ProbeReport is what a Prober found out. Durations are in nanoseconds in JSON.
type ProbeReport struct {
	Checks []ProbeCheck `json:"checks"`
	// Usable is the verdict: this store may carry an election. It is true when
	// every check that is not optional has passed.
	Usable bool `json:"usable"`
	// RoundTripMedian and RoundTripWorst are those of ten reads in a row; zero
	// where the probe did not get that far.
	RoundTripMedian time.Duration `json:"round_trip_median_ns"`
	RoundTripWorst  time.Duration `json:"round_trip_worst_ns"`
	// Answers counts the answers that could have carried the store's clock, and
	// DatedAnswers those that did.
	Answers      int `json:"answers"`
	DatedAnswers int `json:"dated_answers"`
	// This host's wall clock is ahead of the store's (behind, if negative) by
	// ClockAheadMin at least and by ClockAheadMax at most. Both are zero where
	// no answer was dated. A Min above Max says that no single clock can have
	// dated all the answers.
	ClockAheadMin time.Duration `json:"clock_ahead_min_ns"`
	ClockAheadMax time.Duration `json:"clock_ahead_max_ns"`
	// UnclearAnswers counts the requests that had to be sent again, because
	// their outcome was unknown: throttled, timed out, a server's error.
	UnclearAnswers int `json:"unclear_answers"`
	// LeftBehind names the scratch records that could not be deleted.
	LeftBehind []string `json:"left_behind,omitempty"`
}

// ProbeCheck is one line of a ProbeReport.
type ProbeCheck struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// Optional: elections work without it, and the verdict does not ask for it.
	Optional bool `json:"optional,omitempty"`
	// Inconclusive: neither proved nor disproved. It was not tried, or the
	// store gave no clear answer in time.
	Inconclusive bool   `json:"inconclusive,omitempty"`
	Detail       string `json:"detail,omitempty"` // what was seen
	Advice       string `json:"advice,omitempty"` // what to do about it
}

// storeDate returns the store's clock as the token's answer told it, or zero.
func storeDate(t entry.LeaderToken) time.Time {
	if d, ok := t.(DatedToken); ok && !isNilPointer(d) {
		return d.StoreDate()
	}
	return time.Time{}
}

package schedule

import (
	"errors"
	"fmt"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
)

// Config says what is done once per slot: in which election, and what happens
// when it goes wrong. Its methods work on a copy.
type Config struct {
	// Election is where the slots are kept. Give every schedule an election of its
	// own: the checkpoint belongs to this package. OnElected and OnOusting are not
	// called; Reclaim is refused, because two triggers may meet in one process, and
	// ManualRenew, because the slot is renewed while the work runs.
	// With WaitAtMost a trigger that finds the election held waits for so
	// long, until the slot is done or it is its turn; otherwise it asks once.
	Election core.Config
	// OnFailure says what becomes of a slot whose work failed or was killed. All who
	// may be triggered have to say the same.
	OnFailure Policy
	// MaxAhead is how far a slot may lie ahead of the store's clock, or of this
	// host's (Election.Clock) where the store tells no time; 0 means a minute. A later
	// one is ErrFutureSlot: it would make all before it stale. It does not bound
	// EveryOptions.Early.
	MaxAhead time.Duration
}

// Validate reports every fault of c at once; each Is core.ErrInvalidConfig.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{core.ErrInvalidConfig}, args...)...))
	}
	if err := c.Election.Validate(); err != nil {
		faults = append(faults, err)
	}
	if c.Election.Reclaim {
		fault("Reclaim promises that there is no other candidate with this LeaderID, but a slot may be triggered twice in one process")
	}
	if c.Election.MinHold != 0 {
		fault("MinHold keeps the next slot from being run: slots need none, the checkpoint remembers them")
	}
	if c.Election.ManualRenew {
		fault("ManualRenew leaves renewing to the caller, but here nobody would renew, and work that takes longer than a term would lose its slot: leave it out, the slot is renewed while the work runs")
	}
	if c.OnFailure != Retry && c.OnFailure != Skip {
		fault("OnFailure is %d, neither Retry nor Skip", int(c.OnFailure))
	}
	if c.MaxAhead < 0 {
		fault("MaxAhead is %v: it must not be negative", c.MaxAhead)
	}
	return errors.Join(faults...)
}

func (c Config) clock() clocks.Clock {
	if c.Election.Clock == nil {
		return clocks.DefaultClock()
	}
	return c.Election.Clock
}

func (c Config) maxAhead() time.Duration {
	if c.MaxAhead == 0 {
		return time.Minute
	}
	return c.MaxAhead
}

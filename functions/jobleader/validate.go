package jobleader

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// validate reports every fault at once. What one field makes meaningless of another is
// a fault, too: whoever set it means something by it.
func (c Config) validate() error {
	faults := []error{c.Election.Validate()}
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", core.ErrInvalidConfig, fmt.Sprintf(format, args...)))
	}
	if !c.Slot.IsZero() {
		faults = append(faults, c.Slot.Validate())
	}
	if c.GracePeriod < 0 {
		fault("GracePeriod is %v: it must not be negative", c.GracePeriod)
	}
	if c.Election.ManualRenew {
		fault("ManualRenew leaves renewing to the caller, but here nobody would renew, and work that takes longer than a term would lose its leadership: leave it out, Run renews")
	}
	if c.Once && c.Election.WaitAtMost != 0 {
		fault("WaitAtMost and Once are both set: WaitAtMost waits for so long, Once asks once: choose one")
	}
	if c.LeaveQuietly && !c.Once && c.Election.WaitAtMost == 0 && c.Rest == nil {
		fault("LeaveQuietly is set, but without WaitAtMost or Once a task waits for ever, and never leaves without being elected")
	}
	if c.OnFailure != schedule.Retry && c.Slot.IsZero() {
		fault("OnFailure is set, but no Slot: what has no slot is neither tried again nor skipped")
	}
	return errors.Join(faults...)
}

// misuse is what is wrong with a call of Run, before anything is sent.
func (c Config) misuse(ctx context.Context, work Work) error {
	var faults []error
	if ctx == nil {
		faults = append(faults, fmt.Errorf("%w: the context is nil: pass context.Background()", core.ErrInvalidConfig))
	}
	if work == nil {
		faults = append(faults, fmt.Errorf("%w: there is no work to run", core.ErrInvalidConfig))
	}
	return errors.Join(append(faults, c.validate())...)
}

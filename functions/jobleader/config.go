package jobleader

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// Config says what a task campaigns for, and what it does when it is not
// elected. All of it but Election is optional.
type Config struct {
	// Election is the election. With WaitAtMost a task that is not elected by
	// then leaves; otherwise it waits for ever, or asks once if Once or
	// Rest is set. OnElected and OnOusting are not called. ManualRenew is refused: Run
	// renews.
	Election core.Config
	// Once: ask once, and leave if somebody else leads. It excludes WaitAtMost.
	Once bool
	// Slot, if it is not the zero Slot, is done once: tasks that come when it is done
	// do not work again, and Work finds it with SlotFrom. An invalid one, such as
	// the slot of an empty name, is refused. On Cloud Run
	// schedule.Named(os.Getenv("CLOUD_RUN_EXECUTION")) names the execution, whose
	// tasks share it.
	Slot schedule.Slot
	// OnFailure says what becomes of a slot whose work failed or was killed. It needs
	// a Slot.
	OnFailure schedule.Policy
	// Rest is what every task does: the leader when its work has succeeded and it
	// has resigned, the others at once, or, with Slot and Election.WaitAtMost, when
	// the slot is done: if it is not done by then, or with schedule.Skip its work
	// has failed, they leave with 75. nil: nothing, the others leave. Nobody leads
	// meanwhile.
	Rest func(ctx context.Context) error
	// LeaveQuietly: a task that is not elected because another one leads, or was
	// first, leaves with 0 instead of 75, so that a platform which repeats failed
	// tasks (Cloud Run's --max-retries) does not start it again. Where no leader
	// was seen (the entry was deleted, MinHold) it is still 75, and where
	// the store did not answer 69: then nobody may be at work. It needs Once or
	// WaitAtMost, without which nobody leaves, or Rest.
	LeaveQuietly bool
	// GracePeriod is how long Run takes at most after the first signal, or
	// after leadership was lost, for the work to stop and for the resignation; 0
	// means 9 s. What is not done by then ends with the process.
	GracePeriod time.Duration
	// Stderr gets a line that says why the exit code is not 0, or that the
	// election was not resigned; nil: os.Stderr. It also gets a line when the work
	// was not run although the exit code is 0 (the slot was done or begun
	// before, or LeaveQuietly), unless Election.Logger is set: then that gets it,
	// as a warning if the slot is not known to be done.
	Stderr io.Writer
	// Signals is where signals come from; nil: SIGINT and SIGTERM of this process.
	Signals <-chan os.Signal
}

// election is the core.Config to campaign with: waiting for ever is said as a
// wait so long that nobody sees its end.
func (c Config) election() core.Config {
	e := c.Election
	if e.ResignWithin == 0 {
		e.ResignWithin = 10 * time.Second // as "elect run"
	}
	if e.WaitAtMost == 0 && !c.asksOnce() {
		e.WaitAtMost = entry.MaxTermLength
	}
	if c.Once {
		e.WaitAtMost = 0
	}
	return e
}

func (c Config) asksOnce() bool { return c.Once || c.Rest != nil && c.Election.WaitAtMost == 0 }

func (c Config) clock() clocks.Clock {
	if c.Election.Clock == nil {
		return clocks.DefaultClock()
	}
	return c.Election.Clock
}

func (c Config) grace() time.Duration {
	if c.GracePeriod == 0 {
		return 9 * time.Second
	}
	return c.GracePeriod
}

func (c Config) stderr() io.Writer {
	if c.Stderr == nil {
		return os.Stderr
	}
	return c.Stderr
}

// signals returns where signals come from, and what ends that.
func (c Config) signals() (<-chan os.Signal, func()) {
	if c.Signals != nil {
		return c.Signals, func() {}
	}
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	return ch, func() { signal.Stop(ch) }
}

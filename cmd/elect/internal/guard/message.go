package guard

import "time"

// order is one line from elect to its guard. Each has one field set, or the two
// that belong together.
type order struct {
	// Term and At: a write that grants Term was sent after the clocks showed At.
	Term time.Duration `json:"term,omitempty"`
	At   *Reading      `json:"at,omitempty"`
	// Stop and Grace: SIGTERM now, SIGKILL after Grace.
	Stop  Reason        `json:"stop,omitempty"`
	Grace time.Duration `json:"grace,omitempty"`
	// Signal is passed on to the group.
	Signal int `json:"signal,omitempty"`
}

// Reason is why the guard has stopped the group.
type Reason string

const (
	// ReasonNone: COMMAND ended by itself.
	ReasonNone Reason = ""
	// ReasonAsked: elect is to end.
	ReasonAsked Reason = "asked"
	// ReasonLost: leadership was lost.
	ReasonLost Reason = "lost"
	// ReasonLate: the term comes to its end, and no renewal was announced.
	ReasonLate Reason = "late"
	// ReasonOrphaned: elect is gone.
	ReasonOrphaned Reason = "orphaned"
)

// Report is one line from the guard to elect. Each has one field set.
type Report struct {
	// Started is the process id, and group id, of COMMAND.
	Started int `json:"started,omitempty"`
	// Stopped is the signal that has suspended COMMAND.
	Stopped int `json:"stopped,omitempty"`
	// Failed says why COMMAND could not be started.
	Failed *Failure `json:"failed,omitempty"`
	// Ended is the last report.
	Ended *End `json:"ended,omitempty"`
}

// Failure is why COMMAND could not be started.
type Failure struct {
	Message string `json:"message"`
	Missing bool   `json:"missing"` // the file is not there (any more)
}

// End is how COMMAND and its group ended.
type End struct {
	// Status is COMMAND's exit status, 128 + n if signal n has ended it.
	Status int `json:"status"`
	// Why the guard had stopped it, if it had.
	Why Reason `json:"why,omitempty"`
	// Sent is what the clocks showed before the write was sent whose term was the last
	// that the guard knew of when it stopped the group. What elect renewed after that
	// came too late. Zero where the guard did not stop it.
	Sent Reading `json:"sent,omitzero"`
	// Over: the term was over before the group was gone.
	Over bool `json:"over,omitempty"`
	// Remains: the group has processes that could not be killed.
	Remains bool `json:"remains,omitempty"`
}

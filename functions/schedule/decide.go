package schedule

// Policy says what becomes of a slot whose work failed or was killed half way.
type Policy int

const (
	// Retry: a slot is done when its work has returned nil. One that failed, or
	// whose process was killed, runs again at its next trigger: at least once.
	Retry Policy = iota
	// Skip: a slot is taken before its work begins, and never runs again,
	// whatever became of it: at most once. That is also so when the answer to
	// the write that took it was lost and the work never began.
	Skip
)

// decide says what a trigger for slot s is to do when last is what the
// election remembers. Unknown means that the slot is to be run.
func decide(last mark, s Slot, p Policy) Outcome {
	before := last.slot()
	switch {
	case before.IsZero():
		return Unknown
	case s.name != "" || before.name != "":
		if s.name != before.name {
			return Unknown
		}
	case s.at.After(before.at):
		return Unknown
	case s.at.Before(before.at):
		return Stale
	}
	switch {
	case last.State == stateDone:
		return Done
	case p == Skip:
		return Begun
	}
	return Unknown // failed, or killed half way
}

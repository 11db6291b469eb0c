package timeline

import (
	"math"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// MaxRows is how many rows are drawn; a line below them counts the others.
const MaxRows = 400

// Chart is everything that is drawn. Times count from its beginning, whichever
// instant that is.
type Chart struct {
	// Title is the headline; "" is "An election".
	Title string
	// Subtitle is a line below it; "" says what the axis shows.
	Subtitle string
	// Start is the beginning, on the clock and in the time zone that the axis is
	// to show; zero: the axis counts from the beginning.
	Start time.Time
	// From and Until say which part is drawn; both zero: everything.
	From, Until time.Duration
	// Width is that of the picture, in pixels, from 480 to 10,000; 0 is 900.
	Width int
	Rows  []Row
	// Violations are drawn over all rows, and listed below them.
	Violations []Violation
}

// Row is a candidate, or anything else that things happen to.
type Row struct {
	Name   string
	Lives  []Span // of its processes
	Reigns []Reign
	Faults []Fault
	Marks  []Mark
}

// Span is a stretch of time.
type Span struct {
	From, To time.Duration
	// Open: it goes on, as far as is known; To does not matter then.
	Open bool
}

// Reign is one reign, a bar.
type Reign struct {
	Span
	Token int64
	// Proof is what won it; core.ProofNone: not known.
	Proof core.Proof
	// End is how it ended, and Why is that in words, for who points at it.
	End End
	Why string
	// Rest is for how much longer its term runs after the reign has ended, as after
	// a crash: whoever knows nothing of the end waits until then. 0: it does not, or
	// nobody knows.
	Rest time.Duration
	// Seen: it is drawn as somebody else saw it, from what was stored, and may
	// have begun earlier and ended otherwise.
	Seen bool
}

// termEnd is when the term is over at last.
func (g *Reign) termEnd() time.Duration {
	if g.Open || g.Rest <= 0 {
		return g.To
	}
	if end := g.To + g.Rest; end > g.To {
		return end
	}
	return math.MaxInt64
}

// End is how a reign ended.
type End int

const (
	// EndNone: it goes on, or nobody knows, or the work that it was for was done.
	EndNone End = iota
	// EndResigned: it was given up (core.ErrResigned).
	EndResigned
	// EndExpired: its term was over (core.ErrTermExpired).
	EndExpired
	// EndLost: somebody else has written (core.ErrLeadershipLost).
	EndLost
)

// Fault is something that went wrong for a while, a hatched strip below the bars.
type Fault struct {
	Span
	// What names the kind of fault: all with this text look alike, and the legend
	// has it.
	What string
	// Detail is added for who points at it.
	Detail string
}

// Mark is something that happened at one moment.
type Mark struct {
	At   time.Duration
	Kind MarkKind
	// Text is what it was, for who points at it; "" is the kind's name.
	Text string
	// Token is the fencing token of the reign that it belongs to; 0: none.
	Token int64
	// Count is how many it stands for; 0 is 1.
	Count int
}

// MarkKind says what a mark means, and so how it looks.
type MarkKind int

const (
	// Renewed: a renewal was confirmed; a notch in the bar.
	Renewed MarkKind = iota
	// Wrote: a leader wrote to what it leads for.
	Wrote
	// Refused: a write came too late, and was refused.
	Refused
	// Crashed: the process ended without a word.
	Crashed
	// Told: the process was asked to end.
	Told
	// LostRace: a write lost to another candidate's.
	LostRace
	// Failed: a request had no answer, or one that says nothing.
	Failed
	// Trouble: anything else that went wrong in a moment.
	Trouble
)

// Violation is something that must never happen.
type Violation struct {
	At   time.Duration
	Text string
}

package demo

import "time"

// message is one line that a worker writes to its standard output. Times are
// readings of hostNow.
type message struct {
	Kind  kind  `json:"kind"`
	At    int64 `json:"at"`
	Token int64 `json:"token,omitempty"`
	// Before and After are around the Check that passed.
	Before int64 `json:"before,omitempty"`
	After  int64 `json:"after,omitempty"`
	// Ends is when the term is over, unless it is renewed.
	Ends int64 `json:"ends,omitempty"`
	// Appends: right after this Check the worker appends to the log.
	Appends bool   `json:"appends,omitempty"`
	Text    string `json:"text,omitempty"` // a proof, or why a reign ended
}

type kind string

const (
	kindReady   kind = "ready"   // it campaigns from now on
	kindElected kind = "elected" // it leads; Text is the proof
	kindPassed  kind = "passed"  // a Check has passed
	kindWrote   kind = "wrote"   // the log took its line
	kindRefused kind = "refused" // the log refused its line
	kindEnded   kind = "ended"   // its reign is over; Text is why
	kindRenewed kind = "renewed" // a renewal was confirmed
	kindLost    kind = "lost"    // it lost a race for the election
	kindExited  kind = "exited"  // the process is gone; made by the parent
)

// Why reigns end, as kindEnded has it.
const (
	whyExpired = "its term is over"
	whyLost    = "somebody else leads"
	whyAsked   = "it was asked to leave"
)

func wallNow() int64 { return time.Now().UnixNano() }

package netfault

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Kind is what happens to a request.
type Kind int

// The faults. Delays, Duplicate and the three of the Date header go together with
// each other and with one of those that end a request.
const (
	// Delay holds the request for Fault.For before the server sees it, even
	// if the client gives up in the meantime.
	Delay Kind = iota + 1
	// DelayAfter holds the answer for Fault.For after the request was applied.
	DelayAfter
	// Duplicate sends the request twice, one after the other; the client gets
	// the second answer.
	Duplicate
	// ShiftDate adds Fault.For, which may be negative, to the Date header.
	ShiftDate
	// DropDate removes the Date header.
	DropDate
	// AddAge adds an Age header of Fault.For, in whole seconds, as a cache does.
	AddAge

	// Status answers Fault.Status; the server never sees the request.
	Status
	// StatusAfter lets the server apply the request, then answers Fault.Status
	// in place of its answer.
	StatusAfter
	// Reset cuts the connection; the server never sees the request.
	Reset
	// LoseAnswer lets the server apply the request, then cuts the connection.
	LoseAnswer
	// Hang gives no answer until the client gives up or the injector is
	// closed; the server never sees the request.
	Hang
	// HangAfter lets the server apply the request, then is as Hang.
	HangAfter
)

var kindNames = [...]string{
	Delay: "delay", DelayAfter: "delay-after", Duplicate: "duplicate",
	ShiftDate: "shift-date", DropDate: "drop-date", AddAge: "add-age",
	Status: "status", StatusAfter: "status-after", Reset: "reset",
	LoseAnswer: "lose-answer", Hang: "hang", HangAfter: "hang-after",
}

// String is the kind's name in schedules and in [Request.Fault].
func (k Kind) String() string {
	if k < Delay || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", int(k))
	}
	return kindNames[k]
}

// ends reports whether a request can meet only one fault of this kind.
func (k Kind) ends() bool { return k >= Status }

func (k Kind) takesDuration() bool {
	return k == Delay || k == DelayAfter || k == ShiftDate || k == AddAge
}

func (k Kind) takesStatus() bool { return k == Status || k == StatusAfter }

// Fault is one thing to do, and to which requests. The zero values of the
// conditions mean every request.
type Fault struct {
	Kind   Kind
	For    time.Duration // of Delay, DelayAfter, ShiftDate and AddAge
	Status int           // of Status and StatusAfter, say 429 or 503

	// Header and Body are the answer of Status and StatusAfter. A nil Body is a
	// line of text that names the fault. That answer has no Date unless Header
	// gives one (of StatusAfter: the server's), so that nobody takes
	// this process's clock for the store's.
	Header http.Header
	Body   []byte

	Method       string                   // only requests with this method
	PathContains string                   // only requests whose decoded path contains this
	WritesOnly   bool                     // only uploads and other changes: see [IsWrite]
	Match        func(*http.Request) bool // only requests for which it is true; it must not read the body

	Count int // the next Count requests that match; 0: all of them, until Clear
}

// IsWrite reports whether a request changes something in the store: any method
// but GET, HEAD and OPTIONS; of DynamoDB, where everything is a POST, any operation
// (X-Amz-Target) but those that get, query, scan, describe or list.
func IsWrite(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	for _, read := range []string{"Get", "BatchGet", "TransactGet", "Query", "Scan", "Describe", "List"} {
		if strings.HasPrefix(operation, read) {
			return false
		}
	}
	return true
}

func (f *Fault) matches(r *http.Request) bool {
	return (f.Method == "" || strings.EqualFold(f.Method, r.Method)) &&
		strings.Contains(r.URL.Path, f.PathContains) &&
		(!f.WritesOnly || IsWrite(r)) &&
		(f.Match == nil || f.Match(r))
}

func (f *Fault) validate() error {
	switch {
	case f.Kind < Delay || f.Kind > HangAfter:
		return fmt.Errorf("netfault: a fault has no kind: set Kind to one of Delay ... HangAfter, not %d", int(f.Kind))
	case f.Kind.takesStatus() && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("netfault: %s answers status %d: give one from 200 to 599", f.Kind, f.Status)
	case !f.Kind.takesStatus() && (f.Status != 0 || f.Body != nil || f.Header != nil):
		return fmt.Errorf("netfault: %s has a Status, Header or Body, which it never answers: use Status or StatusAfter", f.Kind)
	case f.Kind.takesDuration() && f.For == 0:
		return fmt.Errorf("netfault: %s has no duration: set For", f.Kind)
	case f.Kind != ShiftDate && f.For < 0:
		return fmt.Errorf("netfault: %s for %s: a duration must not be negative", f.Kind, f.For)
	case !f.Kind.takesDuration() && f.For != 0:
		return fmt.Errorf("netfault: %s takes no duration: put a Delay beside it", f.Kind)
	case f.Count < 0:
		return fmt.Errorf("netfault: %s has count %d: 0 means every request, n the next n", f.Kind, f.Count)
	}
	return nil
}

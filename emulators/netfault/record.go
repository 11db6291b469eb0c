package netfault

import "fmt"

// Request is what became of one request.
type Request struct {
	Seq    int // 1 for the first since the start or since Reset
	Method string
	Path   string // decoded
	Query  string // as it was sent
	Write  bool   // see [IsWrite]
	Fault  string // the faults it met, "" for none: "delay 1s + lose-answer"

	Sent         int    // how often it was sent to the server: 0, 1, or 2 (Duplicate)
	ServerStatus int    // the server's last answer; 0: none
	Status       int    // what the client was answered; 0: nothing, or nothing yet
	Done         bool   // false while it is under way
	Err          string // why the server could not be asked, if it could not
}

// String is one line for a test's log.
func (r Request) String() string {
	met := r.Fault
	if met == "" {
		met = "no fault"
	}
	return fmt.Sprintf("#%d %s %s: %s, sent %d, server %d, client %d", r.Seq, r.Method, r.Path, met, r.Sent, r.ServerStatus, r.Status)
}

// Requests returns the record of every request since the start or since Reset, in
// the order of arrival, those under way included.
func (i *Injector) Requests() []Request {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := make([]Request, len(i.requests))
	for k, r := range i.requests {
		all[k] = *r
	}
	return all
}

// Reset forgets the requests so far. Faults and schedule stay as they are.
func (i *Injector) Reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests = nil
}

// note changes a record, which the test may be reading.
func (i *Injector) note(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

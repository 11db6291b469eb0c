package gcsdecider

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// The Go client hands out no headers. So a Decider puts a note into the context
// of its call, the client carries it to its requests, and the transport
// writes the Date of each answer on the note.

type noteKey struct{}

// dateNote is the store's time on the last answer of one call.
type dateNote struct {
	mu   sync.Mutex
	date time.Time
}

func withNote(ctx context.Context) (context.Context, *dateNote) {
	n := new(dateNote)
	return context.WithValue(ctx, noteKey{}, n), n
}

func (n *dateNote) get() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.date
}

func (n *dateNote) set(date time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.date = date
}

// dateForms are those of HTTP (RFC 9110, section 5.6.7), the two obsolete ones
// included. http.ParseTime takes other zones than GMT in the second of them, and what
// their names mean then depends on where this host is.
var dateForms = [...]string{http.TimeFormat, "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// storeDate is the Date of an answer in whole seconds, or zero where it tells none. An
// answer with an Age comes out of a cache, and its Date is the past (RFC 9111, section
// 5.1). A year that no entry's times can be reckoned from is nobody's clock.
func storeDate(h http.Header) time.Time {
	if len(h.Values("Age")) > 0 {
		return time.Time{}
	}
	for _, form := range dateForms {
		date, err := time.Parse(form, h.Get("Date"))
		if err == nil && date.Year() >= 1970 && date.Year() < 9900 {
			return date.Truncate(time.Second) // Go reads fractions that nobody may send
		}
	}
	return time.Time{}
}

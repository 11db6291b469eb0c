package book_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/cloudelect/cloudelect/adapters/internal/book"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

const term = 10 * time.Second

// at is a wall clock's reading, so many seconds after noon.
func at(seconds float64) time.Time {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// told is a win or a renewal that was sent so many seconds after noon, with a store
// whose clock is behind or tells nothing.
func told(kind core.EventKind, token int64, sent float64) core.Event {
	return core.Event{Kind: kind, LeaderID: "me", Time: at(5), Entry: entry.RaceEntry{LeaderID: "me", FencingToken: token,
		TermLength: term, TermExpiry: at(sent).Add(term)}}
}

// ahead is the same with a store whose clock is an hour ahead: the entry does not say
// when it was sent.
func ahead(kind core.EventKind, token int64, sent float64) core.Event {
	e := told(kind, token, sent)
	e.Entry.SentBy = at(sent).Add(time.Hour)
	e.Entry.TermExpiry = e.Entry.SentBy.Add(term)
	return e
}

func request(op core.Op, outcome core.Outcome, sent, got float64) core.Event {
	return core.Event{Kind: core.EventRequest, Op: op, Outcome: outcome, Time: at(got), Latency: at(got).Sub(at(sent))}
}

func ended(token int64) core.Event {
	return core.Event{Kind: core.EventEnded, LeaderID: "me", Entry: entry.RaceEntry{FencingToken: token}}
}

// changed is the news that a reign under this name, or another's, was read.
func changed(id string, token int64) core.Event {
	return core.Event{Kind: core.EventLeaderChanged, LeaderID: "me", Entry: entry.RaceEntry{LeaderID: id, FencingToken: token}}
}

const (
	read    = core.OpRead
	acquire = core.OpAcquire
	renew   = core.OpRenew
	elected = core.EventElected
	renewed = core.EventRenewed
)

// TestAge: it counts from the sending of what was confirmed, wherever that is told.
// All is heard at five seconds after noon.
func TestAge(t *testing.T) {
	won := []core.Event{request(acquire, core.OutcomeStored, 0, 0), ahead(elected, 1, 0)}
	for name, c := range map[string]struct {
		events []core.Event
		age    float64
	}{
		"the entry says it":                   {[]core.Event{told(elected, 1, 1)}, 4},
		"the entry's word before a request's": {[]core.Event{request(acquire, core.OutcomeStored, 2, 3), told(elected, 1, 1)}, 4},
		"the store is ahead, the request says it": {[]core.Event{
			request(acquire, core.OutcomeStored, 1, 2), ahead(elected, 1, 1)}, 4},
		"no request was heard: when it was told": {[]core.Event{ahead(elected, 1, 1)}, 0},
		"a renewal":                              {append(won, request(renew, core.OutcomeStored, 3, 4), ahead(renewed, 1, 3)), 2},

		"unclear, and read back: the first of them": {append(won,
			request(renew, core.OutcomeUnknown, 2, 3), request(renew, core.OutcomeUnknown, 3, 4),
			request(read, core.OutcomeRead, 4, 5), ahead(renewed, 1, 3)), 3},
		"unclear, then stored: that one": {append(won,
			request(renew, core.OutcomeUnknown, 2, 3), request(renew, core.OutcomeStored, 4, 5), ahead(renewed, 1, 4)), 1},
		"lost to one's own write before": {append(won,
			request(renew, core.OutcomeUnknown, 2, 3), request(renew, core.OutcomeLost, 3, 4), ahead(renewed, 1, 2)), 3},
		"refused: it was not stored": {append(won,
			request(renew, core.OutcomeBroken, 1, 2), request(renew, core.OutcomeUnknown, 3, 4), ahead(renewed, 1, 3)), 2},
		"unclear, confirmed, unclear again": {append(won,
			request(renew, core.OutcomeUnknown, 1, 2), ahead(renewed, 1, 1),
			request(renew, core.OutcomeUnknown, 3, 4), ahead(renewed, 1, 3)), 2},
		"stored, not heard of, unclear again": {append(won,
			request(renew, core.OutcomeUnknown, 1, 2), request(renew, core.OutcomeStored, 2, 3),
			request(renew, core.OutcomeUnknown, 3, 4), ahead(renewed, 1, 3)), 2},
		"reads and resignations send no term": {append(won,
			request(read, core.OutcomeUnknown, 1, 2), request(core.OpResign, core.OutcomeUnknown, 2, 3), ahead(renewed, 1, 0)), 5},

		"late news of an older renewal":   {[]core.Event{told(elected, 1, 3), told(renewed, 1, 2)}, 2},
		"another reign begins again":      {[]core.Event{told(elected, 1, 3), ended(1), told(elected, 2, 1)}, 4},
		"and so where the end was missed": {[]core.Event{told(elected, 1, 3), told(elected, 2, 1)}, 4},
		"sent in what is the future":      {[]core.Event{told(elected, 1, 9)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var b book.Book
			for _, e := range c.events {
				b.Note(&e, at(5))
			}
			age := at(c.age).Sub(at(0))
			if got := b.Age(at(5)); got != age || !b.Leads() || b.Term() != term {
				t.Errorf("age %v, want %v; leads %v, term %v", got, age, b.Leads(), b.Term())
			}
			if left := b.Left(at(6)); left != term-age-time.Second {
				t.Errorf("a second later %v are left, want %v", left, term-age-time.Second)
			}
			if left := b.Left(at(60)); left != 0 {
				t.Errorf("long after the term %v are left", left)
			}
		})
	}
}

// TestEnds: what ends a reign, and what revives none, whatever overtakes what.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		events []core.Event
		leads  bool
		token  int64
	}{
		"nothing was heard":              {nil, false, 0},
		"an end":                         {[]core.Event{told(elected, 1, 0), ended(1)}, false, 1},
		"a renewal after the end":        {[]core.Event{told(elected, 1, 0), ended(1), told(renewed, 1, 1)}, false, 1},
		"the end before the win":         {[]core.Event{ended(1), told(elected, 1, 0)}, false, 0},
		"the win was missed":             {[]core.Event{told(renewed, 3, 0)}, true, 3},
		"the next reign":                 {[]core.Event{told(elected, 1, 0), ended(1), told(elected, 2, 1)}, true, 2},
		"an end that comes too late":     {[]core.Event{told(elected, 1, 0), told(elected, 2, 1), ended(1)}, true, 2},
		"an entry that tells no token":   {[]core.Event{told(elected, 0, 0), ended(0)}, false, 0},
		"the token is seen first":        {[]core.Event{changed("me", 4)}, false, 4},
		"another leads":                  {[]core.Event{told(elected, 1, 0), ended(1), changed("you", 2)}, false, 1},
		"another is seen before the end": {[]core.Event{told(elected, 1, 0), changed("you", 2)}, true, 1},
		"a namesake took it":             {[]core.Event{told(elected, 1, 0), changed("me", 2), ended(1)}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var b book.Book
			for _, e := range c.events {
				b.Note(&e, at(5))
			}
			if b.Leads() != c.leads || b.Token() != c.token || (b.Left(at(5)) > 0) != c.leads {
				t.Errorf("leads %v with token %d, %v left; want %v, %d", b.Leads(), b.Token(), b.Left(at(5)), c.leads, c.token)
			}
		})
	}
}

// later is t after the clocks of a host have moved by these, which need not agree.
// Only the runtime can make such a reading: so this sets it, and looks whether it did.
func later(t *testing.T, from time.Time, wall, mono time.Duration) time.Time {
	t.Helper()
	to := from.Add(wall)
	(*struct {
		wall uint64
		mono int64
		loc  *time.Location
	})(unsafe.Pointer(&to)).mono += int64(mono - wall)
	if to.Sub(from) != mono || to.Round(0).Sub(from.Round(0)) != wall {
		t.Fatalf("a time.Time is laid out in another way: %v and %v, want %v and %v", to.Sub(from), to.Round(0).Sub(from.Round(0)), mono, wall)
	}
	return to
}

// TestFrozenClocks: one that stands still, or is set back, makes no term longer.
func TestFrozenClocks(t *testing.T) {
	for name, c := range map[string]struct{ wall, mono, want time.Duration }{
		"both go":               {2 * time.Second, 2 * time.Second, 2 * time.Second},
		"the wall clock stands": {0, 2 * time.Second, 2 * time.Second},
		"it is set back":        {-time.Hour, 2 * time.Second, 2 * time.Second},
		"the monotonic stands":  {2 * time.Second, 0, 2 * time.Second},
		"both stand":            {0, 0, 0},
		"back, and standing":    {-time.Hour, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			var b book.Book
			b.Note(&core.Event{Kind: elected, LeaderID: "me", Entry: entry.RaceEntry{LeaderID: "me", FencingToken: 1,
				TermLength: term, TermExpiry: now.Add(term)}}, now)
			to := later(t, now, c.wall, c.mono)
			if got := book.Elapsed(now, to); got != c.want {
				t.Errorf("elapsed: %v, want %v", got, c.want)
			}
			if age, left := b.Age(to), b.Left(to); age != c.want || left != term-c.want {
				t.Errorf("age %v, left %v; want %v, %v", age, left, c.want, term-c.want)
			}
		})
	}
}

// A clock that has no monotonic part and is set back has not gone on.
func TestSetBack(t *testing.T) {
	if d := book.Elapsed(at(60), at(0)); d != 0 {
		t.Errorf("elapsed: %v", d)
	}
}

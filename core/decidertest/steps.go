package decidertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Live stores limit writes and fail now and then. Where a case is not about
// that, unknown answers are settled as an election settles them: look whether
// the write is there, pause, try again.
const (
	attempts   = 12
	firstPause = 20 * time.Millisecond
	lastPause  = time.Second
	perRequest = 30 * time.Second
)

// record returns an empty record of the harness.
func (s *suite) record() Record {
	s.Helper()
	r := s.h.New(s.TB)
	if r.Open == nil {
		s.Fatalf("decidertest: Record.Open is needed")
	}
	return r
}

// need skips the case if the harness lacks a hook.
func (s *suite) need(has bool, hook string) {
	s.Helper()
	if !has {
		s.Skipf("decidertest: SKIPPED: the harness has no %s", hook)
	}
}

// following returns a valid entry on top of base, by id.
func following(base *entry.RaceEntry, id string) *entry.RaceEntry {
	return &entry.RaceEntry{
		LeaderID:       id,
		HostPort:       []string{"192.0.2.1:7000"},
		TermExpiry:     time.Date(2031, 5, 6, 7, 8, 9, 123_456_789, time.UTC),
		TermLength:     15 * time.Second,
		ElectionNumber: base.ElectionNumber + 1,
		FencingToken:   base.FencingToken + 1,
		Nonce:          rand.Text(),
		Token:          base.Token,
	}
}

// after is following for the caller who has written the version before.
func after(written *entry.RaceEntry, token entry.LeaderToken, id string) *entry.RaceEntry {
	base := *written
	base.Token = token
	return following(&base, id)
}

func isLost(err error) bool {
	var lost core.FailedAcquisitionErr
	return errors.As(err, &lost)
}

// outcome names the class of a write's error, and complains about one that is
// in two classes.
func outcome(err error) string {
	lost, broken := isLost(err), errors.Is(err, core.ErrBroken)
	switch {
	case err == nil:
		return "stored"
	case lost && broken:
		return "both lost and broken"
	case lost:
		return "lost"
	case broken:
		return "broken"
	default:
		return "unknown"
	}
}

// settle writes e until the answer is known. In the end the error is nil, lost
// or broken; or it is neither, and the store has been unknown for too long.
func settle(ctx context.Context, d core.RaceDecider, e *entry.RaceEntry) (entry.LeaderToken, error) {
	token, _, err := settleAsking(ctx, d, e)
	return token, err
}

// settleAsking is settle, and tells whether an answer was unknown in between:
// then a write that is lost in the end may have been stored for a while.
func settleAsking(ctx context.Context, d core.RaceDecider, e *entry.RaceEntry) (_ entry.LeaderToken, asked bool, _ error) {
	pause := firstPause
	for i := 0; ; i++ {
		token, err := once(ctx, d, e)
		switch out := outcome(err); {
		case out == "stored" && token == nil:
			return nil, asked, errors.New("a stored write came with no token")
		case out != "unknown" && (out != "lost" || !asked):
			return token, asked, err
		}
		cur, readErr := d.ReadCurrent(ctx)
		if readErr == nil && cur.Nonce == e.Nonce {
			return cur.Token, asked, nil // an attempt before was stored
		}
		known := readErr == nil || errors.Is(readErr, core.ErrBadEntry)
		if isLost(err) && known || i == attempts {
			return nil, asked, err
		}
		asked = true
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
}

func once(ctx context.Context, d core.RaceDecider, e *entry.RaceEntry) (entry.LeaderToken, error) {
	ctx, cancel := context.WithTimeout(ctx, perRequest)
	defer cancel()
	return d.WriteEntry(ctx, e)
}

// write stores e, or ends the case.
func (s *suite) write(d core.RaceDecider, e *entry.RaceEntry) entry.LeaderToken {
	s.Helper()
	token, err := settle(s.Context(), d, e)
	if err != nil {
		s.Fatalf("WriteEntry on the current version is %s: %v", outcome(err), err)
	}
	return token
}

// lose expects e to lose its race, and returns the error.
func (s *suite) lose(d core.RaceDecider, e *entry.RaceEntry, because string) error {
	s.Helper()
	_, err := settle(s.Context(), d, e)
	if got := outcome(err); got != "lost" {
		s.Fatalf("WriteEntry %s is %s, want lost: %v", because, got, err)
	}
	return err
}

// read returns what is stored, or ends the case.
func (s *suite) read(d core.RaceDecider) *entry.RaceEntry {
	s.Helper()
	e, err := s.tryRead(d)
	if err != nil {
		s.Fatalf("ReadCurrent: %v", err)
	}
	if e == nil || e.Token == nil {
		s.Fatalf("ReadCurrent returned %+v and no error: want an entry with a token", e)
	}
	return e
}

// tryRead repeats a read of which nothing was learned.
func (s *suite) tryRead(d core.RaceDecider) (*entry.RaceEntry, error) {
	pause := firstPause
	for i := 0; ; i++ {
		ctx, cancel := context.WithTimeout(s.Context(), perRequest)
		e, err := d.ReadCurrent(ctx)
		cancel()
		if err == nil || errors.Is(err, core.ErrBadEntry) || errors.Is(err, core.ErrBroken) || i == attempts {
			return e, err
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
}

// rest waits until a store that limits writes accepts the next one.
func rest(d core.RaceDecider) {
	if l, ok := d.(core.WriteLimiter); ok {
		time.Sleep(l.MinWriteInterval() * 11 / 10)
	}
}

// same expects got to be want in everything that is stored.
func (s *suite) same(got, want *entry.RaceEntry, what string) {
	s.Helper()
	for _, d := range differences(got, want) {
		s.Errorf("%s: %s", what, d)
	}
}

// differences compares all fields but Token. Times are equal when they are the
// same instant, and an empty slice is as good as none.
func differences(got, want *entry.RaceEntry) []string {
	var diffs []string
	g, w := reflect.ValueOf(*got), reflect.ValueOf(*want)
	for i := range g.NumField() {
		name, a, b := g.Type().Field(i).Name, g.Field(i), w.Field(i)
		if name == "Token" {
			continue
		}
		equal := reflect.DeepEqual(a.Interface(), b.Interface())
		if at, ok := a.Interface().(time.Time); ok {
			equal = at.Equal(b.Interface().(time.Time))
		}
		if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
			equal = true
		}
		if !equal {
			diffs = append(diffs, fmt.Sprintf("%s is %s, want %s", name, brief(a), brief(b)))
		}
	}
	return diffs
}

// brief prints a value without filling the screen.
func brief(v reflect.Value) string {
	text := fmt.Sprint(v.Interface())
	if len(text) > 200 {
		return fmt.Sprintf("%.100s... (%d elements)", text, v.Len()) // only strings and slices are that long
	}
	return text
}

package core

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

const reignTerm = 10 * time.Second

// reignFrom is a reign whose win was sent at start, with one attempt pending
// that was sent at renewal.
func reignFrom(start, renewal time.Duration) *reign {
	r := newReign(&entry.RaceEntry{LeaderID: "me", Nonce: "win"}, attempt{nonce: "win", sent: at(start)}, reignTerm)
	r.attempts = []attempt{{nonce: "renewal", sent: at(renewal)}}
	return &r
}

func renewed(nonce string) *entry.RaceEntry { return &entry.RaceEntry{LeaderID: "me", Nonce: nonce} }

// TestReignEndsWithItsTerm counts from the sending of the win, by the sum of
// the larger steps alone.
func TestReignEndsWithItsTerm(t *testing.T) {
	for _, tc := range []struct {
		now  time.Duration
		want error
	}{
		{3 * time.Second, nil}, {13*time.Second - 1, nil},
		{13 * time.Second, ErrTermExpired}, {13*time.Second + 1, ErrTermExpired}, {time.Hour, ErrTermExpired},
	} {
		r := reignFrom(3*time.Second, 4*time.Second)
		if left := r.left(at(tc.now)); left != 13*time.Second-tc.now {
			t.Errorf("at %v: %v left", tc.now, left)
		}
		if err := r.check(at(tc.now)); err != tc.want || r.over != tc.want {
			t.Errorf("at %v: %v (over: %v), want %v", tc.now, err, r.over, tc.want)
		}
	}
	r := reignFrom(0, 0)
	if err := r.check(instant{elapsed: reignTerm - 1, mono: time.Hour, wall: noon.Add(time.Hour)}); err != nil {
		t.Errorf("the clocks' values ended it: %v", err)
	}
}

// TestReignsEndIsFinal: the first reason stands, whatever comes after it.
func TestReignsEndIsFinal(t *testing.T) {
	ends := map[error]func(r *reign){
		ErrTermExpired:    func(r *reign) { r.check(at(reignTerm)) },
		ErrResigned:       func(r *reign) { r.finish(at(1), ErrResigned) },
		ErrLeadershipLost: func(r *reign) { r.replaced(at(1)) },
	}
	for first, end := range ends {
		for second, after := range ends {
			r := reignFrom(0, 1)
			end(r)
			if r.over != first {
				t.Fatalf("%v: over is %v", first, r.over)
			}
			was := r.end
			after(r)
			r.attempts = []attempt{{nonce: "late", sent: at(2)}}
			err := r.confirm(at(3), 0, renewed("late"))
			if r.over != first || err != first || r.check(at(0)) != first {
				t.Errorf("%v, then %v, then a confirmation: over is %v, confirm said %v", first, second, r.over, err)
			}
			if r.end != was || r.sent != at(0) {
				t.Errorf("%v, then %v, then a confirmation: the end moved by %v", first, second, r.end-was)
			}
		}
	}
	// What ends after the term's end has ended by it.
	for _, end := range []func(r *reign){
		func(r *reign) { r.finish(at(reignTerm), ErrResigned) },
		func(r *reign) { r.replaced(at(reignTerm)) },
	} {
		r := reignFrom(0, 1)
		if end(r); r.over != ErrTermExpired {
			t.Errorf("over is %v, but its time had passed first", r.over)
		}
	}
}

// TestConfirm goes through everything that a confirmation may meet.
func TestConfirm(t *testing.T) {
	cause := errors.New("the caller's own reason")
	for _, tc := range []struct {
		name     string
		over     error
		vacates  bool
		sent     time.Duration
		now      time.Duration
		wantEnd  time.Duration
		wantErr  error
		resigned bool
	}{
		{"a renewal in time", nil, false, 4 * time.Second, 5 * time.Second, 14 * time.Second, nil, false},
		{"confirmed at the last moment", nil, false, 4 * time.Second, reignTerm - 1, 14 * time.Second, nil, false},
		{"confirmed exactly at the end", nil, false, 4 * time.Second, reignTerm, reignTerm, ErrTermExpired, false},
		{"confirmed late", nil, false, 4 * time.Second, reignTerm + 1, reignTerm, ErrTermExpired, false},
		{"sent before the last confirmed one", nil, false, -4 * time.Second, 5 * time.Second, reignTerm, nil, false},
		{"sent together with it", nil, false, 0, 5 * time.Second, reignTerm, nil, false},
		{"after the caller's end", cause, false, 4 * time.Second, 5 * time.Second, reignTerm, cause, false},
		{"after the resignation began", ErrResigned, false, 4 * time.Second, 5 * time.Second, reignTerm, ErrResigned, false},
		{"the resignation itself", ErrResigned, true, 4 * time.Second, 5 * time.Second, reignTerm, ErrResigned, true},
		{"the resignation itself, late", ErrResigned, true, 4 * time.Second, time.Hour, reignTerm, ErrResigned, true},
		{"the resignation after the term", ErrTermExpired, true, 11 * time.Second, 12 * time.Second, reignTerm, ErrTermExpired, true},
	} {
		r := reignFrom(0, tc.sent)
		r.over, r.attempts[0].vacates = tc.over, tc.vacates
		v := renewed("renewal")
		err := r.confirm(at(tc.now), 0, v)
		if err != tc.wantErr || r.over != tc.wantErr || r.end != tc.wantEnd || r.resigned != tc.resigned {
			t.Errorf("%s: %v, over %v, end %v, resigned %v; want %v, end %v, resigned %v",
				tc.name, err, r.over, r.end, r.resigned, tc.wantErr, tc.wantEnd, tc.resigned)
		}
		if r.current != v || len(r.attempts) != 0 {
			t.Errorf("%s: what is stored is known now, and nothing else can be: %+v", tc.name, r)
		}
	}
}

// TestOlderAttemptCountsFromItsOwnSending: after lost answers any of several
// attempts may be what is stored.
func TestOlderAttemptCountsFromItsOwnSending(t *testing.T) {
	for i, sent := range []time.Duration{3 * time.Second, 5 * time.Second, 7 * time.Second} {
		r := reignFrom(0, 3*time.Second)
		r.attempts = append(r.attempts, attempt{nonce: "second", sent: at(5 * time.Second)}, attempt{nonce: "third", sent: at(7 * time.Second)})
		v := renewed(r.attempts[i].nonce)
		if err := r.confirm(at(8*time.Second), i, v); err != nil {
			t.Fatal(err)
		}
		if r.end != sent+reignTerm || r.sent != at(sent) {
			t.Errorf("attempt %d: ends at %v, want %v", i, r.end, sent+reignTerm)
		}
		if got := r.nonces(); !slices.Equal(got, []string{v.Nonce}) {
			t.Errorf("attempt %d: still may be %q; the others' base is gone", i, got)
		}
	}
}

func TestReplaced(t *testing.T) {
	r := reignFrom(0, 1)
	if got := r.nonces(); !slices.Equal(got, []string{"win", "renewal"}) {
		t.Errorf("nonces %q", got)
	}
	r.replaced(at(2))
	if !r.lost || r.over != ErrLeadershipLost || len(r.attempts) != 0 || r.resigned {
		t.Errorf("%+v", r)
	}
	late := reignFrom(0, 1)
	late.finish(at(1), ErrResigned)
	late.replaced(at(2))
	if !late.lost || late.over != ErrResigned {
		t.Errorf("%+v", late)
	}
}

//go:build unix

package guard

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// piped is a guard without a COMMAND, and elect's end of its pipe.
func piped(t *testing.T) (*process, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := newInbox(int(r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return &process{orders: in, reports: json.NewEncoder(io.Discard), stderr: io.Discard}, w
}

func send(t *testing.T, w *os.File, o order) {
	t.Helper()
	b, err := json.Marshal(o)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A guard that was stopped for longer than its term, while elect went on renewing,
// finds the new ends in its pipe and goes on. If the last of them has passed, it kills.
func TestNewerEndsAreReadBeforeAnythingIsDone(t *testing.T) {
	for _, c := range []struct {
		name          string
		latest        time.Duration // ago, when the guard goes on
		stops, kills  bool
		renewals, ask int
	}{
		{"renewed meanwhile", 0, false, false, 500, 0},
		{"renewed, and then no more", 2 * time.Hour, true, true, 500, 0},
		{"told nothing", 3 * time.Hour, true, true, 0, 0},
		{"renewed, and asked to stop", 0, true, false, 500, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, w := piped(t)
			now := Now()
			stopped := Reading{Mono: now.Mono - 3*time.Hour, Wall: now.Wall - 3*time.Hour}
			g.last, g.term.last = stopped, stopped
			g.term.renew(stopped, stopped, time.Hour)
			sent := Reading{Mono: now.Mono - c.latest, Wall: now.Wall - c.latest}
			for range c.renewals {
				send(t, w, order{Term: time.Hour, At: &sent})
			}
			for range c.ask {
				send(t, w, order{Stop: ReasonAsked, Grace: time.Hour})
			}
			g.look()
			if g.stopping != c.stops || g.killing != c.kills {
				t.Errorf("stops %v, kills %v; want %v and %v", g.stopping, g.killing, c.stops, c.kills)
			}
		})
	}
}

func TestInbox(t *testing.T) {
	g, w := piped(t)
	if _, ok := g.orders.take(); ok || g.orders.ended {
		t.Error("an order was made up")
	}
	if _, err := io.WriteString(w, `{"sig`); err != nil {
		t.Fatal(err)
	}
	if _, ok := g.orders.take(); ok || g.orders.ended {
		t.Error("half an order was taken for one, or for the end")
	}
	if _, err := io.WriteString(w, "nal\":1}\n{\"signal\":2}\n"); err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 2; want++ {
		if o, ok := g.orders.first(); !ok || o.Signal != want {
			t.Errorf("order %d: %+v, %v", want, o, ok)
		}
	}
	arrived := make(chan struct{})
	go g.orders.announce(arrived)
	send(t, w, order{Signal: 3})
	<-arrived
	if o, ok := g.orders.take(); !ok || o.Signal != 3 {
		t.Errorf("%+v, %v", o, ok)
	}
	w.Close()
	for range arrived { // until it is closed
	}
	if _, ok := g.orders.first(); ok || !g.orders.ended {
		t.Error("elect is gone, and that was not noticed")
	}
}

func TestRubbishIsTheEnd(t *testing.T) {
	g, w := piped(t)
	if _, err := io.WriteString(w, strings.Repeat("rubbish ", 1000)+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, ok := g.orders.first(); ok || !g.orders.ended {
		t.Error("rubbish was taken for an order")
	}
}

package legrpc_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// TestAPollLongerThanTheTerm cuts nobody off from a leader that renews: the election is
// read before its term is over, and not more often than it takes.
func TestAPollLongerThanTheTerm(t *testing.T) {
	play(t, &legrpc.Options{PollInterval: time.Hour}, func(s *scene) { s.leads("a") }, func(s *scene) {
		s.expect("a leads", "[a.example:443]")
		for range 30 {
			time.Sleep(term / 3)
			s.leads("a")
		}
		s.expect("for ten terms")
		if reads, _ := s.store.Requests(); reads < 15 || reads > 25 {
			t.Errorf("%d reads in ten terms, want about one per half of a term", reads)
		}
		time.Sleep(2 * term)
		s.expect("it renews no more", "[]", `~the term of "a" is over, and nobody has followed`)
		before, _ := s.store.Requests()
		time.Sleep(50 * time.Minute)
		if after, _ := s.store.Requests(); after != before {
			t.Errorf("%d reads while nobody leads, within one PollInterval", after-before)
		}
	})
}

// hangs is a store that answers no more when it is told so.
type hangs struct {
	core.RaceDecider
	hang atomic.Bool
}

func (h *hangs) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if h.hang.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.RaceDecider.ReadCurrent(ctx)
}

// TestAReadThatHangs at the end of the term tells nothing about who leads.
func TestAReadThatHangs(t *testing.T) {
	var store *hangs
	opts := &legrpc.Options{PollInterval: time.Hour, Open: func(context.Context, string) (core.RaceDecider, error) { return store, nil }}
	play(t, opts, func(s *scene) { s.leads("a"); store = &hangs{RaceDecider: s.store} }, func(s *scene) {
		s.expect("a leads", "[a.example:443]")
		store.hang.Store(true)
		time.Sleep(over)
		s.expect("its term is over", "[]", `~the term of "a" is over, and who leads now is not known: no answer yet`)
	})
}

// TestWhatIsSaidIsTrue: an error of the store is told as long as it is all that is known,
// and no longer.
func TestWhatIsSaidIsTrue(t *testing.T) {
	play(t, nil, nil, func(s *scene) {
		s.expect("nothing is stored", "~nobody leads: nothing is stored")
		step := func(what string, play func(), want ...string) {
			t.Helper()
			play()
			time.Sleep(poll)
			s.expect(what, want...)
		}
		nothing := func() {}
		step("an error", func() { s.store.FailNext(1, errors.New("503")) }, "~who leads now is not known: 503")
		step("none any more", nothing, "~nobody leads: nothing is stored")
		step("rubbish", func() { s.store.PlantRaw([]byte("rubbish")) }, "~who leads now is not known: ")
		step("deleted", s.store.Delete, "~nobody leads: nothing is stored")
		step("b leads", func() { s.leads("b") }, "[b.example:443]")
		step("a blip", func() { s.store.FailNext(1, errors.New("503")) })
		time.Sleep(over)
		s.expect("the term is over, and reads work", "[]", `~the term of "b" is over, and nobody has followed`)
		step("an error", func() { s.store.FailNext(1, errors.New("503")) }, `~the term of "b" is over, and who leads now is not known: 503`)
		step("none any more", nothing, `~the term of "b" is over, and nobody has followed`)
		step("c has no address", func() { s.leads("c", func(e *entry.RaceEntry) { e.HostPort = nil }) }, `~the leader "c" gives no address`)
		step("an error", func() { s.store.FailNext(1, errors.New("503")) }, `~who leads now is not known: 503`)
		step("none any more", nothing, `~the leader "c" gives no address`)
	})
}

// TestLogsEachKindOfChangeOnce, though the words differ at every read.
func TestLogsEachKindOfChangeOnce(t *testing.T) {
	play(t, nil, func(s *scene) { s.leads("a") }, func(s *scene) {
		s.expect("a leads", "[a.example:443]")
		port := 40000
		for range 30 {
			port++
			s.store.FailNext(1, fmt.Errorf("dial 127.0.0.1:%d: connection refused", port))
			time.Sleep(poll)
		}
		if told := s.take(); len(told) < 10 {
			t.Errorf("calls are told %q, want the newest error", told)
		}
		s.store.FailNext(3, core.ErrBroken)
		time.Sleep(3 * poll)
		for what, want := range map[string]int{"no leader to go to": 1, "the election cannot be read": 2, "can be read again": 0} {
			if n := s.log.count(what); n != want {
				t.Errorf("logged %d times %q, want %d:\n%s", n, what, want, s.log.text.String())
			}
		}
		time.Sleep(poll)
		if n := s.log.count("can be read again"); n != 1 {
			t.Errorf("logged %d times that the store is back", n)
		}
	})
}

// TestServiceConfigOfAnEntryWithoutALeader is for the calls that wait for one.
func TestServiceConfigOfAnEntryWithoutALeader(t *testing.T) {
	params := func(e *entry.RaceEntry) { e.ConnectionParams = []byte(`{"name":"one"}`) }
	for name, tc := range map[string]struct {
		plant func(s *scene)
		want  string
	}{
		"vacant": {func(s *scene) {
			e := s.store.Lead("", term)
			params(&e)
			s.store.Plant(e)
		}, "~nobody leads: the last leader has resigned"},
		"held":       {func(s *scene) { s.leads("a", params, func(e *entry.RaceEntry) { e.Held = true }) }, "~has finished"},
		"no address": {func(s *scene) { s.leads("a", params, func(e *entry.RaceEntry) { e.HostPort = nil }) }, "~gives no address"},
		"expired": {func(s *scene) {
			s.store.SetClock(clocks.DefaultClock())
			now := time.Now()
			s.leads("a", params, func(e *entry.RaceEntry) { e.SentBy = now })
			time.Sleep(24 * time.Hour)
		}, "~is over, by the store's own clock"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, nil, tc.plant, func(s *scene) {
				s.expect("at once", "[ one]", tc.want)
				s.leads("b", func(e *entry.RaceEntry) { e.ConnectionParams = []byte(`{"name":"two"}`) })
				time.Sleep(poll)
				s.expect("b leads", "[b.example:443 two]")
				if name == "expired" { // which takes a term
					return
				}
				tc.plant(s)
				time.Sleep(poll)
				s.expect("again", "[ two]", "[ one]", tc.want)
			})
		})
	}
}

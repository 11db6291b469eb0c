package httpleader_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/httpleader"
)

func TestState(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.replica("a", time.Hour, httpleader.Options{}, says(""))
		b := w.replica("b", -time.Hour, httpleader.Options{}, says(""))
		time.Sleep(time.Minute + time.Second)
		for _, r := range []*replica{a, b} {
			st := state(t, r.Election)
			if st.Candidate != r.name || st.Leading != (r == a) || st.State != "leading" || st.LeaderID != "a" ||
				st.HostPort[0] != "a:80" || st.FencingToken < 1 || st.TermMS != 15000 || st.TimeLeftMS <= 5000 || st.TimeLeftMS > 15000 ||
				st.LastReadMS > 5000 || !st.Healthy || st.Error != "" {
				t.Errorf("%s: %+v", r.name, st)
			}
			want(t, r.name, get(r.HealthHandler()), 200, "ok: ")
		}
	})
}

func TestStatesOfTheElection(t *testing.T) {
	for _, c := range []struct {
		want  string
		plant func(d *memory.Decider)
	}{
		{"bad", func(d *memory.Decider) { d.PlantRaw([]byte("hello")) }},
		{"absent", func(d *memory.Decider) { d.Delete() }},
		{"held", func(d *memory.Decider) {
			e := d.Lead("x", time.Hour)
			e.Held = true
			d.Plant(e)
		}},
	} {
		bubble(t, func(t *testing.T, w *world) {
			w.store.Lead("other", time.Hour)
			a := w.replica("a", 0, httpleader.Options{}, says(""))
			c.plant(w.store)
			time.Sleep(2 * poll)
			if st := state(t, a.Election); st.State != c.want || !st.Healthy {
				t.Errorf("state %+v, want %s", st, c.want)
			}
		})
	}
}

func TestHealthOfALeaderThatCannotRenew(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.replica("a", time.Hour, httpleader.Options{}, says(""))
		time.Sleep(time.Minute + time.Second) // renewals are every 5 s
		a.store.FailNext(1000, errNet)
		time.Sleep(5 * time.Second)
		want(t, "one renewal missed", get(a.HealthHandler()), 200, "leading")
		time.Sleep(6 * time.Second)
		want(t, "two renewals missed", get(a.HealthHandler()), 503, "not renewed for")
		want(t, "two renewals missed", get(a.HealthHandler()), 503, "connection reset")
		time.Sleep(term)
		want(t, "a follower by now", get(a.HealthHandler()), 503, "no answer from the store")
		if st := state(t, a.Election); st.State != "unknown" || !strings.Contains(st.Error, "connection reset") {
			t.Errorf("state %+v", st)
		}
		a.store.FailNext(0, nil)
		time.Sleep(2 * term)
		want(t, "the store is back", get(a.HealthHandler()), 200, "leading")
	})
}

func TestHealthOfAFollowerThatCannotRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.replica("a", 0, httpleader.Options{}, says(""))
		b := w.replica("b", time.Hour, httpleader.Options{FollowerStale: 10 * time.Second}, says(""))
		time.Sleep(time.Minute)
		b.store.FailNext(1000, errNet)
		time.Sleep(5 * time.Second)
		want(t, "a read missed", get(b.HealthHandler()), 200, "following")
		time.Sleep(10 * time.Second)
		want(t, "too many", get(b.HealthHandler()), 503, "connection reset")
	})
}

// Work that ignores the end of its reign keeps the process from campaigning:
// somebody should restart it.
func TestHealthWithARequestThatIgnoresItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		release := make(chan struct{})
		a := w.replica("a", 0, httpleader.Options{}, handlerFunc(func() { <-release }))
		go get(a)
		synctest.Wait()
		w.store.Lead("operator", time.Second)
		time.Sleep(2 * term)
		want(t, "stuck", get(a.HealthHandler()), 503, "no answer from the store")
		close(release)
		time.Sleep(term)
		want(t, "free again", get(a.HealthHandler()), 200, "leading")
	})
}

func TestHealthAfterTheElectionHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.store.Lead("other", time.Hour)
		a := w.replica("a", 0, httpleader.Options{}, says(""))
		a.store.FailNext(1, core.ErrBroken)
		<-a.ended
		want(t, "ended", get(a.HealthHandler()), 503, "the election has ended")
	})
}

// With a campaign of one's own.
func TestLead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var told int
		e, err := httpleader.New(core.Config{LeaderID: "a", Decider: w.store, OnEvent: func(core.Event) { told++ }}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := e.Handler(says("served"))
		err = e.Config().RunAsLeader(context.Background(), func(ctx context.Context, l *core.Leadership) error {
			defer e.Lead(l)()
			want(t, "leading", get(h), 200, "served")
			return nil
		})
		if err != nil || told == 0 {
			t.Errorf("%v, %d events", err, told)
		}
		want(t, "not leading", get(h), 503, "does not lead")
		if st := state(t, e); st.State != "vacant" {
			t.Errorf("state %+v", st)
		}
	})
}

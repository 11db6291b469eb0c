package netfault_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// background performs a request and hands its reply over when it is there.
func (g *rig) background(ctx context.Context, body string) <-chan reply {
	done := make(chan reply, 1)
	go func() { done <- g.do(ctx, "PUT", "/o", body) }()
	return done
}

// until waits for another goroutine to get somewhere; it fails only if it never does.
func until(t *testing.T, what string, there func() bool) {
	t.Helper()
	for range 30_000 {
		if there() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

func TestDelaysBeforeAndAfter(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		inject(t, g,
			netfault.Fault{Kind: netfault.Delay, For: time.Minute, Count: 1},
			netfault.Fault{Kind: netfault.DelayAfter, For: time.Hour, Count: 1})
		done := g.background(context.Background(), "x")
		g.clock.AwaitSleepers(1)
		if n := len(g.backend.seen()); n != 0 {
			t.Fatalf("the server saw %d requests before the delay was over", n)
		}
		g.clock.Advance(time.Minute)
		until(t, "the request is applied", func() bool { return len(g.backend.seen()) == 1 })
		g.clock.AwaitSleepers(1)
		select {
		case got := <-done:
			t.Fatalf("answered before the second delay was over: %+v", got)
		default:
		}
		g.clock.Advance(time.Hour)
		if got := <-done; got.err != nil || got.body != "echo x" {
			t.Errorf("answer %+v", got)
		}
		if r := g.last(); r.Fault != "delay 1m0s + delay-after 1h0m0s" {
			t.Errorf("record %s", r)
		}
	})
}

// The late write: it lands although, and after, its client has given up.
func TestDelayedRequestArrivesWithoutItsClient(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		inject(t, g, netfault.Fault{Kind: netfault.Delay, For: time.Minute, Count: 1})
		ctx, giveUp := context.WithCancel(context.Background())
		done := g.background(ctx, "late")
		g.clock.AwaitSleepers(1)
		giveUp()
		if got := <-done; !errors.Is(got.err, context.Canceled) {
			t.Fatalf("the client got %+v", got)
		}
		if got := g.put("meanwhile"); got.err != nil {
			t.Fatal(got.err)
		}
		g.clock.Advance(time.Minute)
		until(t, "the late request is done", func() bool { return g.Requests()[0].Done })
		seen := g.backend.seen()
		if len(seen) != 2 || seen[0] != "PUT /o meanwhile" || seen[1] != "PUT /o late" {
			t.Errorf("the server saw %q", seen)
		}
	})
}

func TestHangUntilTheClientGivesUp(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		for _, kind := range []netfault.Kind{netfault.Hang, netfault.HangAfter} {
			inject(t, g, netfault.Fault{Kind: kind, Count: 1})
			ctx, giveUp := context.WithCancel(context.Background())
			before := len(g.Requests())
			done := g.background(ctx, "x")
			until(t, "the request is there", func() bool {
				all := g.Requests()
				return len(all) > before && (kind == netfault.Hang || all[before].ServerStatus == 200)
			})
			giveUp()
			if got := <-done; !errors.Is(got.err, context.Canceled) {
				t.Errorf("%s: the client got %+v", kind, got)
			}
			until(t, "the hanging request has ended", func() bool { return g.last().Done })
		}
		if seen := g.backend.seen(); len(seen) != 1 {
			t.Errorf("the server saw %d requests, want that of hang-after only", len(seen))
		}
	})
}

// Close must not wait for anybody's patience.
func TestCloseEndsWhatWaits(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		inject(t, g,
			netfault.Fault{Kind: netfault.Hang, Count: 1},
			netfault.Fault{Kind: netfault.HangAfter, Count: 1})
		first := g.background(context.Background(), "hang")
		until(t, "first", func() bool { return len(g.Requests()) == 1 })
		second := g.background(context.Background(), "hang-after")
		until(t, "second", func() bool { return len(g.Requests()) == 2 })
		inject(t, g, netfault.Fault{Kind: netfault.Delay, For: time.Hour})
		third := g.background(context.Background(), "delay")
		g.clock.AwaitSleepers(1)

		g.close()
		for _, done := range []<-chan reply{first, second, third} {
			if got := <-done; got.err == nil {
				t.Errorf("answered: %+v", got)
			}
		}
		for _, r := range g.Requests() {
			if !r.Done {
				t.Errorf("under way after Close: %s", r)
			}
		}
		if got := g.put("after"); got.err == nil {
			t.Errorf("answered after Close: %+v", got)
		}
	})
}

// A request without a body hangs and ends like any other.
func TestHangOfARead(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		inject(t, g, netfault.Fault{Kind: netfault.Hang})
		ctx, giveUp := context.WithCancel(context.Background())
		defer giveUp()
		request, err := http.NewRequestWithContext(ctx, "GET", g.root+"/o", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for len(g.Requests()) == 0 {
				time.Sleep(time.Millisecond)
			}
			giveUp()
		}()
		if response, err := g.client.Do(request); err == nil {
			response.Body.Close()
			t.Errorf("answered with %d", response.StatusCode)
		}
		until(t, "the hanging request has ended", func() bool { return g.last().Done })
	})
}

func TestManyClientsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		const clients, each = 8, 20
		inject(t, g, netfault.Fault{Kind: netfault.LoseAnswer, Count: 10}, netfault.Fault{Kind: netfault.Status, Status: 503, Count: 30})
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for range each {
					g.put("x")
				}
			})
		}
		wg.Wait()
		met := map[string]int{}
		for _, r := range g.Requests() {
			met[r.Fault]++
		}
		if met["lose-answer"] != 10 || met["status 503"] != 30 || met[""] != clients*each-40 {
			t.Errorf("faults met: %v", met)
		}
		if n := len(g.backend.seen()); n != clients*each-30 {
			t.Errorf("the server saw %d requests, want %d", n, clients*each-30)
		}
	})
}

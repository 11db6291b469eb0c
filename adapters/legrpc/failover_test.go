package legrpc_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/status"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core/memory"
)

// TestFailOverUnderLoad: three real servers campaign while channels send calls. The
// leader resigns, is cut off from the store, and is killed. Every call succeeds, and
// the journal shows none that went where it must not.
func TestFailOverUnderLoad(t *testing.T) {
	defer goleak.VerifyNone(t)
	j, store := new(journal), memory.NewDecider()
	store.SetClock(clocks.DefaultClock())
	servers := map[string]*candidate{}
	for range 3 {
		c := runCandidate(t, j, store.Handle(), 2*time.Second)
		servers[c.addr] = c
	}
	j.untilWon(t)
	stop := make(chan struct{})
	var load sync.WaitGroup
	var channels []*grpc.ClientConn
	for i := range 2 {
		client := fmt.Sprint("client", i)
		cc, _ := dial(t, j, store, client, 100*time.Millisecond)
		channels = append(channels, cc)
		var calls atomic.Int64
		for range 6 {
			load.Go(func() { callUntil(t, stop, j, cc, client, &calls) })
		}
		load.Go(func() { streamUntil(t, stop, cc) })
	}

	leader := j.handledBy(t, func(happening) bool { return true })
	for _, fault := range []struct {
		name string
		play func(c *candidate)
	}{
		{"resigns", func(c *candidate) { c.resign <- struct{}{} }},
		{"is cut off", func(c *candidate) { c.store.off.Store(true) }},
		{"is killed", func(c *candidate) { c.kill() }},
	} {
		old := leader
		fault.play(servers[old.server])
		leader = j.handledBy(t, func(h happening) bool { return h.token > old.token })
		t.Logf("%s %s; %s leads with token %d", old.server, fault.name, leader.server, leader.token)
		for _, c := range servers { // who has stepped down or was cut off is back for the next round
			c.store.off.Store(c.killed())
		}
		select {
		case servers[old.server].again <- struct{}{}:
		default:
		}
	}
	close(stop)
	load.Wait()
	for _, cc := range channels {
		cc.Close()
	}
	for _, c := range servers {
		c.kill()
	}
	judge(t, j.all())
}

// handledBy waits until a call is handled that is like this, from now on.
func (j *journal) handledBy(t *testing.T, is func(h happening) bool) happening {
	t.Helper()
	return j.eventually(t, "a call is handled by the next leader", len(j.all()), func(h happening) bool {
		return h.what == "handled" && is(h)
	})
}

func callUntil(t *testing.T, stop chan struct{}, j *journal, cc *grpc.ClientConn, client string, calls *atomic.Int64) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
			callOnce(t, j, cc, client, int(calls.Add(1)))
		}
	}
}

// streamUntil keeps a stream going, and opens another when it ends.
func streamUntil(t *testing.T, stop chan struct{}, cc *grpc.ClientConn) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	for {
		ss, err := pb.NewTestServiceClient(cc).FullDuplexCall(ctx)
		for err == nil {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			ss.Send(new(pb.StreamingOutputCallRequest))
			_, err = ss.Recv()
		}
		if status.Code(err) != codes.Unavailable && !legrpc.LeadershipLost(err) {
			t.Errorf("a stream ended with %v", err)
			return
		}
	}
}

// judge reads the journal.
func judge(t *testing.T, lines []happening) {
	t.Helper()
	type reign struct {
		server string
		token  int64
	}
	lost := map[reign]int{}       // where a leader has been told that it lost
	told := map[string][][2]int{} // by channel: where it was being told of a leader, and had been
	at := map[string][]string{}   // by channel: of which one
	sent := map[string]int{}      // where a call was sent
	answers := map[string]int{}   // by call: how often it was handled
	tokens := map[int64]string{}  // who handled calls with it
	leaders := map[string]bool{}  // who handled calls
	var handled, refused, retried int
	for n, h := range lines {
		switch h.what {
		case "lost":
			lost[reign{h.server, h.token}] = n
		case "telling":
			told[h.client] = append(told[h.client], [2]int{n, len(lines)})
			at[h.client] = append(at[h.client], h.server)
		case "told":
			i := slices.IndexFunc(told[h.client], func(u [2]int) bool { return u[0] == h.since })
			told[h.client][i][1] = n
		case "sent":
			sent[h.call] = n
		case "arrived":
			refused++ // unless it is handled
			// A call that was sent after the channel had been told of an update goes where
			// that one says, or a later one.
			ok := false
			for i := len(told[h.client]) - 1; i >= 0 && !ok; i-- {
				ok = at[h.client][i] == h.server
				if told[h.client][i][1] < sent[h.call] {
					break
				}
			}
			if !ok {
				t.Errorf("line %d: call %s went to %s, long after the channel was told of another leader: %v at %v", n, h.call, h.server, at[h.client], told[h.client])
			}
		case "handled":
			handled, refused = handled+1, refused-1
			if h.retry {
				retried++
			}
			answers[h.call]++
			leaders[h.server] = true
			if at, over := lost[reign{h.server, h.token}]; over && at < h.since {
				t.Errorf("line %d: %s handled call %s with token %d, which had come after it was told that it lost", n, h.server, h.call, h.token)
			}
			if by, known := tokens[h.token]; known && by != h.server {
				t.Errorf("line %d: %s and %s handle calls with token %d", n, by, h.server, h.token)
			}
			tokens[h.token] = h.server
		}
	}
	for call := range sent {
		if answers[call] == 0 {
			t.Errorf("call %s was handled by nobody", call)
		}
	}
	if len(tokens) < 4 || len(leaders) < 2 {
		t.Errorf("calls were handled with the tokens %v, want those of four reigns", tokens)
	}
	t.Logf("%d calls, handled %d times (%d after a retry) and refused %d times, under %d reigns", len(sent), handled, retried, refused, len(tokens))
}

// TestARefusedCallIsSentAgain by the retry policy that came from the leader's
// ConnectionParams, and reaches the next leader.
func TestARefusedCallIsSentAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	j, store := new(journal), memory.NewDecider()
	store.SetClock(clocks.DefaultClock())
	a := runCandidate(t, j, store.Handle(), time.Hour)
	defer a.kill()
	j.untilWon(t)
	cc, spy := dial(t, j, store, "client", time.Hour)
	defer cc.Close()
	callOnce(t, j, cc, "client", 1) // nothing asks for another read here: it might come while nobody leads
	r := <-spy.built

	b := runCandidate(t, j, store.Handle(), time.Hour)
	defer b.kill()
	a.resign <- struct{}{}
	j.eventually(t, "the old leader is told that it lost", 0, func(h happening) bool { return h.what == "lost" && h.server == a.addr })
	second := make(chan struct{})
	from := len(j.all())
	go func() {
		defer close(second)
		callOnce(t, j, cc, "client", 2) // to a, for all that the channel knows
	}()
	j.eventually(t, "the call reaches the old leader", from, func(h happening) bool { return h.what == "arrived" && h.call == "client/2" })
	h := j.untilHandled(t, r, "client/2")
	<-second
	if h.server != b.addr || !h.retry {
		t.Errorf("handled by %s (a retry: %v), want %s", h.server, h.retry, b.addr)
	}
}

// untilHandled asks for resolutions until the call is handled.
func (j *journal) untilHandled(t *testing.T, r resolver.Resolver, call string) happening {
	t.Helper()
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				r.ResolveNow(resolver.ResolveNowOptions{})
			}
		}
	})
	defer func() { close(stop); asking.Wait() }()
	return j.eventually(t, call+" is handled", 0, func(h happening) bool { return h.what == "handled" && h.call == call })
}

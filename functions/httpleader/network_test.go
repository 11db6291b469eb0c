package httpleader_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/httpleader"
)

// Two servers on the loopback, with the transport that Options leave out.
func TestForwardOverTheNetwork(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	defer runs.Wait()
	defer cancel()
	store := memory.NewDecider()
	closed := make(chan string, 16)
	start := func(name string) *httptest.Server {
		ready := make(chan struct{})
		known := sync.OnceFunc(func() { close(ready) })
		server := httptest.NewUnstartedServer(nil)
		e, err := httpleader.New(core.Config{
			LeaderID: name, HostPort: []string{server.Listener.Addr().String()}, Decider: store.Handle(),
			OnElected: func(context.Context, *core.TimeView) { known() },
			OnEvent: func(ev core.Event) {
				if ev.Kind == core.EventWaiting {
					known()
				}
			},
		}, &httpleader.Options{Forward: true})
		if err != nil {
			t.Fatal(err)
		}
		server.Config.Handler = e.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, name+" got "+string(body))
		}))
		server.Config.ConnState = func(c net.Conn, s http.ConnState) {
			if s == http.StateClosed {
				closed <- c.RemoteAddr().String()
			}
		}
		server.Start()
		runs.Go(func() { _ = e.Run(ctx) })
		<-ready
		return server
	}
	leader := start("a")
	defer leader.Close()
	follower := start("b")
	defer follower.Close()

	client := follower.Client()
	defer client.CloseIdleConnections()
	for _, url := range []string{leader.URL, follower.URL} {
		for range 2 {
			resp, err := client.Post(url, "text/plain", strings.NewReader("a body"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != 200 || string(body) != "a got a body" {
				t.Errorf("%s: %d %q %v", url, resp.StatusCode, body, err)
			}
		}
	}
	cancel()
	runs.Wait()
	select {
	case <-closed: // the follower's connection to the leader; the client's stay
	case <-time.After(time.Minute):
		t.Error("Run has left a connection open")
	}
}

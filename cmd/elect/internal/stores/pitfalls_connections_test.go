package stores_test

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/gcs"
)

// road is the way to a server. Its connections can die: with a reset, or
// without a word, as those do that a network forgot while their host was frozen.
type road struct {
	net.Listener
	to   string
	done sync.WaitGroup

	mu    sync.Mutex
	alive map[*net.TCPConn]bool // false: what arrives is thrown away
}

func newRoad(t *testing.T, to string) *road {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &road{Listener: l, to: to, alive: map[*net.TCPConn]bool{}}
	r.done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", r.to)
			if err != nil {
				c.Close()
				continue
			}
			r.mu.Lock()
			r.alive[c.(*net.TCPConn)], r.alive[s.(*net.TCPConn)] = true, true
			r.mu.Unlock()
			r.done.Go(func() { r.carry(c.(*net.TCPConn), s.(*net.TCPConn)) })
			r.done.Go(func() { r.carry(s.(*net.TCPConn), c.(*net.TCPConn)) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.kill(true)
		r.done.Wait()
	})
	return r
}

func (r *road) carry(from, to *net.TCPConn) {
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		r.mu.Lock()
		ok := r.alive[from]
		r.mu.Unlock()
		if ok && n > 0 {
			_, err = to.Write(b[:n])
		}
		if err != nil {
			return
		}
	}
}

// kill ends what connections there are.
func (r *road) kill(reset bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.alive {
		r.alive[c] = false
		if reset {
			_ = c.SetLinger(0)
			c.Close()
		}
	}
}

// renew renews, and gives up on the first request soon: it may be on a dead
// connection. The second one has all the time that it is given by the election.
func renew(t *testing.T, l *core.Leadership, n int) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if n == 0 {
		defer time.AfterFunc(300*time.Millisecond, cancel).Stop()
	}
	return l.Renew(ctx)
}

// ConductorOne/baton-sdk#1007: after a freeze the pooled connections were dead, and
// requests on them failed or hung. Here one request at most finds out, the next
// one is sent on a new connection, and neither the reign nor its end is lost.
func TestPitfall_DeadConnectionsAfterAFreeze(t *testing.T) {
	keys(t)
	objects, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(objects.Close)
	tables := map[string]string{"elections": "election"}
	for name, c := range map[string]struct{ server, url string }{
		"gs":       {objects.URL(), "gs://elections/a"},
		"s3":       {startS3(t).URL(), "s3://elections/a"},
		"dynamodb": {startDynamoDB(t, tables).URL(), "dynamodb://elections/a"},
	} {
		for how, reset := range map[string]bool{"reset": true, "silent": false} {
			t.Run(name+", "+how, func(t *testing.T) {
				u, err := url.Parse(c.server)
				if err != nil {
					t.Fatal(err)
				}
				way := newRoad(t, u.Host)
				address := c.url + "-" + how
				if name == "gs" {
					t.Setenv("STORAGE_EMULATOR_HOST", way.Addr().String())
				} else {
					address += "?endpoint=http://" + way.Addr().String()
				}
				s := open(t, address)
				l, err := core.Config{LeaderID: "a", Decider: s.Decider, TermLength: time.Minute, ManualRenew: true}.Campaign(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					way.kill(reset)
					before := l.LastRenewed()
					for n := 0; !l.LastRenewed().After(before); n++ {
						if err := renew(t, l, n); n > 0 && err != nil {
							t.Fatalf("a second request failed: %v", err)
						}
						if err := l.Check(); err != nil {
							t.Fatalf("the reign was lost: %v", err)
						}
					}
				}
				if err := l.Resign(t.Context()); err != nil {
					t.Errorf("Resign: %v", err)
				}
			})
		}
	}
}

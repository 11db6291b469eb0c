package netfault_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimeo/go-clocks/fake"
	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// What runs already was started by the init of a dependency of the SDK
// (go.opencensus.io/stats/view), not by a test.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// The server's date, far from this process's: whoever invents one is found out.
var serverDate = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// backend notes what reaches the server and echoes its body.
type backend struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newBackend(t *testing.T) *backend {
	b := &backend{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.got = append(b.got, r.Method+" "+r.URL.Path+" "+string(body))
		n := len(b.got)
		b.mu.Unlock()
		w.Header().Set("Date", serverDate.Format(http.TimeFormat))
		w.Header().Set("X-Number", string(rune('0'+n)))
		w.Write([]byte("echo " + string(body)))
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.got...)
}

// rig is a client, an injector and a server: once as a proxy, once as a transport.
type rig struct {
	*netfault.Injector
	backend *backend
	client  *http.Client
	root    string
	clock   *fake.Clock
	close   func()
}

func both(t *testing.T, test func(t *testing.T, g *rig)) {
	start := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	t.Run("proxy", func(t *testing.T) {
		b, clock := newBackend(t), fake.NewClock(start)
		proxy, err := netfault.Listen(b.URL, &netfault.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		own := newOwn()
		t.Cleanup(func() { own.CloseIdleConnections(); proxy.Close() })
		test(t, &rig{proxy.Injector, b, &http.Client{Transport: own}, proxy.URL(), clock, proxy.Close})
	})
	t.Run("transport", func(t *testing.T) {
		b, clock := newBackend(t), fake.NewClock(start)
		own := newOwn()
		transport, err := netfault.NewTransport(own, &netfault.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { transport.Close(); own.CloseIdleConnections() })
		test(t, &rig{transport.Injector, b, &http.Client{Transport: transport}, b.URL, clock, transport.Close})
	})
}

// newOwn is a client's transport. A connection that was dialled for a request which had
// ended by then comes to rest after CloseIdleConnections: it ends by itself.
func newOwn() *http.Transport { return &http.Transport{IdleConnTimeout: 100 * time.Millisecond} }

type reply struct {
	status int
	body   string
	header http.Header
	err    error
}

func (g *rig) do(ctx context.Context, method, path, body string) reply {
	request, err := http.NewRequestWithContext(ctx, method, g.root+path, strings.NewReader(body))
	if err != nil {
		return reply{err: err}
	}
	response, err := g.client.Do(request)
	if err != nil {
		return reply{err: err}
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, string(content), response.Header, err}
}

func (g *rig) put(body string) reply { return g.do(context.Background(), "PUT", "/o", body) }

func inject(t *testing.T, g *rig, faults ...netfault.Fault) {
	t.Helper()
	if err := g.Inject(faults...); err != nil {
		t.Fatal(err)
	}
}

// last is the record of the newest request.
func (g *rig) last() netfault.Request {
	all := g.Requests()
	return all[len(all)-1]
}

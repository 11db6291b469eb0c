package legrpc

import (
	"context"
	"sync"

	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
)

// Gate is the Leader of a server whose candidate wins more than once: it asks the
// leadership that it was given last. The zero Gate has none, and lets nobody in, like
// a nil one, which cannot be opened. It is safe for concurrent use.
type Gate struct {
	mu     sync.RWMutex
	leads  *core.Leadership
	forget func() bool // the wait for the leadership's end
	health HealthSetter
	of     []string
}

// Open lets calls in while l lasts, and no longer; nil lets nobody in, nor does a
// Leadership that no election made. Call it for each
// win, in OnElected (with core.FromContext) or after Campaign. There is
// nothing to close: the leadership's end is enough. A client that has seen the win
// already is refused until then, and calls again.
func (g *Gate) Open(l *core.Leadership) {
	if g == nil {
		return
	}
	if !begun(l) {
		l = nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.forget != nil {
		g.forget()
		g.forget = nil
	}
	g.leads = l
	g.report()
	if l == nil {
		return
	}
	g.forget = context.AfterFunc(l.Context(), func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.report() // of the present leadership, which may be a later one
	})
}

// Check returns nil while this server leads, by its clocks.
func (g *Gate) Check() error {
	if l := g.leadership(); l != nil {
		return l.Check()
	}
	return ErrNotLeader
}

// Bind is that of the present leadership. If there is none the context has ended already,
// with ErrNotLeader.
func (g *Gate) Bind(ctx context.Context) (context.Context, context.CancelFunc) {
	if l := g.leadership(); l != nil {
		return l.Bind(ctx)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	bound, cancel := context.WithCancelCause(ctx)
	cancel(ErrNotLeader)
	return bound, func() {}
}

// begun tells whether l is one that an election made.
func begun(l *core.Leadership) bool { return l != nil && l.Context() != nil }

func (g *Gate) leadership() *core.Leadership {
	if g == nil {
		return nil
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.leads
}

// HealthSetter is what a Gate needs of a *health.Server.
type HealthSetter interface {
	SetServingStatus(service string, s grpc_health_v1.HealthCheckResponse_ServingStatus)
}

// ReportTo makes h say SERVING for these services while this server leads, and NOT_SERVING
// otherwise. Name the services that only a leader serves; the empty name, the whole
// server, would make those who wait look ill to whatever starts and stops them.
func (g *Gate) ReportTo(h HealthSetter, services ...string) {
	if g == nil {
		g = new(Gate)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.health, g.of = h, services
	g.report()
}

func (g *Gate) report() {
	if null.Is(g.health) {
		return
	}
	s := grpc_health_v1.HealthCheckResponse_NOT_SERVING
	if g.leads != nil && g.leads.Context().Err() == nil && g.leads.Check() == nil {
		s = grpc_health_v1.HealthCheckResponse_SERVING
	}
	for _, name := range g.of {
		g.health.SetServingStatus(name, s)
	}
}

package legrpc

import (
	"context"
	"strings"

	"google.golang.org/grpc"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
)

// Leader is what the interceptors ask: a *core.Leadership, or a *Gate in a server that
// leads more than once.
type Leader interface {
	// Check returns nil while this server leads.
	Check() error
	// Bind returns a context that ends with ctx or with the leadership.
	Bind(ctx context.Context) (context.Context, context.CancelFunc)
}

// ServerOptions are the interceptors'. nil is as good as the zero value.
type ServerOptions struct {
	// Free tells which methods ("/package.Service/Method") are served whether or not
	// this server leads. The health service always is.
	Free func(fullMethod string) bool
}

func (o *ServerOptions) free(method string) bool {
	return strings.HasPrefix(method, "/grpc.health.v1.Health/") || o != nil && o.Free != nil && o.Free(method)
}

// UnaryServerInterceptor refuses calls while leader's Check fails, with an error
// that NotLeader finds. The context of a call that is let in ends with the leadership,
// and core.FromContext finds it there. A call whose handler then returns the context's
// error, its cause or a status Canceled ends with an error that LeadershipLost finds;
// every other result is the handler's own, a success too. A nil leader refuses every
// call.
func UnaryServerInterceptor(leader Leader, opts *ServerOptions) grpc.UnaryServerInterceptor {
	leader = orGate(leader)
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if opts.free(info.FullMethod) {
			return handler(ctx, req)
		}
		if err := leader.Check(); err != nil {
			return nil, refused(err)
		}
		bound, cancel := leader.Bind(ctx)
		defer cancel()
		resp, err := handler(bound, req)
		return resp, ended(ctx, bound, err)
	}
}

// StreamServerInterceptor is the same for streams. A stream that was let in ends with
// the leadership: its context does, and what waits in its Send or Recv returns an
// error that LeadershipLost finds. For that, they copy the message; one that is no
// proto.Message is waited for instead.
func StreamServerInterceptor(leader Leader, opts *ServerOptions) grpc.StreamServerInterceptor {
	leader = orGate(leader)
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if opts.free(info.FullMethod) {
			return handler(srv, ss)
		}
		if err := leader.Check(); err != nil {
			return refused(err)
		}
		bound, cancel := leader.Bind(ss.Context())
		defer cancel()
		return ended(ss.Context(), bound, handler(srv, &stream{ss, bound}))
	}
}

// orGate returns a leader that can be asked: nil and a zero Leadership lead nothing.
func orGate(leader Leader) Leader {
	if l, ok := leader.(*core.Leadership); null.Is(leader) || ok && !begun(l) {
		return new(Gate)
	}
	return leader
}

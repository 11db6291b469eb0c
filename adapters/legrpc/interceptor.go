package legrpc

import (
	"context"
	"strings"

	"google.golang.org/grpc"

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
// and core.FromContext finds it there. A nil leader refuses every call.
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
// error that LeadershipLost finds.
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

func orGate(leader Leader) Leader {
	if isNil(leader) {
		return new(Gate)
	}
	return leader
}

// stream is a server's side of a stream that ends with the leadership.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) SendMsg(m any) error {
	return s.await(func() error { return s.ServerStream.SendMsg(m) })
}

// RecvMsg looks at the clocks once more when there is a message: it may have been long
// in coming.
func (s *stream) RecvMsg(m any) error {
	if err := s.await(func() error { return s.ServerStream.RecvMsg(m) }); err != nil {
		return err
	}
	return s.over()
}

// await returns what f does, or an error as soon as the leadership has ended. f
// then returns when the handler has: gRPC ends the stream there.
func (s *stream) await(f func() error) error {
	if err := s.over(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		return s.over()
	}
}

// over returns an error once the stream or the leadership has ended. It asks the clocks,
// which know before the context does.
func (s *stream) over() error {
	if err := s.ServerStream.Context().Err(); err != nil { // the call's own end
		return err
	}
	if l, ok := core.FromContext(s.ctx); ok {
		if err := l.Check(); err != nil {
			return lost(err)
		}
	}
	if s.ctx.Err() != nil {
		return lost(context.Cause(s.ctx))
	}
	return nil
}

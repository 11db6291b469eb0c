package legrpc

import (
	"context"
	"runtime"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cloudelect/cloudelect/adapters/internal/null"
	"github.com/cloudelect/cloudelect/core"
)

// stream is a server's side of a stream that ends with the leadership.
//
// gRPC has no way to make a Recv or Send that waits return before the handler
// does. So they run on a goroutine each, which is left behind when the leadership
// ends and ends with the call. What is left behind must not touch the message: it
// is the handler's again, who may have given it to another call already.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *stream) Context() context.Context { return s.ctx }

// SendMsg sends a copy of m.
func (s *stream) SendMsg(m any) error {
	if err := s.over(); err != nil {
		return err
	}
	p, ok := message(m)
	if !ok {
		return s.ServerStream.SendMsg(m)
	}
	its := proto.Clone(p)
	return s.await(func() error { return s.ServerStream.SendMsg(its) })
}

// RecvMsg receives into a message of its own, and moves that into m. It looks at the
// clocks once more when there is one: it may have been long in coming.
func (s *stream) RecvMsg(m any) error {
	if err := s.over(); err != nil {
		return err
	}
	p, ok := message(m)
	if !ok {
		if err := s.ServerStream.RecvMsg(m); err != nil {
			return err
		}
		return s.over()
	}
	its := p.ProtoReflect().New().Interface()
	if err := s.await(func() error { return s.ServerStream.RecvMsg(its) }); err != nil {
		return err
	}
	if err := s.over(); err != nil {
		return err
	}
	move(p, its)
	return nil
}

// message tells whether m can be copied. Others, of codecs of the server's own, are
// waited for in the handler's goroutine.
func message(m any) (proto.Message, bool) {
	p, ok := m.(proto.Message)
	return p, ok && !null.Is(m) && p.ProtoReflect().IsValid()
}

// move makes to what from is. from is not to be used afterwards: they share what is
// inside.
func move(to, from proto.Message) {
	proto.Reset(to)
	dst, src := to.ProtoReflect(), from.ProtoReflect()
	src.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		dst.Set(field, v)
		return true
	})
	if rest := src.GetUnknown(); len(rest) > 0 {
		dst.SetUnknown(rest)
	}
}

// await returns what f does, or an error as soon as the leadership has ended. f
// then returns when the handler has: gRPC ends the stream there. A panic in f is
// the handler's, where the server's own interceptors recover it; of one that comes
// after the end there is nobody left to tell.
func (s *stream) await(f func() error) error {
	type result struct {
		err      error
		returned bool
		panicked any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			r.panicked = recover()
			done <- r
		}()
		r.err = f()
		r.returned = true
	}()
	select {
	case r := <-done:
		switch {
		case r.panicked != nil:
			panic(r.panicked)
		case !r.returned:
			runtime.Goexit()
		}
		return r.err
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

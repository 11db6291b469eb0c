package legrpc_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// fakeStream is the stream that the interceptor is given.
type fakeStream struct {
	grpc.ServerStream
	ctx        context.Context
	send, recv func(m any) error
}

func (f *fakeStream) Context() context.Context { return f.ctx }
func (f *fakeStream) SendMsg(m any) error      { return f.send(m) }
func (f *fakeStream) RecvMsg(m any) error      { return f.recv(m) }

// handle runs handler below the interceptor, on fake.
func handle(l legrpc.Leader, fake *fakeStream, handler func(ss grpc.ServerStream) error) error {
	return legrpc.StreamServerInterceptor(l, nil)(nil, fake, &grpc.StreamServerInfo{FullMethod: "/a/B"},
		func(_ any, ss grpc.ServerStream) error { return handler(ss) })
}

func body(n int) *pb.Payload { return &pb.Payload{Body: make([]byte, n)} }

// TestAMessageIsTheHandlersAgain when RecvMsg or SendMsg has returned, though what it
// waited for comes afterwards.
func TestAMessageIsTheHandlersAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	waiting, release := make(chan struct{}), make(chan struct{})
	var left sync.WaitGroup
	late := func(f func(m proto.Message)) func(any) error {
		return func(m any) error {
			left.Add(1)
			defer left.Done()
			waiting <- struct{}{}
			<-release
			f(m.(proto.Message))
			return nil
		}
	}
	for name, call := range map[string]func(ss grpc.ServerStream, m *pb.StreamingOutputCallRequest) error{
		"RecvMsg": func(ss grpc.ServerStream, m *pb.StreamingOutputCallRequest) error { return ss.RecvMsg(m) },
		"SendMsg": func(ss grpc.ServerStream, m *pb.StreamingOutputCallRequest) error { return ss.SendMsg(m) },
	} {
		t.Run(name, func(t *testing.T) {
			release = make(chan struct{})
			l := wins(t, memory.NewDecider())
			fake := &fakeStream{ctx: t.Context(),
				recv: late(func(m proto.Message) { proto.Merge(m, &pb.StreamingOutputCallRequest{Payload: body(1234)}) }),
				send: late(func(m proto.Message) {
					if n := len(m.(*pb.StreamingOutputCallRequest).GetPayload().GetBody()); n != 5 {
						t.Errorf("%d bytes were sent, want the 5 of the call", n)
					}
				})}
			go func() {
				<-waiting
				l.Resign(context.Background())
			}()
			m := &pb.StreamingOutputCallRequest{Payload: body(5)}
			err := handle(l, fake, func(ss grpc.ServerStream) error {
				err := call(ss, m)
				close(release) // the handler cleans up, and uses m again
				m.Payload.Body = make([]byte, 7)
				left.Wait()
				return err
			})
			if !legrpc.LeadershipLost(err) || len(m.Payload.Body) != 7 {
				t.Errorf("%v; the message has %d bytes, want the handler's 7", err, len(m.GetPayload().GetBody()))
			}
		})
	}
}

// TestMessagesArriveWhole: all of their fields, unknown ones too, and nothing of what m
// had before.
func TestMessagesArriveWhole(t *testing.T) {
	sent := &pb.StreamingOutputCallRequest{Payload: body(3), ResponseStatus: &pb.EchoStatus{Code: 5, Message: "five"},
		ResponseParameters: []*pb.ResponseParameters{{Size: 1}, {Size: 2}}}
	sent.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 9000, protowire.VarintType), 42))
	bytes, err := proto.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	type own struct{ text string } // of another codec
	fake := &fakeStream{ctx: t.Context(), recv: func(m any) error {
		if o, ok := m.(*own); ok {
			o.text += "!"
			return nil
		}
		return proto.Unmarshal(bytes, m.(proto.Message))
	}, send: func(m any) error {
		if p, ok := m.(proto.Message); ok && !proto.Equal(p, sent) {
			t.Errorf("sent %v", m)
		}
		return nil
	}}
	err = handle(wins(t, memory.NewDecider()), fake, func(ss grpc.ServerStream) error {
		m := &pb.StreamingOutputCallRequest{ResponseType: pb.PayloadType_COMPRESSABLE, OrcaOobReport: new(pb.TestOrcaReport)}
		o := &own{"hello"}
		for _, err := range []error{ss.RecvMsg(m), ss.SendMsg(m), ss.RecvMsg(o), ss.SendMsg(o)} {
			if err != nil {
				return err
			}
		}
		if !proto.Equal(m, sent) {
			t.Errorf("received %v, want %v", m, sent)
		}
		if o.text != "hello!" {
			t.Errorf("received %q", o.text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAPanicInAStream is the handler's: what recovers handlers recovers it.
func TestAPanicInAStream(t *testing.T) {
	defer goleak.VerifyNone(t)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	recovers := func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = status.Error(codes.DataLoss, fmt.Sprint("recovered: ", r))
			}
		}()
		return handler(srv, &fakeStream{ServerStream: ss, ctx: ss.Context(), recv: func(any) error { panic("a validator's") }})
	}
	leader := wins(t, memory.NewDecider())
	srv, served := grpc.NewServer(grpc.ChainStreamInterceptor(recovers, legrpc.StreamServerInterceptor(leader, nil))), make(chan error)
	pb.RegisterTestServiceServer(srv, &service{stream: func(ss grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
		_, err := ss.Recv()
		return err
	}})
	go func() { served <- srv.Serve(lis) }()
	defer func() { srv.Stop(); <-served }()
	cc, err := grpc.NewClient("passthrough:///"+lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	ss, err := pb.NewTestServiceClient(cc).FullDuplexCall(patient(t))
	if err == nil {
		_, err = ss.Recv()
	}
	if status.Code(err) != codes.DataLoss || status.Convert(err).Message() != "recovered: a validator's" {
		t.Errorf("%v", err)
	}
}

// TestAGoexitInAStream ends the handler's goroutine, and leaves nobody waiting.
func TestAGoexitInAStream(t *testing.T) {
	fake := &fakeStream{ctx: t.Context(), send: func(any) error { runtime.Goexit(); return nil }}
	leader, done := wins(t, memory.NewDecider()), make(chan bool)
	go func() {
		returned := false
		defer func() { done <- returned }()
		handle(leader, fake, func(ss grpc.ServerStream) error { return ss.SendMsg(new(pb.Empty)) })
		returned = true
	}()
	if <-done {
		t.Error("the handler went on")
	}
}

// TestLeadersThatAreNone lead nothing, whatever is done with them: no panic, and nobody
// is let in.
func TestLeadersThatAreNone(t *testing.T) {
	var none *legrpc.Gate
	var noContext context.Context
	var open legrpc.Gate
	none.Open(wins(t, memory.NewDecider()))
	none.ReportTo(nil, "x")
	open.ReportTo(nil, "x")
	open.Open(new(core.Leadership))
	for name, leader := range map[string]legrpc.Leader{"a nil gate": none, "a gate opened with a zero Leadership": &open} {
		bound, cancel := leader.Bind(noContext)
		cancel()
		if err := leader.Check(); err != legrpc.ErrNotLeader || bound.Err() == nil {
			t.Errorf("%s: %v; its bound context: %v", name, err, bound.Err())
		}
	}
	for name, leader := range map[string]legrpc.Leader{"a nil gate": none, "a zero Leadership": new(core.Leadership), "a gate opened with one": &open} {
		err := handle(leader, &fakeStream{ctx: t.Context()}, func(grpc.ServerStream) error {
			t.Errorf("%s let a call in", name)
			return nil
		})
		refused(t, err, "does not lead")
	}
}

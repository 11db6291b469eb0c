package legrpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// service is a server's side of the calls of these tests.
type service struct {
	pb.UnimplementedTestServiceServer
	unary  func(ctx context.Context, req *pb.SimpleRequest) (*pb.SimpleResponse, error)
	stream func(grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error
}

func (*service) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) { return new(pb.Empty), nil }

func (s *service) UnaryCall(ctx context.Context, req *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return s.unary(ctx, req)
}

func (s *service) FullDuplexCall(ss grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
	return s.stream(ss)
}

// serve runs a server with the interceptors on a port of its own, and returns a client.
func serve(t *testing.T, leader legrpc.Leader, opts *legrpc.ServerOptions, s *service) (pb.TestServiceClient, healthpb.HealthClient, *health.Server) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := grpc.NewServer(grpc.UnaryInterceptor(legrpc.UnaryServerInterceptor(leader, opts)),
		grpc.StreamInterceptor(legrpc.StreamServerInterceptor(leader, opts)))
	h := health.NewServer()
	pb.RegisterTestServiceServer(srv, s)
	healthpb.RegisterHealthServer(srv, h)
	served := make(chan error)
	go func() { served <- srv.Serve(lis) }()
	cc, err := grpc.NewClient("passthrough:///"+lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cc.Close()
		srv.Stop()
		<-served
		goleak.VerifyNone(t)
	})
	return pb.NewTestServiceClient(cc), healthpb.NewHealthClient(cc), h
}

// wins returns a leadership that lasts until it is resigned.
func wins(t *testing.T, d core.RaceDecider) *core.Leadership {
	t.Helper()
	l, err := core.Config{LeaderID: "a", Decider: d, TermLength: time.Hour}.Campaign(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Resign(context.Background()) })
	return l
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// TestCallsWithoutLeadership are refused before anything is run; health and what is
// free is served.
func TestCallsWithoutLeadership(t *testing.T) {
	resigned := wins(t, memory.NewDecider())
	if err := resigned.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	var none *core.Leadership
	for name, tc := range map[string]struct {
		leader legrpc.Leader
		says   string
	}{
		"a new gate": {new(legrpc.Gate), "does not lead"},
		"resigned":   {resigned, "resigned"},
		"nil":        {nil, "does not lead"},
		"nil inside": {none, "does not lead"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := &legrpc.ServerOptions{Free: func(m string) bool { return m == pb.TestService_EmptyCall_FullMethodName }}
			calls, checks, _ := serve(t, tc.leader, opts, &service{
				unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) {
					t.Error("a call was run")
					return nil, nil
				},
				stream: func(grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
					t.Error("a stream was run")
					return nil
				},
			})
			ctx := patient(t)
			_, err := calls.UnaryCall(ctx, new(pb.SimpleRequest))
			refused(t, err, tc.says)
			ss, err := calls.FullDuplexCall(ctx)
			if err == nil {
				_, err = ss.Recv()
			}
			refused(t, err, tc.says)
			if _, err := calls.EmptyCall(ctx, new(pb.Empty)); err != nil {
				t.Errorf("a free method: %v", err)
			}
			if _, err := checks.Check(ctx, new(healthpb.HealthCheckRequest)); err != nil {
				t.Errorf("health: %v", err)
			}
		})
	}
}

func refused(t *testing.T, err error, says string) {
	t.Helper()
	if !legrpc.NotLeader(err) || legrpc.LeadershipLost(err) || status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want a refusal that says %q", err, says)
	}
}

// TestCallsUnderALeader run, know it, and end with it.
func TestCallsUnderALeader(t *testing.T) {
	l := wins(t, memory.NewDecider())
	running := make(chan struct{}, 2)
	own := status.Error(codes.DataLoss, "the handler's own")
	calls, _, _ := serve(t, l, nil, &service{
		unary: func(ctx context.Context, req *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			found, ok := core.FromContext(ctx)
			if !ok || found.FencingToken() != l.FencingToken() {
				t.Errorf("the handler found %v, %v", found, ok)
			}
			switch req.ResponseSize {
			case 1: // wait
				running <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			case 2:
				return nil, own
			}
			return new(pb.SimpleResponse), nil
		},
		stream: func(ss grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
			if _, ok := core.FromContext(ss.Context()); !ok {
				t.Error("the stream's context does not have the leadership")
			}
			for {
				if _, err := ss.Recv(); err != nil {
					if err == io.EOF {
						return nil
					}
					return err
				}
				if err := ss.Send(new(pb.StreamingOutputCallResponse)); err != nil {
					return err
				}
				running <- struct{}{}
			}
		},
	})
	ctx := patient(t)
	if _, err := calls.UnaryCall(ctx, new(pb.SimpleRequest)); err != nil {
		t.Error(err)
	}
	if _, err := calls.UnaryCall(ctx, &pb.SimpleRequest{ResponseSize: 2}); status.Code(err) != codes.DataLoss {
		t.Errorf("%v, want the handler's error", err)
	}
	ends, err := calls.FullDuplexCall(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ends.CloseSend()
	if _, err := ends.Recv(); err != io.EOF {
		t.Errorf("a stream that the client ends: %v", err)
	}

	ss, err := calls.FullDuplexCall(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := ss.Send(new(pb.StreamingOutputCallRequest)); err != nil {
		t.Fatal(err)
	}
	if _, err := ss.Recv(); err != nil {
		t.Fatal(err)
	}
	<-running
	waits := make(chan error)
	go func() {
		_, err := calls.UnaryCall(ctx, &pb.SimpleRequest{ResponseSize: 1})
		waits <- err
	}()
	<-running
	if err := l.Resign(ctx); err != nil {
		t.Fatal(err)
	}
	_, streamed := ss.Recv()
	for what, err := range map[string]error{"the call": <-waits, "the stream": streamed} {
		if !legrpc.LeadershipLost(err) || legrpc.NotLeader(err) || status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), "resigned") {
			t.Errorf("%s ended with %v", what, err)
		}
	}
}

// TestACallThatItsClientEnds has not lost its leader.
func TestACallThatItsClientEnds(t *testing.T) {
	ended := make(chan error, 1)
	running := make(chan struct{})
	calls, _, _ := serve(t, wins(t, memory.NewDecider()), nil, &service{
		stream: func(ss grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
			close(running)
			_, err := ss.Recv()
			ended <- err
			return err
		},
	})
	ctx, cancel := context.WithCancel(patient(t))
	defer cancel()
	if _, err := calls.FullDuplexCall(ctx); err != nil {
		t.Fatal(err)
	}
	<-running
	cancel()
	if err := <-ended; err == nil || legrpc.LeadershipLost(err) || !errors.Is(err, context.Canceled) && status.Code(err) != codes.Canceled {
		t.Errorf("%v, want the call's own end", err)
	}
}

// TestAGateOverTwoReigns: calls and health follow the present one.
func TestAGateOverTwoReigns(t *testing.T) {
	store := memory.NewDecider()
	gate := new(legrpc.Gate)
	calls, checks, h := serve(t, gate, nil, &service{
		unary: func(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			return new(pb.SimpleResponse), nil
		},
	})
	gate.ReportTo(h, "leading")
	ctx := patient(t)
	w, err := checks.Watch(ctx, &healthpb.HealthCheckRequest{Service: "leading"})
	if err != nil {
		t.Fatal(err)
	}
	says := func(want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		if got, err := w.Recv(); err != nil || got.Status != want {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	}
	says(healthpb.HealthCheckResponse_NOT_SERVING)
	for range 2 {
		if _, err := calls.UnaryCall(ctx, new(pb.SimpleRequest)); !legrpc.NotLeader(err) {
			t.Errorf("%v, want a refusal", err)
		}
		bound, cancel := gate.Bind(ctx)
		if bound.Err() == nil {
			t.Error("a bound context lives without a leadership")
		}
		cancel()
		l := wins(t, store.Handle())
		gate.Open(l)
		says(healthpb.HealthCheckResponse_SERVING)
		if _, err := calls.UnaryCall(ctx, new(pb.SimpleRequest)); err != nil {
			t.Error(err)
		}
		if err := l.Resign(ctx); err != nil {
			t.Fatal(err)
		}
		says(healthpb.HealthCheckResponse_NOT_SERVING)
	}
	gate.Open(nil)
	if err := gate.Check(); !errors.Is(err, legrpc.ErrNotLeader) {
		t.Errorf("%v", err)
	}
}

package legrpc_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// realChannel dials target, whose elections are all in store.
func realChannel(t *testing.T, target string, store *memory.Decider) pb.TestServiceClient {
	t.Helper()
	b, err := legrpc.NewBuilder(&legrpc.Options{PollInterval: 20 * time.Millisecond,
		Open: func(context.Context, string) (core.RaceDecider, error) { return store, nil }})
	if err != nil {
		t.Fatal(err)
	}
	cc, err := grpc.NewClient(target, grpc.WithResolvers(b), grpc.WithNoProxy(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return pb.NewTestServiceClient(cc)
}

// TestAServiceConfigNeverBreaksTheChannel, whatever a leader has written, and a good one
// is in force.
func TestAServiceConfigNeverBreaksTheChannel(t *testing.T) {
	defer goleak.VerifyNone(t)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv, served := grpc.NewServer(), make(chan error)
	pb.RegisterTestServiceServer(srv, new(service))
	go func() { served <- srv.Serve(lis) }()
	defer func() { srv.Stop(); <-served }()

	for name, tc := range map[string]struct {
		params string
		want   codes.Code
	}{
		"none":                {"", codes.OK},
		"ours":                {legrpc.DefaultServiceConfig, codes.OK},
		"not JSON":            {"\x00\xff", codes.OK},
		"another JSON":        {`[1, 2]`, codes.OK},
		"an unknown balancer": {`{"loadBalancingConfig": [{"no_such_policy": {}}]}`, codes.OK},
		"another balancer":    {`{"loadBalancingConfig": [{"round_robin": {}}]}`, codes.OK},
		"a bad retry policy":  {`{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": -1}}]}`, codes.OK},
		"in force":            {`{"methodConfig": [{"name": [{}], "timeout": "0s"}]}`, codes.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			store := memory.NewDecider()
			e := store.Lead("a", time.Hour)
			e.HostPort, e.ConnectionParams = []string{lis.Addr().String()}, []byte(tc.params)
			store.Plant(e)
			calls := realChannel(t, "leaderelection:///x", store)
			if _, err := calls.EmptyCall(patient(t), new(pb.Empty)); status.Code(err) != tc.want {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

// TestWhatCallsSay when there is nobody to go to.
func TestWhatCallsSay(t *testing.T) {
	defer goleak.VerifyNone(t)
	broken := memory.NewDecider()
	broken.FailNext(1<<30, core.ErrBroken)
	for _, tc := range []struct {
		target string
		store  *memory.Decider
		want   string
	}{
		{"leaderelection:///orders", memory.NewDecider(), `election "orders": nobody leads: nothing is stored`},
		{"leaderelection:///orders", broken, `election "orders": the leader is not known: `},
		{"leaderelection:///", memory.NewDecider(), `the election's name is empty; write leaderelection:///NAME`},
		{"leaderelection://orders", memory.NewDecider(), `"orders" is taken for a host; write leaderelection:///NAME`},
	} {
		t.Run(tc.want, func(t *testing.T) {
			_, err := realChannel(t, tc.target, tc.store).EmptyCall(patient(t), new(pb.Empty))
			if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want Unavailable and %q", err, tc.want)
			}
		})
	}
}

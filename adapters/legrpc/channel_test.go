package legrpc_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/balancer"
	_ "google.golang.org/grpc/balancer/leastrequest"
	_ "google.golang.org/grpc/balancer/ringhash"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// realChannel dials target, whose elections are all in store.
func realChannel(t *testing.T, target string, store *memory.Decider, opts ...grpc.DialOption) pb.TestServiceClient {
	t.Helper()
	b, err := legrpc.NewBuilder(&legrpc.Options{PollInterval: 20 * time.Millisecond,
		Open: func(context.Context, string) (core.RaceDecider, error) { return store, nil }})
	if err != nil {
		t.Fatal(err)
	}
	cc, err := grpc.NewClient(target, append(opts, grpc.WithResolvers(b), grpc.WithNoProxy(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return pb.NewTestServiceClient(cc)
}

// serveService runs the test service on loopback until stop, which waits for its end.
func serveService(t *testing.T) (lis net.Listener, stop func()) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv, served := grpc.NewServer(), make(chan error)
	pb.RegisterTestServiceServer(srv, new(service))
	go func() { served <- srv.Serve(lis) }()
	return lis, func() { srv.Stop(); <-served }
}

// TestAServiceConfigNeverBreaksTheChannel, whatever a leader has written, and a good one
// is in force.
func TestAServiceConfigNeverBreaksTheChannel(t *testing.T) {
	defer goleak.VerifyNone(t)
	lis, stop := serveService(t)
	defer stop()

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

// TestEveryPolicySaysWhy there is nobody to go to, and no call hears anything else: not
// even one that comes while the channel is being told.
func TestEveryPolicySaysWhy(t *testing.T) {
	defer goleak.VerifyNone(t)
	var addrs []string
	for range 2 {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		srv, served := grpc.NewServer(), make(chan error)
		pb.RegisterTestServiceServer(srv, new(service))
		go func() { served <- srv.Serve(lis) }()
		defer func() { srv.Stop(); <-served }()
		addrs = append(addrs, lis.Addr().String())
	}
	policy := func(name string) []byte { return []byte(`{"loadBalancingConfig": [{"` + name + `": {}}]}`) }
	for _, name := range []string{"pick_first", "round_robin", "least_request_experimental"} {
		t.Run(name, func(t *testing.T) {
			if balancer.Get(name) == nil {
				t.Fatal("no such policy")
			}
			store := memory.NewDecider()
			calls := realChannel(t, "leaderelection:///orders", store)
			until := func(what string, is func(err error) bool) {
				t.Helper()
				for ctx := patient(t); ctx.Err() == nil; {
					_, err := calls.EmptyCall(ctx, new(pb.Empty))
					switch {
					case is(err):
						return
					case err != nil && !strings.Contains(err.Error(), `legrpc: election "orders": `):
						t.Fatalf("before %s: %v", what, err)
					}
					time.Sleep(time.Millisecond) // let the others have the processor
				}
				t.Fatalf("no call found that %s", what)
			}
			says := func(text string) func(error) bool {
				return func(err error) bool {
					return status.Code(err) == codes.Unavailable && strings.Contains(err.Error(), `legrpc: election "orders": `+text)
				}
			}
			until("nothing is stored", says("nobody leads: nothing is stored"))
			for n := range 6 {
				e := store.Lead("a", time.Hour)
				e.HostPort, e.ConnectionParams = []string{addrs[n%2]}, policy(name)
				store.Plant(e)
				until("somebody leads", func(err error) bool { return err == nil })
				e = store.Lead("", time.Hour)
				if n%3 == 0 { // with another policy
					e.ConnectionParams = policy([]string{"round_robin", "pick_first"}[n%2])
				}
				store.Plant(e)
				until("it has resigned", says("nobody leads: the last leader has resigned"))
				store.PlantRaw([]byte("rubbish"))
				until("rubbish is stored", says("who leads now is not known"))
			}
		})
	}
}

// TestRingHash connects lazily, and takes its key from the first address: calls neither
// hang nor panic where there is none, whoever chose it. With no more than a service
// config it refuses calls to a leader, in words of its own.
func TestRingHash(t *testing.T) {
	defer goleak.VerifyNone(t)
	const config = `{"loadBalancingConfig": [{"no_such_policy": {}}, {"ring_hash_experimental": {}}]}`
	for name, tc := range map[string]struct {
		params string
		opts   []grpc.DialOption
		waits  bool
	}{
		"the leader's choice": {params: config},
		"the client's":        {opts: []grpc.DialOption{grpc.WithDefaultServiceConfig(config)}, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			store := memory.NewDecider()
			calls := realChannel(t, "leaderelection:///orders", store, tc.opts...)
			until := func(goes bool) {
				t.Helper()
				for ctx := patient(t); ctx.Err() == nil; {
					_, err := calls.EmptyCall(ctx, new(pb.Empty))
					if status.Code(err) == codes.Unavailable && strings.Contains(err.Error(), "ringhash: expected xDS config selector") == goes {
						return
					}
					time.Sleep(time.Millisecond)
				}
				t.Fatalf("no call went to a leader (%v) in time", goes)
			}
			until(false)
			for range 3 {
				e := store.Lead("a", time.Hour)
				e.HostPort, e.ConnectionParams = []string{"127.0.0.1:1"}, []byte(tc.params)
				store.Plant(e)
				until(true)
				store.Lead("", time.Hour)
				if !tc.waits {
					until(false)
				}
			}
		})
	}
}

// TestANewClientWaitsForALeader if the entry that it finds has the service config
// for that, or the client itself where nothing is stored.
func TestANewClientWaitsForALeader(t *testing.T) {
	defer goleak.VerifyNone(t)
	lis, stop := serveService(t)
	defer stop()
	for name, tc := range map[string]struct {
		vacant bool
		opts   []grpc.DialOption
	}{
		"a vacant entry":    {vacant: true},
		"nothing is stored": {opts: []grpc.DialOption{grpc.WithDefaultServiceConfig(legrpc.DefaultServiceConfig)}},
	} {
		t.Run(name, func(t *testing.T) {
			store, read := memory.NewDecider(), make(chan error, 1)
			if tc.vacant {
				e := store.Lead("", time.Hour)
				e.ConnectionParams = []byte(legrpc.DefaultServiceConfig)
				store.Plant(e)
			}
			calls := realChannel(t, "leaderelection:///orders", store, tc.opts...)
			go func() {
				_, err := calls.EmptyCall(patient(t), new(pb.Empty))
				read <- err
			}()
			for start := time.Now(); time.Since(start) < patience; time.Sleep(time.Millisecond) {
				if reads, _ := store.Requests(); reads >= 3 { // what the first one found was told
					break
				}
			}
			e := store.Lead("a", time.Hour)
			e.HostPort = []string{lis.Addr().String()}
			store.Plant(e)
			if err := <-read; err != nil {
				t.Error(err)
			}
		})
	}
}

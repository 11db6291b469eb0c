package legrpc_test

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// A client that follows the leader.
func ExampleNewBuilder() {
	store := memory.NewDecider()
	stop := exampleLeader(store)
	defer stop()

	elections, err := legrpc.NewBuilder(&legrpc.Options{
		Open: func(ctx context.Context, name string) (core.RaceDecider, error) {
			// In production: gcsdecider.NewDecider(client, "my-bucket", name, nil)
			return store.Handle(), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cc, err := grpc.NewClient("leaderelection:///orders",
		grpc.WithResolvers(elections),
		grpc.WithDefaultServiceConfig(legrpc.DefaultServiceConfig), // until a leader has written its own
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cc.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = grpc_testing.NewTestServiceClient(cc).EmptyCall(ctx, new(grpc_testing.Empty))
	if legrpc.NotLeader(err) {
		fmt.Println("nothing was run: it may be sent again")
	}
	fmt.Println("the leader says", err)
	// Output:
	// the leader says <nil>
}

// A server that is called while it leads, and says so to health checks.
func ExampleGate() {
	lis, err := net.Listen("tcp", "127.0.0.1:0") // in production ":443", and core.SelfHostPorts("443")
	if err != nil {
		fmt.Println(err)
		return
	}
	gate := new(legrpc.Gate)
	srv := grpc.NewServer(
		grpc.UnaryInterceptor(legrpc.UnaryServerInterceptor(gate, nil)),
		grpc.StreamInterceptor(legrpc.StreamServerInterceptor(gate, nil)))
	checks := health.NewServer()
	gate.ReportTo(checks, "leader")
	grpc_health_v1.RegisterHealthServer(srv, checks)
	// ... and the services that only a leader serves
	go srv.Serve(lis)
	defer srv.Stop()

	err = core.Config{
		LeaderID:         "server-1",
		HostPort:         []string{lis.Addr().String()},
		Decider:          memory.NewDecider(),
		ConnectionParams: []byte(legrpc.DefaultServiceConfig),
	}.RunAsLeader(context.Background(), func(ctx context.Context, l *core.Leadership) error {
		gate.Open(l) // with Acquire: l, _ := core.FromContext(ctx) in OnElected
		fmt.Println("while it leads:", gate.Check())
		return nil
	})
	fmt.Println("RunAsLeader:", err)
	fmt.Println("afterwards:", gate.Check())
	// Output:
	// while it leads: <nil>
	// RunAsLeader: <nil>
	// afterwards: core: leadership ended: resigned
}

// exampleLeader is a server that leads.
func exampleLeader(store *memory.Decider) (stop func()) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	gate := new(legrpc.Gate)
	srv := grpc.NewServer(grpc.UnaryInterceptor(legrpc.UnaryServerInterceptor(gate, nil)))
	grpc_testing.RegisterTestServiceServer(srv, new(service))
	go srv.Serve(lis)
	l, err := core.Config{LeaderID: "server-1", HostPort: []string{lis.Addr().String()}, Decider: store.Handle()}.Campaign(context.Background())
	if err != nil {
		panic(err)
	}
	gate.Open(l)
	return func() {
		l.Resign(context.Background())
		srv.Stop()
	}
}

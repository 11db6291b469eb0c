package legrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver"

	"github.com/cloudelect/cloudelect/adapters/legrpc"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// patientConfig retries for longer than any machine takes to elect somebody, however
// often. More than five attempts take a dial option.
const patientConfig = `{"methodConfig": [{"name": [{}], "waitForReady": true, "retryPolicy": {
	"maxAttempts": 200, "initialBackoff": "0.2s", "maxBackoff": "1s", "backoffMultiplier": 2,
	"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// happening is a line of the journal: what happened, to whom. Their order is the
// order of the journal, whatever the time was.
type happening struct {
	what   string // won, sent, arrived, handled, lost, telling, told
	server string // its address
	client string // of which channel
	call   string
	token  int64
	// since is the line that the arrival of a handled call has.
	since int
	retry bool
}

type journal struct {
	mu    sync.Mutex
	lines []happening
}

func (j *journal) add(h happening) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, h)
	return len(j.lines) - 1
}

func (j *journal) all() []happening {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lines[:len(j.lines):len(j.lines)]
}

// eventually waits until a line after from is like this.
func (j *journal) eventually(t *testing.T, what string, from int, is func(h happening) bool) happening {
	t.Helper()
	for start := time.Now(); time.Since(start) < patience; time.Sleep(5 * time.Millisecond) {
		all := j.all()
		for ; from < len(all); from++ {
			if is(all[from]) {
				return all[from]
			}
		}
	}
	t.Fatalf("it did not happen within %v that %s", patience, what)
	return happening{}
}

// cut is a store that a test can cut off.
type cut struct {
	core.RaceDecider
	off atomic.Bool
}

var errCut = errors.New("no route to host")

func (c *cut) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if c.off.Load() {
		return nil, errCut
	}
	return c.RaceDecider.ReadCurrent(ctx)
}

func (c *cut) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if c.off.Load() {
		return nil, errCut
	}
	return c.RaceDecider.WriteEntry(ctx, e)
}

// candidate is a gRPC server that campaigns.
type candidate struct {
	pb.UnimplementedTestServiceServer
	journal *journal
	addr    string
	store   *cut
	gate    legrpc.Gate
	srv     *grpc.Server
	resign  chan struct{}
	again   chan struct{} // who has resigned campaigns again
	end     context.CancelFunc
	done    sync.WaitGroup
	dead    atomic.Bool
}

// arrival is the key of the journal's line in a call's context.
type arrival struct{}

// runCandidate runs one until it is killed.
func runCandidate(t *testing.T, j *journal, store core.RaceDecider, term time.Duration) *candidate {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &candidate{journal: j, addr: lis.Addr().String(), store: &cut{RaceDecider: store},
		resign: make(chan struct{}, 1), again: make(chan struct{}, 1), end: cancel}
	c.srv = grpc.NewServer(grpc.ChainUnaryInterceptor(c.arrives, legrpc.UnaryServerInterceptor(&c.gate, nil)),
		grpc.ChainStreamInterceptor(legrpc.StreamServerInterceptor(&c.gate, nil)))
	pb.RegisterTestServiceServer(c.srv, c)
	c.done.Go(func() { c.srv.Serve(lis) })
	c.done.Go(func() { c.campaign(ctx, term) })
	return c
}

func (c *candidate) campaign(ctx context.Context, term time.Duration) {
	config := core.Config{LeaderID: c.addr, HostPort: []string{c.addr}, Decider: c.store, ConnectionParams: []byte(patientConfig),
		TermLength: term, PollInterval: 50 * time.Millisecond}
	for {
		l, err := config.Campaign(ctx)
		if err != nil {
			return
		}
		c.gate.Open(l)
		c.journal.add(happening{what: "won", server: c.addr, token: l.FencingToken()})
		select {
		case <-l.Context().Done():
		case <-c.resign:
			l.Resign(context.Background())
		}
		if l.Check() == nil {
			panic("a leadership is over, and its Check says nothing")
		}
		c.journal.add(happening{what: "lost", server: c.addr, token: l.FencingToken()})
		if context.Cause(l.Context()) == core.ErrResigned { // let somebody else win
			select {
			case <-c.again:
			case <-ctx.Done():
			}
		}
	}
}

// untilWon waits for the first win: before it nothing is stored, and a channel has no
// service config that lets its calls wait.
func (j *journal) untilWon(t *testing.T) {
	t.Helper()
	j.eventually(t, "somebody wins", 0, func(h happening) bool { return h.what == "won" })
}

// arrives notes a call before it is let in.
func (c *candidate) arrives(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	client, call := md["client"][0], md["call"][0]
	retry := len(md["grpc-previous-rpc-attempts"]) > 0
	line := c.journal.add(happening{what: "arrived", server: c.addr, client: client, call: call, retry: retry})
	return handler(context.WithValue(ctx, arrival{}, line), req)
}

func (c *candidate) UnaryCall(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	l, ok := core.FromContext(ctx)
	if !ok {
		return nil, errors.New("handled without a leadership")
	}
	since := ctx.Value(arrival{}).(int)
	h := c.journal.all()[since]
	h.what, h.since, h.token = "handled", since, l.FencingToken()
	c.journal.add(h)
	return &pb.SimpleResponse{Username: strconv.FormatInt(l.FencingToken(), 10)}, nil
}

// FullDuplexCall answers each message with its token.
func (c *candidate) FullDuplexCall(ss grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
	for {
		if _, err := ss.Recv(); err != nil {
			return err
		}
		if err := ss.Send(new(pb.StreamingOutputCallResponse)); err != nil {
			return err
		}
	}
}

func (c *candidate) killed() bool { return c.dead.Load() }

// kill stops the server as a crash does: nothing is resigned.
func (c *candidate) kill() {
	c.dead.Store(true)
	c.store.off.Store(true)
	c.end()
	c.srv.Stop()
	c.done.Wait()
}

// spy notes what its channel is told.
type spy struct {
	resolver.Builder
	journal *journal
	client  string
	built   chan resolver.Resolver
}

func (s *spy) Build(t resolver.Target, cc resolver.ClientConn, o resolver.BuildOptions) (resolver.Resolver, error) {
	r, err := s.Builder.Build(t, &spied{cc, s}, o)
	s.built <- r
	return r, err
}

type spied struct {
	resolver.ClientConn
	spy *spy
}

func (c *spied) UpdateState(s resolver.State) error {
	server := "" // nobody
	if len(s.Addresses) > 0 {
		server = s.Addresses[0].Addr
	}
	line := c.spy.journal.add(happening{what: "telling", client: c.spy.client, server: server})
	err := c.ClientConn.UpdateState(s)
	c.spy.journal.add(happening{what: "told", client: c.spy.client, server: server, since: line})
	return err
}

// dial returns a channel that follows the election in store.
func dial(t *testing.T, j *journal, store *memory.Decider, client string, poll time.Duration) (*grpc.ClientConn, *spy) {
	b, err := legrpc.NewBuilder(&legrpc.Options{PollInterval: poll, Open: func(context.Context, string) (core.RaceDecider, error) {
		return store.Handle(), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{Builder: b, journal: j, client: client, built: make(chan resolver.Resolver, 1)}
	cc, err := grpc.NewClient("leaderelection:///orders", grpc.WithResolvers(s), grpc.WithNoProxy(), grpc.WithMaxCallAttempts(200),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	return cc, s
}

// callOnce makes one call. Whoever calls does not try again: that is the service config's.
func callOnce(t *testing.T, j *journal, cc *grpc.ClientConn, client string, n int) {
	call := fmt.Sprint(client, "/", n)
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(context.Background(), "client", client, "call", call), 3*patience)
	defer cancel()
	j.add(happening{what: "sent", client: client, call: call})
	if _, err := pb.NewTestServiceClient(cc).UnaryCall(ctx, new(pb.SimpleRequest)); err != nil {
		t.Errorf("call %s failed: %v", call, err)
	}
}

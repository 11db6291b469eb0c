package decidertest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

const (
	elections = 200
	// patience is for a machine that hangs. Nothing is expected to take a time.
	patience = 10 * time.Minute
	// lease is so long that no machine is too slow to renew.
	lease = 10 * time.Minute
)

// RunMembers runs two hundred elections by name in this process, each with two
// members, over whatever open shares between them: one client, one bucket or table.
// It fails t unless all of them are led at the same time, every member leads
// once, none beside another, and every election is vacant in the end. open returns
// the store of the election with this name, which nobody else uses.
func RunMembers(t TB, open func(ctx context.Context, name string) (core.RaceDecider, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var members sync.WaitGroup
	all := &gathering{missing: elections, complete: make(chan struct{})}
	for i := range elections {
		e := &election{TB: t, name: fmt.Sprintf("election-%03d", i), open: open, all: all}
		for n := range 2 {
			members.Go(func() { e.member(ctx, fmt.Sprintf("member-%d", n)) })
		}
	}
	members.Wait()
	for i := range elections {
		name := fmt.Sprintf("election-%03d", i)
		d, err := open(ctx, name)
		if err != nil {
			t.Fatalf("open %q: %v", name, err)
		}
		if last, err := d.ReadCurrent(ctx); err != nil || last.Absent() || !last.Vacant() {
			t.Errorf("%s is not vacant in the end: %+v, %v", name, last, err)
		}
	}
}

// election is one that two members run for.
type election struct {
	TB
	name string
	open func(ctx context.Context, name string) (core.RaceDecider, error)
	all  *gathering

	reigns, leading atomic.Int32
}

// member leads once and resigns; the first one not before everybody leads.
func (e *election) member(ctx context.Context, id string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var started, stopped int
	var newest string
	err := core.RunElection(ctx, &core.LeaderElectionConfig{
		Name: e.name, MemberID: id, LeaseDurationSeconds: int64(lease / time.Second), Open: e.open,
		Callbacks: core.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				started++
				if n := e.leading.Add(1); n != 1 {
					e.Errorf("%s: %d lead at the same time", e.name, n)
				}
				if e.reigns.Add(1) == 1 {
					e.all.join(ctx)
				}
				cancel()
				<-ctx.Done()
				e.leading.Add(-1)
			},
			OnStoppedLeading: func() { stopped++ },
			OnNewLeader:      func(leader string) { newest = leader },
		},
	})
	if err != nil || started != 1 || stopped != 1 || newest != id {
		e.Errorf("%s, %s: %v, started %d times, stopped %d times, last told of %q", e.name, id, err, started, stopped, newest)
	}
}

// gathering is a barrier: it is complete when every election is led.
type gathering struct {
	mu       sync.Mutex
	missing  int
	complete chan struct{}
}

// join waits for the others, or for the end of ctx.
func (g *gathering) join(ctx context.Context) {
	g.mu.Lock()
	if g.missing--; g.missing == 0 {
		close(g.complete)
	}
	g.mu.Unlock()
	select {
	case <-g.complete:
	case <-ctx.Done():
	}
}

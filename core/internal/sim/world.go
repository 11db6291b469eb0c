package sim

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// world is a run that is being played.
type world struct {
	plan      Plan
	ctx       context.Context // ends when everybody goes home
	stop      context.CancelFunc
	lines     context.Context // ends when the last line to the store is taken down
	takeDown  context.CancelFunc
	ledger    *ledger
	judge     *judge
	resource  resource
	diary     diary
	counts    counts
	hosts     []*host
	done      sync.WaitGroup // hosts, weather, operator
	transport tally          // messages on their way
}

// Result is what became of a run.
type Result struct {
	Violations []Violation
	Counts     map[string]int
	Events     []string // everything that happened, in order
	diary      *diary
}

// Play plays a plan. It must be called inside a testing/synctest bubble.
func Play(plan Plan) *Result {
	w := &world{plan: plan}
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.lines, w.takeDown = context.WithCancel(context.Background())
	defer w.stop()
	defer w.takeDown()
	w.ledger, w.judge = newLedger(w), newJudge(w)
	for i := range plan.Hosts {
		w.hosts = append(w.hosts, newHost(w, i))
	}
	for _, h := range w.hosts {
		w.done.Go(h.live)
		w.done.Go(h.weather)
	}
	w.done.Go(w.operate)
	w.judge.watch()
	w.goHome()
	return w.result()
}

// heal ends the faults of all networks.
func (w *world) heal() {
	for _, h := range w.hosts {
		h.net.Heal()
	}
}

// goHome ends everything. Whoever does not go is a violation, and then there
// will be no end of the bubble either: better to say so before.
func (w *world) goHome() {
	w.heal()
	w.stop()
	gone := make(chan struct{})
	go func() {
		w.done.Wait()
		w.takeDown()
		time.Sleep(time.Millisecond) // what is about to set out does
		for _, h := range w.hosts {
			h.net.Close()
		}
		w.transport.wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(20 * w.plan.Longest):
		w.judge.violated(neverReturned, -1, "a call of the election has not returned 20 terms after its context ended")
		panic("\n" + w.result().Draw(w.plan) + goroutines(nil))
	}
	synctest.Wait()
	if left := goroutines(ours); left != "" {
		w.judge.violated(leaked, -1, "goroutines are left:\n%s", left)
		panic("\n" + w.result().Draw(w.plan)) // the bubble cannot end
	}
}

func (w *world) result() *Result {
	for _, h := range w.hosts {
		for kind, n := range h.net.Counts() {
			w.counts.add("fault "+string(kind), n)
		}
	}
	return &Result{Violations: w.judge.violations(), Counts: w.counts.all(), Events: w.diary.lines(w.plan), diary: &w.diary}
}

// goroutines are the stacks of those that keep accepts.
func goroutines(keep func(mine, stack string) bool) string {
	buf := make([]byte, 1<<18)
	buf = buf[:runtime.Stack(buf, true)]
	stacks := strings.Split(string(buf), "\n\n")
	mine := bubbleOf(stacks[0])
	left := slices.DeleteFunc(stacks[1:], func(s string) bool { return keep != nil && !keep(mine, s) })
	return strings.Join(left, "\n\n")
}

// ours tells the goroutines of this bubble, without the one that began it.
func ours(mine, stack string) bool {
	return bubbleOf(stack) == mine && !strings.Contains(stack, "synctest.Run") && !strings.Contains(stack, "testingSynctestTest")
}

func bubbleOf(stack string) string {
	head, _, _ := strings.Cut(stack, "\n")
	_, bubble, _ := strings.Cut(head, "synctest bubble ")
	return strings.Trim(bubble, "]: ")
}

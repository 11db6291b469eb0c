package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
)

// place is where one candidate of an election works: a process of elect, and when it has
// ended the next one, with the same name.
type place struct {
	*run
	site     *site
	election int
	number   int

	mu      sync.Mutex
	current *child
}

// keep hires one candidate after another, until ctx ends and the last one has.
func (p *place) keep(ctx context.Context) {
	for n := 0; ; n++ {
		h := p.plan.Hire(p.election, p.number, n)
		if !sleep(ctx, h.Pause) {
			return
		}
		if err := p.hire(ctx, h, n); err != nil {
			p.book.violated(RuleHarness, p.election, "candidate %d: %v", p.number, err)
			return
		}
	}
}

// hire starts elect and waits until it has ended.
func (p *place) hire(ctx context.Context, h Hire, n int) error {
	name := filepath.Join(p.dir, fmt.Sprintf("elect-%d-%d-%d.log", p.election, p.number, n))
	out, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	manner := polite
	if h.Stubborn {
		manner = stubborn
	}
	argv := append(append([]string{}, p.Elect...), "run", "--store", p.site.url, "--id", fmt.Sprintf("candidate-%d", p.number),
		"--term", p.Term.String(), "--grace", "300ms", "-v", "--")
	argv = append(append(argv, p.Worker...), p.counter.socket(), fmt.Sprint(p.election), manner)
	env := append(p.environ(p.site), fmt.Sprintf("%s=%v", hostclock.OffsetVar, h.Offset))

	p.mu.Lock()
	if ctx.Err() != nil {
		p.mu.Unlock()
		return nil
	}
	ch, err := p.children.start(argv, env, out)
	p.current = ch
	p.mu.Unlock()
	if err != nil {
		return err
	}
	p.book.add(Event{Election: p.election, Kind: Hired, Offset: h.Offset, Text: fmt.Sprintf("candidate %d: elect %d, COMMAND %s", p.number, ch.pid, manner)})
	<-ch.done
	text := ending(ch.end)
	p.book.add(Event{Election: p.election, Kind: Exited, Text: fmt.Sprintf("candidate %d: elect %d, %s", p.number, ch.pid, text)})
	if said := tail(out); !explained(ch.end, said) {
		p.book.violated(RuleExit, p.election, "elect %d (candidate %d) ended with %s, and said:\n%s", ch.pid, p.number, text, said)
	}
	if p.Keep == "" {
		return os.Remove(name)
	}
	return nil
}

// process is the candidate's elect, as it is now.
func (p *place) process() *child {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// tail is the end of what a process has said.
func tail(f *os.File) string {
	const most = 2000
	info, err := f.Stat()
	if err != nil {
		return err.Error()
	}
	b := make([]byte, min(info.Size(), most))
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil {
		return err.Error()
	}
	return string(b)
}

// sleep waits; it is false if ctx ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func ending(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "signal " + ws.Signal().String()
	}
	return fmt.Sprintf("exit code %d", ws.ExitStatus())
}

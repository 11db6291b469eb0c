package demo

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/fencedlog"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline"
)

// play is one performance. Everything in it happens on one goroutine, which
// takes in what the workers report whenever it waits.
type play struct {
	pace
	crew  *crew
	log   *fencedlog.Log
	board *board
	history
	failover

	// leader is the newest reign, until something happens to it.
	leader *reign
	// appending is who has begun an append that is not done, and when.
	appending struct {
		from *process
		at   int64
	}
	ended map[*process]bool // whose processes have exited
}

// perform is the script.
func (p *play) perform(ctx context.Context, workers int) error {
	for i := range workers {
		if _, err := p.hire(i); err != nil {
			return err
		}
	}
	if err := p.await(ctx, "anybody leads", func() bool { return p.leader != nil }); err != nil {
		return err
	}
	p.board.say("%s leads with fencing token %d (proof: %s)", p.leader.worker.name, p.leader.token, p.leader.proof)

	for _, scene := range []func(context.Context) error{p.crash, p.freeze, p.resign, p.finish} {
		if err := p.wait(ctx, p.lead); err != nil {
			return err
		}
		if err := scene(ctx); err != nil {
			return err
		}
		if p.overlaps() > 0 {
			p.board.say("two workers lead at the same time: there is nothing more to show")
			return nil
		}
	}
	return nil
}

// crash kills the leader. Later a new process takes its place.
func (p *play) crash(ctx context.Context) error {
	l, err := p.reigning(ctx)
	if err != nil {
		return err
	}
	l.worker.leaving = true
	at := hostNow()
	p.crew.signal(l.worker, (*os.Process).Kill)
	p.board.mark(l.worker.row, at, timeline.Killed)
	p.board.say("%s is killed (kill -9)", l.worker.name)
	if p.Crash, err = p.successor(ctx, at, "the crash"); err != nil {
		return err
	}
	if err := p.wait(ctx, p.lead/4); err != nil {
		return err
	}
	p.board.say("%s is started again", l.worker.name)
	_, err = p.hire(l.worker.row)
	return err
}

// freeze stops the leader between a check and a write until somebody else leads,
// and then lets it go on.
func (p *play) freeze(ctx context.Context) error {
	l, at, err := p.stopLeader(ctx)
	if err != nil {
		return err
	}
	p.board.mark(l.worker.row, at, timeline.Stopped)
	p.board.say("%s is frozen (kill -STOP), between a check and a write", l.worker.name)
	if p.Freeze, err = p.successor(ctx, at, "the freeze"); err != nil {
		return err
	}
	if err := p.wait(ctx, p.lead/4); err != nil {
		return err
	}

	refused := p.refused
	late := hostNow()
	p.crew.signal(l.worker, thaw)
	p.board.mark(l.worker.row, late, timeline.Continued)
	p.board.say("%s goes on (kill -CONT), as if nothing had happened", l.worker.name)
	err = p.await(ctx, "the old leader notices", func() bool {
		return p.board.ended(l) || p.ended[l.worker] || p.overlaps() > 0
	})
	if err == nil && p.refused > refused {
		p.board.say("the log refuses its late line: fencing token %d is of the past", l.token)
	}
	return err
}

// silence is how long a report may be under way from a worker that is not
// waiting for anything.
const silence = time.Second

// stopLeader stops the leader at the worst moment: it has checked that it leads,
// and is about to write. It is made to wait there by holding the log; so it does
// not have the log's lock itself, which would stop everybody.
func (p *play) stopLeader(ctx context.Context) (l *reign, at int64, err error) {
	for {
		if l, err = p.reigning(ctx); err != nil {
			return nil, 0, err
		}
		release, err := p.log.Hold()
		if err != nil {
			return nil, 0, err
		}
		held := hostNow()
		// Either it comes to the log now, or it has come just before the log was
		// held; then nothing more is heard of it.
		waits := func() bool {
			return p.appending.from == l.worker && (p.appending.at > held || since(held, hostNow()) > silence)
		}
		err = p.await(ctx, "the leader appends to its log", func() bool { return waits() || p.leader != l })
		if err == nil && waits() {
			at = hostNow()
			p.crew.signal(l.worker, freeze)
			err = p.await(ctx, "the leader is stopped", func() bool { return isStopped(l.worker.cmd.Process, at) })
		}
		release()
		if err != nil || at != 0 {
			return l, at, err
		}
	}
}

// resign asks the leader to leave.
func (p *play) resign(ctx context.Context) error {
	l, err := p.reigning(ctx)
	if err != nil {
		return err
	}
	l.worker.leaving = true
	at := hostNow()
	p.crew.signal(l.worker, terminate)
	p.board.mark(l.worker.row, at, timeline.Terminated)
	p.board.say("%s is asked to leave (kill -TERM), and resigns", l.worker.name)
	p.Resign, err = p.successor(ctx, at, "the resignation")
	return err
}

// finish sends everybody home, the leader last, so that nobody leads for a moment.
func (p *play) finish(ctx context.Context) error {
	p.board.say("the demo is over: everybody is asked to leave")
	for _, leaders := range []bool{false, true} {
		leaving := func(w *process) bool { return leaders || p.leader == nil || w != p.leader.worker }
		for _, w := range p.crew.all {
			if leaving(w) && !p.ended[w] {
				w.leaving = true
				p.crew.signal(w, terminate)
			}
		}
		err := p.await(ctx, "the workers leave", func() bool {
			for _, w := range p.crew.all {
				if leaving(w) && !p.ended[w] {
					return false
				}
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hire starts a worker for a row of the timeline.
func (p *play) hire(row int) (*process, error) {
	w, err := p.crew.hire(row, fmt.Sprintf("worker-%d", row+1))
	if err == nil {
		p.board.hired(w, hostNow())
	}
	return w, err
}

// reigning waits until somebody leads, if a reign has just ended by itself.
func (p *play) reigning(ctx context.Context) (*reign, error) {
	err := p.await(ctx, "somebody leads", func() bool { return p.leader != nil })
	return p.leader, err
}

// successor waits for the next leader, and returns how many milliseconds after
// the event that was.
func (p *play) successor(ctx context.Context, at int64, event string) (int64, error) {
	p.leader = nil
	if err := p.await(ctx, "somebody follows after "+event, func() bool { return p.leader != nil }); err != nil {
		return 0, err
	}
	took := since(at, p.leader.elected)
	p.board.say("%s leads, token %d, %.2f s later (proof: %s)", p.leader.worker.name, p.leader.token, took.Seconds(), p.leader.proof)
	return max(took.Milliseconds(), 0), nil
}

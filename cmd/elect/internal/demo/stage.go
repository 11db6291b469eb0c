package demo

import (
	"context"
	"fmt"
	"time"
)

const frame = 100 * time.Millisecond // how often the board is drawn

// wait lets the election go on for d.
func (p *play) wait(ctx context.Context, d time.Duration) error {
	end := time.NewTimer(d)
	defer end.Stop()
	over := false
	_, err := p.pump(ctx, end.C, func() bool { return over })
	return err
}

// await lets the election go on until something happens, which must not take
// longer than it can.
func (p *play) await(ctx context.Context, what string, happened func() bool) error {
	end := time.NewTimer(p.patience())
	defer end.Stop()
	ok, err := p.pump(ctx, end.C, happened)
	if err == nil && !ok {
		err = fmt.Errorf("demo: waited %v in vain until %s: is this machine overloaded?", p.patience(), what)
	}
	return err
}

// pump takes in reports, and draws, until it is enough or the end comes first.
func (p *play) pump(ctx context.Context, end <-chan time.Time, enough func() bool) (bool, error) {
	draw := time.NewTicker(frame)
	defer draw.Stop()
	for !enough() {
		select {
		case r := <-p.crew.reports:
			if err := p.take(r); err != nil {
				return false, err
			}
		case <-draw.C:
			p.board.draw(&p.history, hostNow())
		case <-end:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	return true, nil
}

// take notes one report.
func (p *play) take(r report) error {
	p.add(r)
	w := r.from
	switch r.Kind {
	case kindElected:
		if l := p.reign(w, r.Token); p.leader == nil || l.elected > p.leader.elected {
			p.leader = l
		}
	case kindPassed:
		if r.Appends {
			p.appending.from, p.appending.at = w, r.At
		}
	case kindWrote, kindRefused:
		if p.appending.from == w {
			p.appending.from = nil
		}
		if r.Kind == kindRefused {
			p.board.refused(r.At)
		}
	case kindEnded:
		l := p.reign(w, r.Token)
		p.board.over(l)
		if p.leader == l {
			p.leader = nil
		}
	case kindExited:
		p.ended[w] = true
		p.board.gone(w, r.At)
		if p.leader != nil && p.leader.worker == w {
			p.leader = nil
		}
		if !w.leaving {
			return fmt.Errorf("demo: %s has failed: %s", w.name, w.complaint())
		}
	}
	return nil
}

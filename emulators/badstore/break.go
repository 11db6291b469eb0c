package badstore

import (
	"context"
	"time"
)

// meet is how long RacersWin holds a write, so that those that race do meet, as they
// would in a store that is farther away.
const meet = 10 * time.Millisecond

// answer makes the mistake where it belongs.
func (p *Proxy) answer(ctx context.Context, c call, m *message) (*answer, error) {
	switch {
	case p.mistake == IgnoreCreate && c.kind == Create, p.mistake == IgnoreOverwrite && c.kind == Overwrite:
		p.speech.unconditional(m)
	case p.mistake == KeepOld && c.kind == Overwrite:
		return p.speech.yes(c, m), nil
	case p.mistake == DenyOverwrite && c.kind == Overwrite:
		return p.speech.forbidden(c), nil
	case p.mistake == CacheReads && c.kind == Read:
		return p.fromCache(ctx, c, m)
	case p.mistake == RacersWin && (c.kind == Create || c.kind == Overwrite):
		return p.raced(ctx, c, m)
	}
	a, err := p.ask(ctx, m)
	if err == nil && p.mistake == OmitVersion {
		p.speech.omit(c, a)
	}
	return a, err
}

func (p *Proxy) fromCache(ctx context.Context, c call, m *message) (*answer, error) {
	p.mu.Lock()
	a := p.cached[c.key]
	p.mu.Unlock()
	if a != nil {
		return a, nil
	}
	a, err := p.ask(ctx, m)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.cached[c.key] = a
	}
	return a, err
}

// raced sends a write without its condition if it was refused, and another one on
// the same condition was under way at the same time.
func (p *Proxy) raced(ctx context.Context, c call, m *message) (*answer, error) {
	group := c.key + "\x00" + c.when
	p.mu.Lock()
	p.underWay[group]++
	if p.underWay[group] > 1 {
		p.met[group]++
	}
	p.mu.Unlock()
	time.Sleep(meet)
	a, err := p.ask(ctx, m)
	p.mu.Lock()
	p.underWay[group]--
	met := p.met[group] > 0
	if p.underWay[group] == 0 { // whoever comes now comes late
		delete(p.underWay, group)
		delete(p.met, group)
	}
	p.mu.Unlock()
	if err != nil || !met || !p.speech.refused(a) {
		return a, err
	}
	p.speech.unconditional(m)
	return p.ask(ctx, m)
}

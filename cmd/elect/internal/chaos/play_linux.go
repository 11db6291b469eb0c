package chaos

import (
	"context"
	"syscall"
	"time"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// play is what happens to one election. It happens on one goroutine.
type play struct {
	*run
	election int
	proxy    *netfault.Proxy
	places   []*place
	ahead    time.Duration // the store's clock
}

// glance is how often a play looks whether what it waits for has happened.
const glance = 20 * time.Millisecond

// perform does one thing after another until time is up, and waits for a last leader.
// up ends when time is; abort ends everything, at once.
func (p *play) perform(abort, up context.Context) {
	p.calm(0)
	for n := 0; p.settle(abort) && up.Err() == nil; {
		s := p.plan.Step(p.election, n)
		if !sleep(abort, s.Lead) {
			return
		}
		l := p.vault.leader(p.election)
		if l == nil { // it was lost without our doing: somebody has to lead
			if !p.led(abort, p.Term/2) {
				p.calm(0)
			}
			continue
		}
		p.proxy.Reset() // the record of requests would grow for ever
		p.do(abort, s, l)
		n++
	}
}

// settle waits until somebody leads who has to.
func (p *play) settle(abort context.Context) bool {
	for p.book.waiting(p.election) {
		if !sleep(abort, glance) {
			return false
		}
	}
	return abort.Err() == nil
}

// led waits for a leader for a while.
func (p *play) led(abort context.Context, patience time.Duration) bool {
	for waited := time.Duration(0); waited < patience; waited += glance {
		if p.vault.leader(p.election) != nil {
			return true
		}
		if !sleep(abort, glance) {
			return true
		}
	}
	return false
}

// leave waits until a COMMAND is gone, which the umpire is impatient about.
func (p *play) leave(abort context.Context, l *life) {
	for p.vault.present(l) && sleep(abort, glance) {
		p.book.waiting(p.election)
	}
}

func (p *play) did(s Step, token int64) {
	p.book.add(Event{Election: p.election, Kind: Did, Token: token, Act: s.Act, Ending: s.Ending, Text: "for " + s.Last.String()})
}

// calm: nothing more is done, and somebody with that token or a higher one has to lead.
func (p *play) calm(token int64) {
	p.book.add(Event{Election: p.election, Kind: Calm, Token: token})
}

// candidate is one who does not lead: the one that was picked, or the next; nil if there
// is none.
func (p *play) candidate(l *life, pick int) *child {
	for i := range p.places {
		ch := p.places[(pick+i)%len(p.places)].process()
		if ch != nil && ch.pid != l.elect.pid && ch.alive() {
			return ch
		}
	}
	return nil
}

// thaw lets everything of an election go on that may be stopped.
func (p *play) thaw() {
	for _, l := range p.vault.living(p.election) {
		l.command.signal(syscall.SIGCONT)
		l.guard.signal(syscall.SIGCONT)
	}
	for _, place := range p.places {
		if ch := place.process(); ch != nil {
			ch.kill(syscall.SIGCONT)
		}
	}
}

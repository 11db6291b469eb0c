package chaos

import (
	"context"
	"syscall"
	"time"
)

// do does one thing to an election that l leads, and undoes it.
func (p *play) do(abort context.Context, s Step, l *life) {
	switch s.Ending {
	case Crash:
		p.crash(abort, s, l)
	case Freeze:
		p.freeze(abort, s, l)
	case Outage:
		p.outage(abort, s, l)
	case Resignation:
		p.resign(s, l)
	case Outside:
		p.did(s, l.token)
		p.book.add(Event{Election: p.election, Kind: Jumped})
		p.jump(s.Jump)
		p.calm(0)
	default:
		p.weather(abort, s, l)
	}
}

func (p *play) crash(abort context.Context, s Step, l *life) {
	var iced *child
	if s.Act == KillBesideIce {
		if iced = p.candidate(l, s.Pick); iced != nil {
			iced.kill(syscall.SIGSTOP)
		}
	}
	p.did(s, l.token)
	switch s.Act {
	case KillElect, KillBesideIce:
		l.elect.signal(syscall.SIGKILL)
	case KillGuard:
		l.guard.signal(syscall.SIGKILL)
	case KillCommand:
		l.command.signal(syscall.SIGKILL)
	case KillElectGuard:
		l.elect.signal(syscall.SIGKILL)
		l.guard.signal(syscall.SIGKILL)
	case KillAll:
		l.elect.signal(syscall.SIGKILL)
		l.guard.signal(syscall.SIGKILL)
		l.command.signal(syscall.SIGKILL)
	}
	p.calm(l.token + 1)
	if iced != nil {
		p.settle(abort)
		sleep(abort, s.Last)
		iced.kill(syscall.SIGCONT)
	}
}

// freeze stops a leader until somebody else leads, and a while longer.
func (p *play) freeze(abort context.Context, s Step, l *life) {
	p.did(s, l.token)
	l.elect.signal(syscall.SIGSTOP)
	switch s.Act {
	case StopElectCommand:
		l.command.signal(syscall.SIGSTOP)
	case StopAll:
		l.guard.signal(syscall.SIGSTOP)
		l.command.signal(syscall.SIGSTOP)
		p.vault.freeze(p.election, l, true)
	}
	p.calm(l.token + 1)
	p.settle(abort)
	sleep(abort, s.Last)
	if s.Act == StopAll {
		// The worst order: COMMAND first, which then writes as if nothing had happened.
		l.command.signal(syscall.SIGCONT)
		sleep(abort, 2*recordEvery)
		p.vault.freeze(p.election, l, false)
		l.guard.signal(syscall.SIGCONT)
	}
	l.elect.signal(syscall.SIGCONT)
	p.leave(abort, l)
}

func (p *play) resign(s Step, l *life) {
	p.did(s, l.token)
	switch s.Act {
	case TermElect:
		l.elect.signal(syscall.SIGTERM)
	case IntElect:
		l.elect.signal(syscall.SIGINT)
	case WorkDone:
		p.vault.dismiss(l)
	}
	p.calm(l.token + 1)
}

// outage makes the store useless for longer than a term.
func (p *play) outage(abort context.Context, s Step, l *life) {
	p.did(s, l.token)
	if s.Act == OutGuard {
		l.guard.signal(syscall.SIGSTOP)
	}
	p.inject(abort, s)
	if s.Act == OutGuard {
		l.guard.signal(syscall.SIGCONT)
	}
	p.calm(0)
}

// weather is what a leader should survive, and may not.
func (p *play) weather(abort context.Context, s Step, l *life) {
	pause := func(who interface{ signal(syscall.Signal) }) {
		p.did(s, 0)
		who.signal(syscall.SIGSTOP)
		sleep(abort, s.Last)
		who.signal(syscall.SIGCONT)
	}
	switch s.Act {
	case StopCommand:
		pause(l.command)
	case StopGuard:
		pause(l.guard)
	case Blink:
		pause(l.elect)
	case ClockBack:
		p.did(s, 0)
		p.jump(-s.Jump)
	case KillCandidate, StopCandidate, LeaveCandidate:
		if ch := p.candidate(l, s.Pick); ch != nil {
			switch s.Act {
			case KillCandidate:
				p.did(s, 0)
				ch.kill(syscall.SIGKILL)
			case LeaveCandidate:
				p.did(s, 0)
				ch.kill(syscall.SIGTERM)
			default:
				pause(ch.process)
			}
		}
	default:
		p.did(s, l.token)
		p.inject(abort, s)
	}
	p.calm(0)
}

// inject lets the network and the store be as the step says, for as long as it says.
func (p *play) inject(abort context.Context, s Step) {
	faults, mixture := faultsOf(s, p.Term)
	if err := p.proxy.Inject(faults...); err != nil {
		p.book.violated(RuleHarness, p.election, "%v", err)
	}
	if err := p.proxy.SetSchedule(mixture); err != nil {
		p.book.violated(RuleHarness, p.election, "%v", err)
	}
	sleep(abort, s.Last)
	if s.Act == OutClockAhead { // while no term runs
		p.jump(s.Jump)
	}
	p.proxy.Clear()
	if s.Act == OutLate { // the last of them is still under way
		sleep(abort, lateBy(p.Term))
	}
}

// jump sets the store's clock.
func (p *play) jump(by time.Duration) {
	p.ahead += by
	p.proxy.SetClock(p.ahead)
}

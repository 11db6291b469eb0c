package chaos

import (
	"fmt"
	"time"
)

// overlap judges that a reign begins while the COMMAND of an older one is there.
func (u *Umpire) overlap(b *bout, old *reign, e Event) {
	u.judged++
	switch {
	case old.frozen, old.thawed != 0 && e.At-old.thawed < killSlack:
	case old.outside:
		u.excused++
	case u.starved(e.At-u.Term, e.At):
		u.void(b, e.At, "token %d is still there when token %d begins", old.token, e.Token)
	default:
		u.violated(RuleOverlap, e.Election, "COMMAND of token %d, which began at %.3f s and was last heard of at %.3f s, is still there when that of token %d begins at %.3f s",
			old.token, old.began.Seconds(), old.last.Seconds(), e.Token, e.At.Seconds())
	}
}

// Look judges what has not happened until now.
func (u *Umpire) Look(election int, now time.Duration) {
	b := u.bouts[election]
	if w := b.wait; w != nil {
		lag := u.lag(w.since, now)
		allowed := 2*u.Term + startSlack + lag
		switch over := now - w.since; {
		case over <= allowed:
		case lag > u.Term/2:
			u.judged++
			b.wait = nil
			u.void(b, now, "nobody led for %v, but the harness was late by %v", over, lag)
		default:
			b.wait = nil
			u.violated(RuleLeader, election, "nobody led for %v after the last fault; %v are allowed, %v of them for the harness's own delays", over, allowed, lag)
		}
	}
	for _, r := range b.alive {
		over := now - r.thawed
		if r.frozen || r.thawed == 0 || r.reported || r.token >= b.newest || over <= killSlack+u.lag(r.thawed, now) {
			continue
		}
		r.reported = true
		u.judged++
		if u.starved(r.thawed, now) {
			u.void(b, now, "token %d goes on for %v", r.token, over)
		} else {
			u.violated(RuleThawed, election, "COMMAND of token %d goes on for %v after it was continued, while token %d leads", r.token, over, b.newest)
		}
	}
}

func (u *Umpire) lag(from, to time.Duration) time.Duration {
	if u.Lag == nil {
		return 0
	}
	return u.Lag(from, to)
}

// starved: the harness was so late that the order of what it saw says nothing.
func (u *Umpire) starved(from, to time.Duration) bool {
	return u.lag(from, to) > u.Term/starvedPart
}

func (u *Umpire) void(b *bout, at time.Duration, format string, args ...any) {
	u.voids++
	b.history.note(Event{At: at, Kind: "void", Text: fmt.Sprintf(format, args...)}.String())
}

func (u *Umpire) violated(rule Rule, election int, format string, args ...any) {
	v := Violation{Rule: rule, Election: election, What: fmt.Sprintf(format, args...), Seed: u.Seed}
	if election != noElection {
		v.History = u.bouts[election].history.last()
	}
	u.violations = append(u.violations, v)
}

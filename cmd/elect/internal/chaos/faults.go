package chaos

import (
	"time"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// lateBy is how long late writes are under way.
func lateBy(term time.Duration) time.Duration { return term * 6 / 5 }

// faultsOf is what a proxy has to do for a step, if anything.
func faultsOf(s Step, term time.Duration) ([]netfault.Fault, *netfault.Schedule) {
	one := func(f netfault.Fault) ([]netfault.Fault, *netfault.Schedule) { return []netfault.Fault{f}, nil }
	some := func(chances ...netfault.Chance) ([]netfault.Fault, *netfault.Schedule) {
		return nil, &netfault.Schedule{Seed: s.Seed, Chances: chances}
	}
	switch s.Act {
	case Out503, OutGuard, OutClockAhead:
		return one(netfault.Fault{Kind: netfault.Status, Status: 503})
	case Out429:
		return one(netfault.Fault{Kind: netfault.Status, Status: 429})
	case Out503Writes:
		return one(netfault.Fault{Kind: netfault.Status, Status: 503, WritesOnly: true})
	case Out429Writes:
		return one(netfault.Fault{Kind: netfault.Status, Status: 429, WritesOnly: true})
	case Out503After:
		return one(netfault.Fault{Kind: netfault.StatusAfter, Status: 503})
	case OutReset:
		return one(netfault.Fault{Kind: netfault.Reset})
	case OutHang:
		return one(netfault.Fault{Kind: netfault.Hang})
	case OutLost:
		return one(netfault.Fault{Kind: netfault.LoseAnswer})
	case OutLate:
		return one(netfault.Fault{Kind: netfault.Delay, For: lateBy(term), WritesOnly: true})
	case Slow: // one way, the other, or both, but within what elect waits for an answer
		return some(netfault.Chance{P: 0.7, Fault: netfault.Fault{Kind: netfault.Delay, For: term / 20}},
			netfault.Chance{P: 0.7, Fault: netfault.Fault{Kind: netfault.DelayAfter, For: term / 20}})
	case Cut:
		return some(netfault.Chance{P: 0.15, Fault: netfault.Fault{Kind: netfault.Reset}},
			netfault.Chance{P: 0.2, Fault: netfault.Fault{Kind: netfault.LoseAnswer}})
	case Flaky:
		return some(netfault.Chance{P: 0.15, Fault: netfault.Fault{Kind: netfault.Status, Status: 503}},
			netfault.Chance{P: 0.2, Fault: netfault.Fault{Kind: netfault.Status, Status: 429}})
	case Duplicated:
		return some(netfault.Chance{P: 0.5, Fault: netfault.Fault{Kind: netfault.Duplicate}})
	}
	return nil, nil
}

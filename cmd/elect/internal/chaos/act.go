package chaos

// Ending is what has ended a reign, by what the harness did.
type Ending string

// The endings, and two more kinds of acts.
const (
	Crash       Ending = "crash"       // processes were killed
	Freeze      Ending = "freeze"      // processes were stopped until somebody else led
	Outage      Ending = "outage"      // the store was of no use for longer than a term
	Resignation Ending = "resignation" // elect was asked to end, or the work was done
	Weather     Ending = "weather"     // a leader need not lose by this, but may
	Outside     Ending = "outside"     // beyond what an election can bear: see doc.go
)

// endings are those that a run must show.
func endings() []Ending { return []Ending{Crash, Freeze, Outage, Resignation} }

// Act is a kind of fault, or another reason for a reign to end.
type Act string

// The acts. What each does is in perform_linux.go.
const (
	KillElect      Act = "kill-elect"       // SIGKILL to elect
	KillGuard      Act = "kill-guard"       // to its guard
	KillCommand    Act = "kill-command"     // to COMMAND
	KillElectGuard Act = "kill-elect-guard" // to both at once
	KillAll        Act = "kill-all"         // to all three, as when a machine dies
	KillBesideIce  Act = "kill-beside-ice"  // to elect, while another candidate is stopped, which goes on later

	StopElect        Act = "stop-elect"         // SIGSTOP to elect: the guard has to see to COMMAND
	StopElectCommand Act = "stop-elect-command" // to elect and COMMAND
	StopAll          Act = "stop-all"           // to all three: only the fence is left
	StopCommand      Act = "stop-command"       // to COMMAND for a while: elect goes on leading
	StopGuard        Act = "stop-guard"         // to the guard for a while: elect goes on leading
	Blink            Act = "blink"              // to elect, for less than matters

	Out503        Act = "503"             // the store answers 503
	Out429        Act = "429"             // the store answers 429
	Out503Writes  Act = "503-writes"      // to writes only
	Out429Writes  Act = "429-writes"      // to writes only
	Out503After   Act = "503-after"       // after it has applied the request
	OutReset      Act = "reset"           // connections are cut before the request
	OutHang       Act = "hang"            // no answer, and the store never sees the request
	OutLost       Act = "lost-answers"    // connections are cut after the request
	OutLate       Act = "late-writes"     // writes arrive when nobody waits for them any more
	OutGuard      Act = "503-stop-guard"  // the store answers 503, and the guard is stopped
	OutClockAhead Act = "503-clock-ahead" // the store answers 503, and has another clock afterwards

	TermElect Act = "term-elect" // SIGTERM to elect
	IntElect  Act = "int-elect"  // SIGINT to elect
	WorkDone  Act = "work-done"  // COMMAND ends by itself

	Slow           Act = "slow"            // connections are slow
	Cut            Act = "cut"             // some connections are cut, before or after the request
	Flaky          Act = "flaky"           // some requests are answered 429 or 503
	Duplicated     Act = "duplicated"      // some requests are sent twice
	ClockBack      Act = "clock-back"      // the store's clock jumps back
	KillCandidate  Act = "kill-candidate"  // SIGKILL to one who waits
	StopCandidate  Act = "stop-candidate"  // SIGSTOP to one who waits, for a while
	LeaveCandidate Act = "leave-candidate" // SIGTERM to one who waits

	ClockAhead Act = "clock-ahead" // the store's clock jumps forward under a leader
)

// card is an act, what ending it brings about, and how many of it are in the deck.
type card struct {
	act    Act
	ending Ending
	copies int
}

// cards are what a deck consists of. All of it is dealt before any of it is dealt
// again, so that a short run has met everything.
func cards() []card {
	return []card{
		{KillElect, Crash, 5}, {KillGuard, Crash, 2}, {KillCommand, Crash, 2}, {KillElectGuard, Crash, 2},
		{KillAll, Crash, 2}, {KillBesideIce, Crash, 2},

		{StopElect, Freeze, 5}, {StopElectCommand, Freeze, 3}, {StopAll, Freeze, 5},

		{Out503, Outage, 2}, {Out429, Outage, 2}, {Out503Writes, Outage, 1}, {Out429Writes, Outage, 2},
		{Out503After, Outage, 1}, {OutReset, Outage, 1}, {OutHang, Outage, 1}, {OutLost, Outage, 1},
		{OutLate, Outage, 1}, {OutGuard, Outage, 1}, {OutClockAhead, Outage, 2},

		{TermElect, Resignation, 5}, {IntElect, Resignation, 2}, {WorkDone, Resignation, 4},

		{Slow, Weather, 1}, {Cut, Weather, 1}, {Flaky, Weather, 1}, {Duplicated, Weather, 1},
		{StopCommand, Weather, 1}, {StopGuard, Weather, 1}, {Blink, Weather, 1}, {ClockBack, Weather, 2},
		{KillCandidate, Weather, 1}, {StopCandidate, Weather, 1}, {LeaveCandidate, Weather, 1},

		{ClockAhead, Outside, 1},
	}
}

// deck is all cards, not shuffled.
func deck() []card {
	var all []card
	for _, c := range cards() {
		for range c.copies {
			all = append(all, c)
		}
	}
	return all
}

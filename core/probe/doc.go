// Package probe finds out whether a store can carry an election: whether it
// honours the conditions that [core.RaceDecider.WriteEntry] relies on, for these
// credentials, from this host. Some stores accept a condition and ignore it, and
// then everybody leads.
//
// It works on scratch records beside the election, never on the election's own,
// and through nothing but a decider's two methods: what it proves is what an
// election will get. It knows no store by name.
//
// [Run] is one probe, and what a decider's Probe method calls. [Gate] lets a
// decider refuse to write to a store before it was probed (Options.ProbeFirst).
//
// # What a probe can prove
//
// It proves that a store is bad; that one is good it can only make likely. A race
// that is lost once a day does not show in fifty rounds. An answer whose meaning is
// unknown (throttled, timed out, a server's error) counts neither for the store
// nor against it: the probe asks again, and if no clear answer comes in time the
// check is inconclusive, and the verdict is no.
package probe

// Package k8slock is a lock for the leader election of Kubernetes' Go client that
// needs no cluster: a resourcelock.Interface (k8s.io/client-go) over any decider.
//
//	lock, err := k8slock.New(decider, identity, nil)
//	...
//	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{Lock: lock, ...})
//
// A controller-runtime manager takes it as its
// Options.LeaderElectionResourceLockInterface, with LeaderElection set to true. Its
// LeaseDuration, RenewDeadline and RetryPeriod, or the elector's, are given to
// [Options] as well. Coordinated elections need a cluster's controller and are not
// possible here.
//
// # What is stored
//
// An entry like every other, which "elect status" shows and core's own candidates
// understand:
//
//   - LeaderID is HolderIdentity; a released lease is a vacant entry.
//   - TermLength is LeaseDurationSeconds. Get shows it to others with a twentieth
//     on top, in whole seconds: 16 s for a lease of 15 s.
//   - TermExpiry is the latest of RenewTime, the wall clock when the write was sent,
//     and SentBy, each plus TermLength.
//   - SentBy is the store's time as core reckons it, where the decider tells it.
//   - ElectionNumber rises by one with every write. FencingToken rises with every
//     reign: when the lease goes to another holder, when it comes back, when a new
//     process of the same identity takes it, and when an elector runs again after
//     client-go's event "stopped leading". It may skip a number. LeaderTransitions
//     is client-go's own count.
//   - AcquireTime, RenewTime, LeaderTransitions, Strategy and PreferredHolder are
//     kept in the member "k8slock" of ConnectionParams, next to
//     Options.ConnectionParams. They are zero for a leader that is core's
//     candidate; RenewTime is then TermExpiry - TermLength.
//   - HostPort is Options.HostPort. Checkpoint stays as the last leader of core's left it.
//
// # What client-go's rules promise
//
// client-go's candidate takes a lease over after it has seen no new version for
// LeaseDuration, by the monotonic clock of its own host. The lock adds core's margin and
// asks the wall clock too. Its leader renews every RetryPeriod; when it does not
// succeed for RenewDeadline after the first failed attempt, client-go ends the work's
// context. So the work's context ends, at the latest,
//
//	answer of the last stored write + RetryPeriod + RenewDeadline + a read before a release
//
// after that write was sent. client-go alone bounds neither the answer nor the
// read, and asks only for LeaseDuration > RenewDeadline. The lock cuts every request
// off after half of LeaseDuration - RenewDeadline - RetryPeriod (a quarter of
// LeaseDuration at most), which New demands to be long enough, and repeats a failed read
// before a release within that time: the sum is then never
// longer than LeaseDuration. Two leaders need one of these:
//
//   - a process that stands still, or a host that sleeps, with the work's next step
//     about to be taken. client-go's leader looks at timers alone, so it goes on for
//     up to RenewDeadline after it wakes up, and even after it has read that somebody
//     else leads. Ask [Lock.Check] before a step that matters (it knows both), or
//     let the resource compare [Lock.FencingToken].
//   - clocks that run at rates more than 2.4 % apart from true time;
//   - work that does not stop when its context ends. client-go does not wait for
//     it. With ReleaseOnCancel it has to be over before the context given to Run
//     is cancelled, because the next leader does not wait then.
//
// The lock also refuses what client-go would do: to release a lease after failed
// renewals (it would be sent before the work's context ends; the lease runs out
// instead), to release somebody else's, to take over the lease of a twin with the
// same identity at once, and to create an entry that has only just vanished.
//
// # With core's candidates in the same election
//
// Both kinds may run for one election. Of core's proofs, observed and store-time
// hold for a client-go leader as for any other, with the exceptions above: a core
// leader that wakes up sees by its clocks that its term is over, client-go's does
// not look. The proof vacant rests on ReleaseOnCancel's promise. The proof clock, where
// the store tells no time, assumes what it always does: wall clocks that
// agree within MaxClockSkew. The proof reclaimed assumes that no client-go elector runs under the
// LeaderID of a core candidate with Reclaim. MinHold is kept by both. An entry
// that was deleted, or broken by an operator, under a leader: core's leader stops
// when it hears of it, client-go's up to RenewDeadline later.
//
// An entry that another library wrote in a form of its own, as gcsdecider reads
// vimeo/leaderelection's, is none that the lock takes over from: Get names the library,
// and a candidate of core's, or "elect break --version", has to end that reign first.
package k8slock

// Package core elects a leader among workers that share nothing but one entry
// in a store: an object in Cloud Storage or S3, or an item in DynamoDB.
//
// # Use
//
// Fill in a Config and call one of its methods. RunAsLeader waits until it is
// elected, does the work, and resigns; Acquire is the same with callbacks and
// campaigns for ever; Campaign hands out the Leadership itself; TryAcquire
// makes one attempt. RunElection is for who knows client-go's LeaderElector: an
// election by name, three callbacks, one leadership. Watch and Updates of a
// WatchConfig follow the leader without ever writing.
//
// # Clock model
//
// A reign lasts for TermLength from just before the last confirmed write was
// sent, measured by the sum of the larger steps of the monotonic and the wall
// clock, so that a freeze of either one is noticed. Somebody else may follow
// only with a proof that this time is over: see Proof. Clock rates may differ
// by 2.4 %; clock values matter for one of the proofs only, and
// Config.NoClockProof switches that one off.
//
// # What is not promised
//
// A process that is frozen whole, both clocks included, cannot notice that its
// term has passed, and a write that was sent in time may arrive late. Whatever
// must not see a leader of the past has to check Leadership.FencingToken: it
// rises from reign to reign. docs/SAFETY.md has the argument.
package core

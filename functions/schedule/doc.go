// Package schedule runs work once per slot, however often it is triggered and
// however short it is.
//
// Schedulers promise to trigger at least once: a slot (the run of 03:00) may be
// triggered again a millisecond or a minute later, on another host. A lock
// does not help when the first one has finished before the second arrives. So the
// last slot is kept in the election's Checkpoint, by the write that resigns: a
// late duplicate reads it, in one request, and is done.
//
// # What happens to a slot
//
//   - The first trigger is elected, works, and resigns with the slot as done.
//   - A duplicate while it works finds the election held: Running.
//   - A duplicate after that finds the slot: Done.
//   - A trigger for a slot before the last one is refused: Stale. Slots that were
//     missed are not made up for one by one; work that covers a span of time
//     asks Run.Last where the last run ended.
//   - Work fails, or its process is killed half way: the Policy says. Retry runs
//     the slot again at its next trigger (at least once). Skip marks a slot before
//     the work begins and never runs it again (at most once).
//
// A process that was killed keeps the election closed until its term is over. Whoever
// deletes the election's entry, or breaks one that was damaged, makes it forget the
// last slot.
//
// # Which time
//
// The slot is best the trigger's own: CloudScheduler, EventBridge, At; then no
// clock of ours is asked, but for one thing: where the store tells no time, a slot that
// is more than Config.MaxAhead ahead of the host's clock is refused, so there a host
// whose clock is slow by more refuses its slots. Every takes the store's clock, not the host's:
// two hosts whose clocks are an hour apart mean the same slot.
//
// # Cost
//
// Running a slot costs one read and one write before the work, and one write
// after it; with Skip, the first slot that an election ever sees costs one write more.
// While the work runs the election is renewed. A duplicate costs one read.
package schedule

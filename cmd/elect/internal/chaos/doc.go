// Package chaos runs real `elect run` processes against the emulators of all three
// stores on a very bad day, and judges what came of it.
//
// One harness process owns everything: the emulators; a fault-injecting proxy before
// each election, so that faults hit elections one by one; a few candidates for each
// election, which are processes of the real binary, started again whenever they
// end; and the resource that the leaders' COMMANDs write to, which is fenced
// (vault.go). What is done to whom, when and for how long is a pure function of a
// seed (plan.go); when exactly it meets a process is up to the machine.
//
// # Who judges
//
// The umpire (umpire.go) takes nobody's word. A reign is as long as the harness has
// seen the COMMAND of that fencing token: from the moment its connection arrived,
// with the process ID that the kernel gave, until the kernel closed the connection,
// which it does when the process is gone. Every moment is on the harness's own clock,
// and all events of an election are in one order, that of one lock. What was
// accepted is judged by the resource's log.
//
//   - No record was accepted after one with a higher token.
//   - Tokens rise from reign to reign; none is used twice.
//   - When a reign begins, no COMMAND of an older one is left but those that the harness
//     keeps frozen together with their guard, which nobody can reach. Such a one is
//     gone soon after it goes on, and what it still writes is refused.
//   - Two terms after the last fault at the latest somebody leads.
//   - elect ends with the exit codes that docs/CLI.md names for what was done to it.
//   - Nothing is left at the end: no process, goroutine or file descriptor.
//
// One fault is outside what an election promises: a store's clock that jumps forward
// under a running term. Reigns that met one may overlap, and are counted; the first
// two rules hold for them as well.
//
// # A slow machine
//
// Only the third and the fourth rule compare times. A meter (lag.go) notes how late the
// harness itself comes to run. What is late by no more than that is no violation, and
// where the harness was starved nothing is proved: the verdict is void. Voids are
// counted, and more than a few fail the run.
package chaos

// Package guard is the small process between `elect run` and COMMAND, and the
// handle by which elect holds it.
//
// # What for
//
// COMMAND must be gone when the term is over, also when elect was killed, is
// stopped, or is stuck. So elect starts itself again as a guard, the guard starts
// COMMAND in a process group of its own, and elect tells the guard every new end
// of term through a pipe. The guard needs nobody to tell it that the time is over.
//
//	elect ── terms, stop, signals ──> guard ── signals ──> COMMAND's process group
//	      <── started, stopped, ended ──
//
// The guard stops the group (SIGTERM, then SIGKILL) when
//
//   - elect asks it to, because leadership was lost or elect is to end;
//   - a fifth of the term is left and no renewal was announced: SIGTERM;
//   - a tenth of the term is left: SIGKILL, whatever else goes on;
//   - the pipe closes, because elect is gone: SIGTERM at once, SIGKILL as above;
//   - COMMAND has ended and has left processes behind in its group.
//
// Time is what passed on the monotonic clock that counts suspended time, or on the
// wall clock, whichever moved further. A guard that was frozen first takes in the ends
// of the term that wait in its pipe, and kills as its next act if the last one has
// passed meanwhile.
//
// If the guard is killed, Linux kills COMMAND with it (PR_SET_PDEATHSIG), and elect
// sees the pipe close and kills the whole group. Other systems have the second
// part only.
//
// # What it cannot reach
//
//   - Guard and elect both stopped, or killed at the same time: nobody is left to
//     kill the rest of the group. (COMMAND itself still dies with the guard on Linux.)
//   - Processes that left COMMAND's group: daemons (setsid), jobs of an interactive
//     shell, containers started through a socket.
//   - Processes of another user (sudo), and those stuck in the kernel.
//   - A host that is frozen whole, with both of its clocks.
//   - What COMMAND has asked others to do.
//
// For those there is the fencing token. As long as the group has processes, elect
// does not resign: it goes on leading if COMMAND has ended by itself and has left
// them behind, and lets the term run out if they had to be killed and cannot be.
package guard

// marker is the first argument of a guard. It is no command for people.
const marker = "__guard"

// Asked tells whether these arguments (without the program's name) start a guard.
func Asked(args []string) bool { return len(args) > 0 && args[0] == marker }

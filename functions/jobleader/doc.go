// Package jobleader is the main function of a container whose work only one may
// do: a Cloud Run job, a task of ECS or Kubernetes, a cron job.
//
//	os.Exit(jobleader.Run(context.Background(), cfg, work))
//
// Run campaigns, works, resigns, and returns the exit code that "elect run" would
// have. SIGTERM and SIGINT end the work's context; when the work has stopped, Run
// resigns, all within the ten seconds that platforms leave between SIGTERM and
// SIGKILL (Cloud Run: "Container runtime contract"; ECS and Kubernetes leave
// thirty by default). It never resigns before the work has stopped: work that
// ignores its context is ended by the end of the process, and the next leader comes
// when the term is over. Signals that come within a second of the first, by
// Election.Clock, count once: timeout(1) signals its child and then the group, and terminals
// and supervisors do alike. One that comes later means: now, and nothing is waited for.
//
// # One task of many
//
// Of the tasks of a job one does the part that must be done once; Config.Rest is
// what all of them do besides. A task that starts when the others are done would win
// again, so name the execution: Config.Slot remembers it in the store, by
// package schedule, and SlotFrom tells the work which slot it runs for.
//
// # Exit codes
//
//	0      done; or nothing to do, because the slot was done before, will not be
//	       run again (schedule.Skip), or is older than the last one, or because
//	       another task leads and Config.LeaveQuietly is set: a line says which
//	1      the work failed (or what its error's ExitCode method says)
//	64     the Config contradicts itself
//	69     the store could not be asked, or its answer was lost: try again. Also
//	       after Election.WaitAtMost, if no answer ever came, and if the
//	       election is free but the store does not take the write
//	70     the work ended its goroutine without returning; or it resigned, which is
//	       Run's to do, so that its slot could not be recorded as done: mend it
//	75     not elected: another task leads, or the election is not free yet
//	76     leadership was lost while the work ran
//	78     the set-up has to be changed: permission, bucket or table, a
//	       checkpoint or an entry that nobody understands
//	128+n  ended by signal n. When the context given to Run ends, for whatever
//	       reason, that is like SIGTERM: 143, unless its cause has a method
//	       ExitCode() int, between 1 and 255, which then is the code
//
// Work that was asked to stop, and returns an error that says no more than that (one that
// wraps context.Cause or context.Canceled), was ended by that; with nil it has
// succeeded, and with an error of its own it has failed.
//
// A panic of the work resigns and goes on, which in Go is exit code 2.
package jobleader

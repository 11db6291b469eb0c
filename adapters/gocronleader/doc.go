// Package gocronleader lets several instances of a program share the jobs of
// gocron v2 (github.com/go-co-op/gocron/v2) without running them twice.
//
// Take one of two:
//
//   - A Locker runs every job once per slot, on whichever instance comes first. It
//     remembers the last slot of each job in the store (package schedule), so
//     it also works for jobs that are done in a millisecond on hosts whose clocks
//     differ, where an ordinary lock is free again when the second instance asks.
//     Every job has an election of its own.
//   - An Elector runs all jobs on the instance that leads. It costs no requests per
//     job, but knows no slots: when the leader changes, a job may run on the old
//     one and, in the same period, on the new one, or miss a period.
//
// gocron does not tell a job's Lock whether the job succeeded, and does not end
// a job whose leadership is lost. Locker.Task does both.
package gocronleader

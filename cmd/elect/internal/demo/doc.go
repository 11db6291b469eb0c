// Package demo is `elect demo`: an election with real processes on an emulator
// of a store, in which leaders are killed, frozen and sent away.
//
// The parent process runs the emulator and the script. Workers are processes of
// the same program (worker.go): they campaign with package core and, while they
// lead, append to a log that checks fencing tokens (package fencedlog). They tell
// the parent what they do in lines of JSON on their standard output (message.go).
//
// The parent judges by samples and takes no worker's word for it. A worker leads
// for certain from after the first Check that passed to before the last one
// (history.go). All processes are on one host and read one clock (hostclock).
package demo

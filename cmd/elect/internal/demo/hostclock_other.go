//go:build !linux

package demo

// hostNow is a reading, in nanoseconds, of a clock that all processes of this
// host share: the wall clock, which had better not be set during a demo.
func hostNow() int64 { return wallNow() }

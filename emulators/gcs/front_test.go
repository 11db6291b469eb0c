package gcs

import (
	"testing"
	"time"
)

// The fake numbers versions by the clock's microseconds. No two changes may run in
// the same one, nor in an earlier one after the clock was set back.
func TestEachWriteHasAMicrosecondOfItsOwn(t *testing.T) {
	var (
		clock   = time.UnixMicro(1_000_000)
		reads   int
		changes []int64
	)
	front := &front{now: func() time.Time {
		if reads++; reads%7 == 0 { // slow against the writes: several reads per microsecond
			clock = clock.Add(time.Microsecond)
		}
		return clock
	}}
	for n := range 100 {
		if n == 50 {
			clock = clock.Add(-20 * time.Microsecond)
		}
		err := front.write(func() error {
			changes = append(changes, clock.UnixMicro())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n < len(changes); n++ {
		if changes[n] <= changes[n-1] {
			t.Fatalf("write %d ran at microsecond %d, the one before it at %d", n, changes[n], changes[n-1])
		}
	}
}

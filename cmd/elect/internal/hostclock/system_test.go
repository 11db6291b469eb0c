//go:build !chaos

package hostclock_test

import (
	"testing"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
)

// Whoever can set a variable must not be able to set the clock of a production build.
func TestNothingChangesTheClock(t *testing.T) {
	for _, value := range []string{"", "3h", "rubbish"} {
		t.Setenv(hostclock.OffsetVar, value)
		c, err := hostclock.New()
		if err != nil || c != clocks.DefaultClock() || hostclock.Ahead(c) != 0 {
			t.Errorf("with %q: %v, %v; want the system's clock", value, c, err)
		}
	}
}

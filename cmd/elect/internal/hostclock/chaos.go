//go:build chaos

package hostclock

import (
	"fmt"
	"os"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/skewclock"
)

// farthest keeps all times that an entry can get within the years that it can carry.
const farthest = 10 * 365 * 24 * time.Hour

// fromEnvironment is a clock whose wall time is off and whose monotonic time is not,
// which is what hosts with a wrong clock have. It does not see the machine being
// suspended: both its readings come from Go's monotonic one.
func fromEnvironment() (clocks.Clock, error) {
	value := os.Getenv(OffsetVar)
	if value == "" {
		return clocks.DefaultClock(), nil
	}
	offset, err := time.ParseDuration(value)
	if err != nil {
		return nil, fmt.Errorf("%s is %.40q, which is not a duration: write one like -3h or 90m, or unset it", OffsetVar, value)
	}
	if offset.Abs() > farthest {
		return nil, fmt.Errorf("%s is %v, which is farther than %v: write a shorter duration, or unset it", OffsetVar, offset, farthest)
	}
	if offset == 0 {
		return clocks.DefaultClock(), nil
	}
	return skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: offset}), nil
}

//go:build chaos

package hostclock_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
)

func TestOffset(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 0, "0s": 0, "-3h": -3 * time.Hour, "+90m": 90 * time.Minute, "24h": 24 * time.Hour, "1.5s": 1500 * time.Millisecond,
	} {
		t.Setenv(hostclock.OffsetVar, value)
		before := time.Now()
		c, err := hostclock.New()
		if err != nil {
			t.Errorf("with %q: %v", value, err)
			continue
		}
		now := c.Now()
		if now.Before(before.Round(0).Add(want)) || now.After(time.Now().Round(0).Add(want)) {
			t.Errorf("with %q the clock shows %v, want %v more than %v", value, now, want, before)
		}
		if got := hostclock.Ahead(c); (got - want).Abs() > time.Minute {
			t.Errorf("with %q: ahead by %v", value, got)
		}
		// The election takes both readings from a clock that has them.
		if _, dual := c.(interface {
			Readings() (time.Duration, time.Time)
		}); dual != (want != 0) || dual == (c == clocks.DefaultClock()) {
			t.Errorf("with %q the clock is a %T", value, c)
		}
	}
}

func TestBadOffsets(t *testing.T) {
	for _, value := range []string{"1", "soon", "1h ", "999999h", "-999999h", "99999999999h"} {
		t.Setenv(hostclock.OffsetVar, value)
		if c, err := hostclock.New(); err == nil || c != nil || !strings.Contains(err.Error(), hostclock.OffsetVar) {
			t.Errorf("with %q: %v, %v; want an error that names the variable", value, c, err)
		}
	}
}

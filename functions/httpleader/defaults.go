package httpleader

import (
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// What core makes of zero values (core.Config says so).

func termLength(c core.Config) time.Duration {
	if c.TermLength == 0 {
		return 15 * time.Second
	}
	return c.TermLength
}

func pollInterval(c core.Config) time.Duration {
	if c.PollInterval == 0 {
		return min(max(termLength(c)/5, 500*time.Millisecond), 5*time.Second)
	}
	return c.PollInterval
}

func renewInterval(c core.Config) time.Duration {
	if c.RenewInterval != 0 {
		return c.RenewInterval
	}
	least := time.Duration(0)
	if l, ok := c.Decider.(core.WriteLimiter); ok {
		least = l.MinWriteInterval()
	}
	return max(termLength(c)/3, least)
}

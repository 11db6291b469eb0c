package core

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/cloudelect/cloudelect/core/entry"
)

// The largest values that go into an entry. Every renewal writes them again.
const (
	maxLeaderID         = 1 << 10
	maxConnectionParams = 64 << 10
	minTermLength       = time.Millisecond
)

// Validate reports every fault of c at once (errors.Join); each Is
// ErrInvalidConfig. nil means that Campaign would accept c. Acquire needs
// OnElected besides.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrInvalidConfig, fmt.Sprintf(format, args...)))
	}
	switch {
	case c.LeaderID == "":
		fault("LeaderID is empty: give every candidate a name of its own")
	case len(c.LeaderID) > maxLeaderID:
		fault("LeaderID has %d bytes, more than %d", len(c.LeaderID), maxLeaderID)
	case !utf8.ValidString(c.LeaderID):
		fault("LeaderID %q is not UTF-8", c.LeaderID)
	}
	for _, hp := range c.HostPort {
		if !utf8.ValidString(hp) {
			fault("HostPort %q is not UTF-8", hp)
		}
	}
	if len(c.ConnectionParams) > maxConnectionParams {
		fault("ConnectionParams has %d bytes, more than %d", len(c.ConnectionParams), maxConnectionParams)
	}
	if isNilPointer(c.Decider) {
		fault("Decider is nil: there is no store to campaign in")
	}
	if c.Clock != nil && isNilPointer(c.Clock) {
		fault("Clock is a nil %T", c.Clock)
	}
	c.validateDurations(fault)
	return errors.Join(faults...)
}

func (c Config) validateDurations(fault func(string, ...any)) {
	limit := time.Duration(0)
	if isNilPointer(c.Decider) {
		c.Decider = nil
	} else {
		limit = writeInterval(c.Decider)
	}
	given := c
	c = c.withDefaults()
	inRange := func(name string, d, least time.Duration) bool {
		switch {
		case d < 0:
			fault("%s is negative: %v", name, d)
		case d < least || d > entry.MaxTermLength:
			fault("%s is %v, not between %v and %v", name, d, least, entry.MaxTermLength)
		default:
			return true
		}
		return false
	}
	term := inRange("TermLength", c.TermLength, minTermLength)
	skew := inRange("MaxClockSkew", given.MaxClockSkew, 0)
	inRange("PollInterval", given.PollInterval, 0)
	renew := inRange("RenewInterval", given.RenewInterval, 0)
	inRange("MinHold", given.MinHold, 0)
	inRange("WaitAtMost", given.WaitAtMost, 0)
	inRange("ResignWithin", given.ResignWithin, 0)
	if term && skew && c.TermLength/2 < c.MaxClockSkew {
		fault("TermLength %v is less than twice MaxClockSkew %v", c.TermLength, c.MaxClockSkew)
	}
	if !term || !renew || c.ManualRenew {
		return
	}
	switch {
	case c.RenewInterval < limit:
		fault("RenewInterval %v is shorter than %v, the store's least interval between two writes", c.RenewInterval, limit)
	case c.RenewInterval > c.TermLength/2:
		fault("RenewInterval %v is more than half of TermLength %v: one failed renewal would end the reign"+
			" (the store's least interval between two writes is %v)", c.RenewInterval, c.TermLength, limit)
	}
}

package core

import (
	"errors"
	"fmt"
	"reflect"
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
	if isNil(c.Decider) {
		fault("Decider is nil: there is no store to campaign in")
	}
	negative := c.negatives(fault)
	if !negative {
		c.validateDurations(fault)
	}
	return errors.Join(faults...)
}

// negatives reports negative durations, which make every other comparison
// between durations meaningless.
func (c Config) negatives(fault func(string, ...any)) (any bool) {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"TermLength", c.TermLength}, {"MaxClockSkew", c.MaxClockSkew}, {"PollInterval", c.PollInterval},
		{"RenewInterval", c.RenewInterval}, {"MinHold", c.MinHold}, {"WaitAtMost", c.WaitAtMost},
	} {
		if d.value < 0 {
			fault("%s is negative: %v", d.name, d.value)
			any = true
		}
	}
	return any
}

func (c Config) validateDurations(fault func(string, ...any)) {
	limit := time.Duration(0)
	if !isNil(c.Decider) {
		limit = writeInterval(c.Decider)
	} else {
		c.Decider = nil
	}
	c = c.withDefaults()
	if c.TermLength < minTermLength || c.TermLength > entry.MaxTermLength {
		fault("TermLength is %v, not between %v and %v", c.TermLength, minTermLength, entry.MaxTermLength)
		return
	}
	if c.MinHold > entry.MaxTermLength {
		fault("MinHold is %v, longer than %v", c.MinHold, entry.MaxTermLength)
	}
	if c.TermLength/2 < c.MaxClockSkew {
		fault("TermLength %v is less than twice MaxClockSkew %v", c.TermLength, c.MaxClockSkew)
	}
	if c.ManualRenew {
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

// isNil also finds a nil pointer inside the interface: a constructor's result
// whose error was ignored.
func isNil(d RaceDecider) bool {
	if d == nil {
		return true
	}
	v := reflect.ValueOf(d)
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Interface, reflect.Slice:
		return v.IsNil()
	}
	return false
}

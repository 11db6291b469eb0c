package schedule

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/cloudelect/cloudelect/core"
)

// maxName bounds a slot's name: it is kept in the checkpoint.
const maxName = 200

// Slot is what is to be done once: a point of a schedule. Get one from At, Parse,
// Named, Every, CloudScheduler or EventBridge; the zero Slot is none.
type Slot struct {
	at    time.Time
	name  string
	every time.Duration
	opts  EveryOptions
	fault string // why it can be no slot: a trigger's mistake must not look like no slot
}

// At is the slot at t. All triggers of one slot have to give the same t, in whatever
// zone. The zero time is no slot, and an error where it is used.
func At(t time.Time) Slot {
	if t.IsZero() {
		return Slot{fault: "its time is the zero time: was it read from the trigger?"}
	}
	return Slot{at: t.UTC().Round(0)}
}

// Parse is the slot at a time in RFC 3339, as schedulers write it. The error
// Is ErrNoSlot.
func Parse(text string) (Slot, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.IsZero() {
		return Slot{}, fmt.Errorf("%w: %q is not a time like 2026-03-01T03:00:00Z", ErrNoSlot, clip(text))
	}
	return At(t), nil
}

// Named is the slot with a name: an execution of a job, the id of an event.
// Names have no order: one that is not the last that was done is new. Use it
// where triggers of old slots do not come back after newer ones. A name is valid
// UTF-8 of 200 bytes at most; an empty one is an error where it is used.
func Named(name string) Slot {
	if name == "" {
		return Slot{fault: "its name is empty: is the variable set that it comes from?"}
	}
	return Slot{name: name}
}

// EveryOptions are what Every can do without.
type EveryOptions struct {
	// Offset shifts the beginnings of slots, which are otherwise multiples
	// of the period in UTC: weeks begin on Monday, days at midnight. It is
	// shorter than the period, and may be negative.
	Offset time.Duration
	// Early: a trigger that comes at most so long before a slot begins is one
	// for that slot, so that a timer that is a little fast does not hit the slot
	// before. 0 means a twentieth of the period, at most 10 s.
	Early time.Duration
	// HostClock lets Config.Clock tell the time where the store does not. Then
	// a host whose clock is an hour fast does the slot of an hour later, and the
	// slots until then are Stale for everybody; one whose clock is slow finds
	// its slots Stale. A slot is still never run twice.
	HostClock bool
}

// Every is the slot that the period d has now, by the store's clock (the Date of
// the answer that shows the last slot). Where a store does not tell its
// time that is an error, unless EveryOptions.HostClock is set. nil opts are
// fine.
//
// Two triggers that mean the same slot but come on either side of its end are
// two slots: prefer a slot that the trigger names.
func Every(d time.Duration, opts *EveryOptions) Slot {
	s := Slot{every: d}
	if d <= 0 {
		s.every = -1 // said by validate
	}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Early == 0 {
		s.opts.Early = min(d/20, 10*time.Second)
	}
	return s
}

// IsZero tells whether s is no slot at all. One that is wrong is not zero: see
// Validate.
func (s Slot) IsZero() bool { return s == Slot{} }

// String names the slot for people.
func (s Slot) String() string {
	switch {
	case s.fault != "":
		return "invalid"
	case s.name != "":
		return clip(s.name)
	case s.every != 0:
		return fmt.Sprintf("every %v", s.every)
	case s.at.IsZero():
		return "none"
	}
	return s.at.Format(time.RFC3339Nano)
}

// Validate finds what is wrong with a slot before a store is asked: Begin and Run
// call it. The error Is core.ErrInvalidConfig.
func (s Slot) Validate() error {
	switch {
	case s.fault != "":
		return fmt.Errorf("%w: the slot is none: %s", core.ErrInvalidConfig, s.fault)
	case s.IsZero():
		return fmt.Errorf("%w: the slot is empty: get one from the trigger (CloudScheduler, EventBridge, At) or from Every", core.ErrInvalidConfig)
	case s.at.Year() > 9999 || s.at.Year() < 1:
		return fmt.Errorf("%w: the slot's year is %d", core.ErrInvalidConfig, s.at.Year())
	case len(s.name) > maxName:
		return fmt.Errorf("%w: the slot's name has %d bytes, more than %d", core.ErrInvalidConfig, len(s.name), maxName)
	case !utf8.ValidString(s.name): // stored, it would be another one
		return fmt.Errorf("%w: the slot's name %q is not valid UTF-8", core.ErrInvalidConfig, clip(s.name))
	case s.every != 0 && (s.every < time.Second || s.opts.Early < 0 || s.opts.Early >= s.every):
		return fmt.Errorf("%w: a slot of Every needs a period of a second or more, and Early less than that", core.ErrInvalidConfig)
	case s.every != 0 && (s.opts.Offset <= -s.every || s.opts.Offset >= s.every):
		return fmt.Errorf("%w: the Offset of Every's slots is %v: it must be shorter than the period, %v", core.ErrInvalidConfig, s.opts.Offset, s.every)
	}
	return nil
}

// fix turns a period into the slot that it has at date, and keeps other slots.
func (s Slot) fix(date time.Time) Slot {
	if s.every == 0 {
		return s
	}
	return At(date.Add(s.opts.Early).Add(-s.opts.Offset).Truncate(s.every).Add(s.opts.Offset))
}

// clip keeps foreign text short in messages.
func clip(text string) string {
	if len(text) > 80 {
		return text[:80] + "..."
	}
	return text
}

// Package settings reads the environment variables of a deployed program, and says
// everything that is wrong with them at once: whoever deploys sees a log, not a
// command line.
package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Reader reads variables and collects what is wrong with them. Spaces around a
// value, as templates leave them, do not count.
type Reader struct {
	getenv func(string) string
	faults []error
}

// New returns a Reader on getenv, os.Getenv most likely.
func New(getenv func(string) string) *Reader { return &Reader{getenv: getenv} }

// Err reports every fault there was, or nil.
func (r *Reader) Err() error { return errors.Join(r.faults...) }

// Fault adds one, unless it is known.
func (r *Reader) Fault(format string, args ...any) {
	fault := fmt.Errorf("settings: "+format, args...)
	if !slices.ContainsFunc(r.faults, func(known error) bool { return known.Error() == fault.Error() }) {
		r.faults = append(r.faults, fault)
	}
}

// Text is the variable's value, or fallback where it is empty. Values are printed and
// stored, so one that would break a line of a log or steer a terminal is a fault.
func (r *Reader) Text(name, fallback string) string {
	v := strings.TrimSpace(r.getenv(name))
	if v == "" {
		return fallback
	}
	if i := strings.IndexFunc(v, unseen); i >= 0 {
		c, _ := utf8.DecodeRuneInString(v[i:])
		r.Fault("%s is %.60q: it has a control character, %U: remove it", name, v, c)
	}
	return v
}

// unseen tells characters that change how what is around them is shown.
func unseen(c rune) bool {
	return unicode.IsControl(c) || unicode.In(c, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// Set tells whether the variable has a value at all.
func (r *Reader) Set(name string) bool { return r.Text(name, "") != "" }

// Range is which values of a time make sense.
type Range struct {
	Least, Most time.Duration
	// Unset is what it means to leave the variable out, where there is no fallback
	// that says it: "to wait for ever".
	Unset string
	// Note is why, where that is not plain.
	Note string
}

// Duration reads a time like 15s or 1m30s. Only a variable that is empty means
// fallback: one that is set to 0 is a fault, unless 0 is in the range.
func (r *Reader) Duration(name string, fallback time.Duration, in Range) time.Duration {
	text := r.Text(name, "")
	if text == "" {
		return fallback
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		r.Fault("%s is %.40q: write a time like 15s or 1m30s", name, text)
		return fallback
	}
	if d < in.Least || d > in.Most {
		unset, note := in.Unset, in.Note
		if unset == "" {
			unset = fmt.Sprintf("for %v", fallback)
		}
		if note != "" {
			note = ": " + note
		}
		r.Fault("%s is %v: write a time between %v and %v, or leave it out %s%s", name, d, in.Least, in.Most, unset, note)
		return fallback
	}
	return d
}

// OneOf is one of values, the first of them where the variable is empty.
func (r *Reader) OneOf(name string, values ...string) string {
	text := strings.ToLower(r.Text(name, values[0]))
	if !slices.Contains(values, text) {
		r.Fault("%s is %.40q: write one of %s", name, text, strings.Join(values, ", "))
		return values[0]
	}
	return text
}

// Bool is false where the variable is empty.
func (r *Reader) Bool(name string) bool { return r.OneOf(name, "false", "true") == "true" }

// Location splits scheme://CONTAINER/NAME, the form that elect's --store has too.
// form shows it to whoever got it wrong.
func (r *Reader) Location(name, scheme, form string) (container, key string) {
	text := r.Text(name, "")
	rest, ok := strings.CutPrefix(text, scheme+"://")
	container, key, _ = strings.Cut(rest, "/")
	switch {
	case !ok || container == "" || key == "":
		r.Fault("%s is %.200q: this program needs %s://%s", name, text, scheme, form)
	case strings.ContainsAny(rest, "?# \t"):
		r.Fault("%s is %.200q: it takes no options and no spaces; region and endpoint have variables of their own", name, text)
	}
	return container, key
}

package timeline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// scale maps times to pixels.
type scale struct {
	start       time.Time // zero: times are shown as they are
	from, until float64   // seconds
	left, width float64   // pixels
}

func seconds(d time.Duration) float64 { return float64(d) / 1e9 }

// x is where an instant is; what is outside lies on the edge.
func (s scale) x(at time.Duration) float64 {
	share := (seconds(at) - s.from) / (s.until - s.from)
	return s.left + s.width*min(max(share, 0), 1)
}

func (s scale) right() float64 { return s.left + s.width }

// holds tells whether an instant is in the picture.
func (s scale) holds(at time.Duration) bool { return seconds(at) >= s.from && seconds(at) <= s.until }

// tick is a line of the grid with its label.
type tick struct {
	x    float64
	text string
}

const (
	day  = 86400.0
	year = 365 * day
)

// roundSteps are those of a clock, in seconds; below and above them are powers of ten.
var roundSteps = [...]float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600,
	day, 2 * day, 7 * day, 14 * day, 30 * day, 60 * day, 90 * day, 180 * day}

// step is the smallest round step of which each takes at least the given share of
// the picture.
func (s scale) step(least float64) float64 {
	least *= s.until - s.from
	for unit := 1e-9; unit < 1; unit *= 10 {
		for _, n := range [...]float64{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
	for _, step := range roundSteps {
		if step >= least {
			return step
		}
	}
	for unit := year; ; unit *= 10 {
		for _, n := range [...]float64{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
}

// room is what a label and the space around it take, in pixels.
const room = 92

// ticks are the grid: round instants of the clock that is shown.
func (s scale) ticks() []tick {
	step := s.step(room / s.width)
	shift := 0.0 // so that steps are round on the clock and not from the beginning
	if !s.start.IsZero() {
		_, zone := s.start.Zone()
		shift = math.Mod(float64(s.start.Unix())+float64(zone), max(step, day)) + float64(s.start.Nanosecond())/1e9
	}
	var all []tick
	last := "" // the date of the tick before
	first := math.Ceil((s.from+shift)/step - 1e-6)
	for i := range 1000 { // there are fewer
		n := first + float64(i)
		at := n*step - shift
		if at > s.until+1e-6*step {
			break
		}
		share := (at - s.from) / (s.until - s.from)
		text := s.label(n*step, at, step)
		if date := s.date(at); step < day && date != last {
			text = s.newDay(at, text, last == "")
			last = date
		}
		all = append(all, tick{s.left + s.width*min(max(share, 0), 1), text})
	}
	return all
}

// date is the day of an instant; "" where the axis has no dates.
func (s scale) date(at float64) string {
	if s.start.IsZero() {
		return ""
	}
	return s.start.Add(saturated(at)).Round(time.Millisecond).Format(time.DateOnly)
}

// newDay labels the first tick of a day: at midnight by its date. Where clocks have
// been changed since the picture's beginning, ticks may miss midnight.
func (s scale) newDay(at float64, text string, first bool) string {
	t := s.start.Add(saturated(at)).Round(time.Millisecond)
	y, m, d := t.Date()
	switch midnight := t.Equal(time.Date(y, m, d, 0, 0, 0, 0, t.Location())); {
	case midnight && s.days():
		return t.Format(time.DateOnly)
	case first, midnight, len(text) > len("15:04"): // no room for both
		return text
	}
	return t.Format("01-02 ") + text
}

// days tells whether what is drawn is of more than one day.
func (s scale) days() bool { return s.date(s.from) != s.date(s.until) }

// label names an instant as precisely as its step needs.
func (s scale) label(value, at, step float64) string {
	if s.start.IsZero() {
		return elapsed(value, step)
	}
	t := s.start.Add(saturated(at)).Round(time.Duration(min(step, 1) * 1e9 / 2))
	switch {
	case step >= day:
		return t.Format("2006-01-02")
	case step >= 60:
		return t.Format("15:04")
	case step >= 1:
		return t.Format("15:04:05")
	case step >= 1e-3:
		return t.Format("15:04:05.000")
	}
	return t.Format("05.000000000")
}

// elapsed is a time since the beginning.
func elapsed(value, step float64) string {
	if math.Abs(value) < step/2 {
		return "0"
	}
	for _, u := range [...]struct {
		size float64
		name string
	}{{year, "a"}, {day, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if whole := step / u.size; whole >= 1 && math.Abs(whole-math.Round(whole)) < 1e-6 || u.size == 1 && step >= 0.1 && step < 1 {
			return strconv.FormatFloat(math.Round(value/u.size*10)/10, 'f', -1, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(value*1e9, 'f', 0, 64) + " ns"
}

func saturated(sec float64) time.Duration {
	const most = float64(1<<63 - 1024)
	return time.Duration(min(max(sec*1e9, -most), most))
}

// when tells an instant to the millisecond, or to the nanosecond where the whole
// picture is short.
func (s scale) when(at time.Duration) string {
	digits := 3
	if s.until-s.from < 1 {
		digits = 9
	}
	if s.start.IsZero() {
		if s.until < 600 && s.from > -600 {
			return strconv.FormatFloat(seconds(at), 'f', digits, 64) + " s"
		}
		return at.Round(time.Millisecond).String()
	}
	layout := "15:04:05." + strings.Repeat("0", digits)
	if s.days() {
		layout = "2006-01-02 " + layout
	}
	return s.start.Add(at).Format(layout)
}

// caption says what the axis shows.
func (s scale) caption() string {
	if s.start.IsZero() {
		return "Time counts from the beginning."
	}
	t := s.start.Add(saturated(s.from))
	if s.days() {
		return fmt.Sprintf("From %s to %s, %s.", t.Format(time.DateTime), s.start.Add(saturated(s.until)).Format(time.DateTime), t.Format("MST (UTC-07:00)"))
	}
	return fmt.Sprintf("Times of day on %s, %s.", t.Format("2006-01-02"), t.Format("MST (UTC-07:00)"))
}

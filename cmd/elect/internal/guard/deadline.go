package guard

import "time"

// Reading is one look at this host's clocks. Both mean the same in every process
// of the host.
type Reading struct {
	// Mono is the monotonic clock, suspended time included where the system has
	// such a clock.
	Mono time.Duration `json:"mono"`
	// Wall is the wall clock, since the Unix epoch.
	Wall time.Duration `json:"wall"`
}

// Since is how much time may have passed from prev to r: what the clock that
// moved further says. A clock that was set back says nothing.
func (r Reading) Since(prev Reading) time.Duration {
	return max(r.Mono-prev.Mono, r.Wall-prev.Wall, 0)
}

// deadline is what the guard knows of the term. It is a value without a clock.
type deadline struct {
	length time.Duration // of the term
	left   time.Duration // until it is over, at last
	sent   Reading       // before the write that granted it
	last   Reading
}

// advance lets the time pass until now.
func (d *deadline) advance(now Reading) {
	d.left -= now.Since(d.last)
	d.last = now
}

// renew notes a term that was granted by a write sent after at.
func (d *deadline) renew(now, at Reading, length time.Duration) {
	d.advance(now)
	d.length = length
	if left := length - now.Since(at); left > d.left || d.sent == (Reading{}) {
		d.left, d.sent = max(d.left, left), at
	}
}

// When SIGTERM and SIGKILL are due, as what is left of the term. The second has
// to be early enough for a busy machine to carry it out; the first leaves
// COMMAND as much again to clean up, and a leader time for two renewals before.
func (d *deadline) stopDue() bool { return d.left <= d.length/5 }
func (d *deadline) killDue() bool { return d.left <= d.length/10 }

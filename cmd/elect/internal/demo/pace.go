package demo

import "time"

// pace is how fast a demo goes.
type pace struct {
	term, renew, poll time.Duration
	// minWrite is gcsdecider.Options.MinWriteInterval: 0 is Cloud Storage's own
	// second, negative none, which only an emulator endures.
	minWrite time.Duration
	// lead is how long a leader leads undisturbed. Half a renewal is in it, so
	// that leaders are met in the middle between two, as they are on average.
	lead time.Duration
}

// usualPace is one that Cloud Storage itself allows.
func usualPace() pace {
	return pace{term: 4 * time.Second, renew: 4 * time.Second / 3, poll: 500 * time.Millisecond, lead: 4700 * time.Millisecond}
}

func fastPace() pace {
	return pace{term: 2 * time.Second, renew: 500 * time.Millisecond, poll: 200 * time.Millisecond, minWrite: -1, lead: 1750 * time.Millisecond}
}

// about is how long a demo at this pace takes, for the scale of the timeline:
// the script of play.go with failovers after nine tenths of a term.
func (p pace) about() time.Duration { return 4*p.lead + p.lead/2 + 9*p.term/5 + p.poll + time.Second }

// patience is how long anything that has to happen may take.
func (p pace) patience() time.Duration { return 4*p.term + 10*time.Second }

// flags are what a worker has to know of it.
func (p pace) flags() []string {
	return []string{"--term", p.term.String(), "--renew", p.renew.String(), "--poll", p.poll.String(), "--min-write", p.minWrite.String()}
}

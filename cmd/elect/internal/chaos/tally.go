package chaos

import (
	"slices"
	"time"
)

// tally counts what happened in an election.
type tally struct {
	Reigns   int // COMMANDs that wrote at least one accepted record
	Silent   int // COMMANDs that ended before
	Accepted int // records
	Refused  int
	Endings  map[Ending]int
	Acts     map[Act]int
	Hired    int
	Off      int // those hired with a clock that is an hour off or more
	// Failovers is how long it took until somebody led, after what was done.
	Failovers map[Ending][]time.Duration
}

// Endings that are no faults.
const (
	Unexplained Ending = "unexplained" // nothing was done to it
	Closing     Ending = "closing"     // the run was over
)

func (t *tally) did(e Event) {
	if t.Acts == nil {
		t.Acts = make(map[Act]int)
	}
	t.Acts[e.Act]++
}

func (t *tally) hired(e Event) {
	t.Hired++
	if e.Offset.Abs() >= time.Hour {
		t.Off++
	}
}

func (t *tally) over(r *reign) {
	if r.records == 0 {
		t.Silent++
		return
	}
	t.Reigns++
	if t.Endings == nil {
		t.Endings = make(map[Ending]int)
	}
	ending := r.ending
	if ending == "" {
		ending = Unexplained
	}
	t.Endings[ending]++
}

func (t *tally) led(after Ending, took time.Duration) {
	if after == "" { // the first one
		return
	}
	if t.Failovers == nil {
		t.Failovers = make(map[Ending][]time.Duration)
	}
	t.Failovers[after] = append(t.Failovers[after], took)
}

// add adds another election's.
func (t *tally) add(o tally) {
	t.Reigns += o.Reigns
	t.Silent += o.Silent
	t.Accepted += o.Accepted
	t.Refused += o.Refused
	t.Hired += o.Hired
	t.Off += o.Off
	t.Endings = sum(t.Endings, o.Endings)
	t.Acts = sum(t.Acts, o.Acts)
	for ending, all := range o.Failovers {
		for _, d := range all {
			t.led(ending, d)
		}
	}
}

func sum[K comparable](a, b map[K]int) map[K]int {
	if a == nil {
		a = make(map[K]int)
	}
	for k, n := range b {
		a[k] += n
	}
	return a
}

// at returns the value below which that part of all is.
func at(all []time.Duration, part float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

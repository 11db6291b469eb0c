package timeline

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// piece is a Span where it is drawn: between two instants in the picture.
type piece struct {
	from, to time.Duration
	x0, x1   float64
	begins   bool // in the picture, and is not cut off there
	ends     bool
}

// least is how narrow a bar is at least, so that it can be seen.
const least = 3

// place cuts a span to what is drawn; false: nothing of it is.
func (s scale) place(p Span) (piece, bool) {
	to := p.To
	if p.Open {
		to = max(saturated(s.until), p.From)
	}
	if seconds(p.From) > s.until || seconds(to) < s.from {
		return piece{}, false
	}
	q := piece{from: p.From, to: to, x0: s.x(p.From), x1: s.x(to), begins: s.holds(p.From), ends: !p.Open && s.holds(to)}
	if q.x1 < q.x0+least {
		q.x1 = q.x0 + least
		if q.x1 > s.right() {
			q.x0, q.x1 = s.right()-least, s.right()
		}
	}
	return q, true
}

// bar is a reign that is drawn, or a few that are too short to be told apart.
type bar struct {
	piece
	Reign        // the first
	count  int   // how many there are
	lastly int64 // the highest token of them
}

// bars are the reigns of a row as they are drawn. Those that are narrower than
// grain and lie within it become one.
func (s scale) bars(reigns []Reign, grain float64) []bar {
	sorted := slices.Clone(reigns)
	slices.SortStableFunc(sorted, func(a, b Reign) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Token, b.Token))
	})
	var all []bar
	for _, r := range sorted {
		p, ok := s.place(r.Span)
		if !ok {
			continue
		}
		if n := len(all); n > 0 {
			last := &all[n-1]
			if p.x1-p.x0 < grain && p.x1-last.x0 < 2*grain && last.x1 > p.x0-1 && last.x1-last.x0 < 2*grain {
				last.x1, last.to = max(last.x1, p.x1), max(last.to, p.to)
				last.count += 1
				last.lastly = max(last.lastly, r.Token)
				last.Seen = last.Seen && r.Seen
				last.ends = p.ends
				continue
			}
		}
		all = append(all, bar{piece: p, Reign: r, count: 1, lastly: r.Token})
	}
	return all
}

// rest is what is left of the term of a reign that has ended.
type rest struct {
	piece
	token int64
}

// rests are those of a row that are wide enough to be seen. One that another reign
// of the row cuts short ends there.
func (s scale) rests(reigns []Reign, grain float64) (all []rest) {
	var begins []time.Duration
	for _, r := range reigns {
		begins = append(begins, r.From)
	}
	slices.Sort(begins)
	for _, r := range reigns {
		to := r.termEnd()
		if i, _ := slices.BinarySearch(begins, r.To); i < len(begins) {
			to = min(to, begins[i])
		}
		if r.Open || to <= r.To {
			continue
		}
		if p, ok := s.place(Span{From: r.To, To: to}); ok && p.x1-p.x0 >= min(grain, 2*least) {
			all = append(all, rest{p, r.Token})
		}
	}
	return all
}

// strip is a fault that is drawn.
type strip struct {
	piece
	Fault
	count, lane int
}

// strips are the faults of a row: as few lanes as it takes, of which none has two
// at a time. More than most lanes lie on the last one.
func (s scale) strips(faults []Fault, grain float64, most int) (all []strip, lanes int) {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.What, b.What))
	})
	latest := map[string]int{} // of each kind
	var free []float64
	for _, f := range sorted {
		p, ok := s.place(f.Span)
		if !ok {
			continue
		}
		if i, seen := latest[f.What]; seen && p.x0 < all[i].x1+1 && p.x1-p.x0 < grain && p.x1-all[i].x0 < 4*grain {
			all[i].x1, all[i].to = max(all[i].x1, p.x1), max(all[i].to, p.to)
			all[i].count++
			free[all[i].lane] = max(free[all[i].lane], all[i].x1)
			continue
		}
		lane := slices.IndexFunc(free, func(x float64) bool { return x <= p.x0 })
		switch {
		case lane >= 0:
			free[lane] = p.x1
		case len(free) < most:
			lane, free = len(free), append(free, p.x1)
		default:
			lane = most - 1
			free[lane] = max(free[lane], p.x1)
		}
		latest[f.What] = len(all)
		all = append(all, strip{p, f, 1, lane})
	}
	return all, len(free)
}

// dot is a mark that is drawn, or a few of one kind that lie on each other.
type dot struct {
	Mark
	to time.Duration // of the last one
	x  float64
}

// dots are the marks of one kind in a row, none closer to the next than grain.
func (s scale) dots(marks []Mark, kind MarkKind, grain float64) []dot {
	var mine []Mark
	for _, m := range marks {
		if m.Kind == kind && s.holds(m.At) {
			m.Count = max(m.Count, 1)
			mine = append(mine, m)
		}
	}
	slices.SortStableFunc(mine, func(a, b Mark) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Text, b.Text))
	})
	var all []dot
	for _, m := range mine {
		x := s.x(m.At)
		if n := len(all); n > 0 && x < all[n-1].x+grain {
			last := &all[n-1]
			last.Count += m.Count
			last.to = m.At
			if last.Token != m.Token {
				last.Token = 0
			}
			continue
		}
		all = append(all, dot{m, m.At, x})
	}
	return all
}

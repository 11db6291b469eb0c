package timeline

import (
	"slices"
	"time"
)

const defaultMost = 20_000

// forget keeps the memory bounded: renewals and their like are thinned out first,
// and then what is oldest goes. r.mu is held.
func (r *Recorder) forget() {
	most := r.Most
	if most <= 0 {
		most = defaultMost
	}
	if r.things <= most {
		return
	}
	r.thin()
	for r.things > most*3/4 && r.things > 1 {
		r.drop()
	}
}

// thin makes one mark of every two in a row that can be spared.
func (r *Recorder) thin() {
	for _, row := range r.rows {
		var kept []Mark
		open := map[MarkKind]int{} // one more than the place of a mark that takes in another
		for _, m := range row.marks {
			m.Count = max(m.Count, 1)
			if i := open[m.Kind]; i > 0 && (m.Kind == Renewed || m.Kind == Failed) && kept[i-1].Token == m.Token {
				kept[i-1].Count += m.Count
				open[m.Kind] = 0
				continue
			}
			kept = append(kept, m)
			open[m.Kind] = len(kept)
		}
		r.things -= len(row.marks) - len(kept)
		row.marks = slices.Clip(kept)
	}
}

// drop forgets the oldest quarter.
func (r *Recorder) drop() {
	var ends []time.Duration
	for _, row := range r.rows {
		for _, s := range row.lives {
			ends = append(ends, s.To)
		}
		for _, g := range row.reigns {
			ends = append(ends, g.until())
		}
		for _, m := range row.marks {
			ends = append(ends, m.At)
		}
	}
	if len(ends) == 0 {
		r.rows, r.byName, r.things = nil, nil, 0
		return
	}
	slices.Sort(ends)
	oldest := ends[len(ends)/4]
	r.from, r.forgot = oldest, true
	r.things = 0
	r.rows = slices.DeleteFunc(r.rows, func(row *recorded) bool {
		row.lives = slices.DeleteFunc(row.lives, func(s Span) bool { return s.To <= oldest })
		row.reigns = slices.DeleteFunc(row.reigns, func(g recordedReign) bool { return g.until() <= oldest })
		row.marks = slices.DeleteFunc(row.marks, func(m Mark) bool { return m.At <= oldest })
		n := len(row.lives) + len(row.reigns) + len(row.marks)
		if n == 0 {
			delete(r.byName, row.name)
			return true
		}
		r.things += 1 + n
		return false
	})
}

// until is when a reign was heard of last.
func (g *recordedReign) until() time.Duration {
	if g.Open {
		return max(g.From, g.renewed)
	}
	return g.To
}

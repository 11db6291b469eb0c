package sim

import (
	"fmt"
	"strings"
	"time"
)

// columns is how wide a timeline is.
const columns = 110

// Draw is the text for a run that failed: what was violated, how to repeat it,
// and the picture of the run around it.
func (r *Result) Draw(p Plan) string {
	var b strings.Builder
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "sim: violation: %s at %v: %s\n", v.Kind, v.At, v.What)
	}
	fmt.Fprintf(&b, "repeat with: go test ./core/internal/sim -run TestSim -sim.profile %s -sim.seed %d\n", p.Profile.Name, p.Seed)
	b.WriteString("and to draw it add: -sim.timeline $PWD/run.html\n")
	if len(r.Violations) == 0 {
		return b.String()
	}
	at := r.Violations[0].At
	b.WriteString(r.timeline(p, at))
	b.WriteString(p.describe())
	b.WriteString("what happened before it:\n")
	before := 0
	notes := r.diary.sorted()
	for i, n := range notes {
		if n.at <= at {
			before = i + 1
		}
	}
	for _, n := range notes[max(before-60, 0):min(before+5, len(notes))] {
		fmt.Fprintf(&b, "%14.9f  %-6s %s\n", n.at.Seconds(), nameOf(p, n.who), n)
	}
	return b.String()
}

// describe is who takes part.
func (p Plan) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "store: %.0f %% of the answers tell the time, %v off, servers up to %v apart, one write per %v\n",
		p.Store.Tells*100, p.Store.Offset, p.Store.Spread, p.Store.Limit)
	for _, h := range p.Hosts {
		fmt.Fprintf(&b, "%-6s term %v, MaxClockSkew %v, wall clock %v off, rate %.4f, PollInterval %v, MinHold %v, NoClockProof %v; network: %v\n",
			h.Name, h.Term, h.Skew, h.Offset, h.Rate, h.Poll, h.MinHold, h.NoClockProof, h.Net)
	}
	return b.String()
}

// timeline draws a few terms around an instant: for each host who lives and
// leads, and below it what befalls it.
func (r *Result) timeline(p Plan, at time.Duration) string {
	from := max(at-4*p.Longest, 0)
	per := 5 * p.Longest / columns
	column := func(t time.Duration) int { return int((t - from) / per) }
	fill := func(row []byte, a, b time.Duration, c byte) {
		for i := max(column(a), 0); i <= column(b) && i < columns; i++ {
			row[i] = c
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "true time %v to %v, one column is %v; - a process, = it leads (from its token's last digits), X it crashes;\n"+
		"below: m w the monotonic or the wall clock stands still, s it steps, r the rate changes, p the process pauses, c no connection\n",
		from, from+5*p.Longest, per)
	ruler := []byte(strings.Repeat(" ", columns))
	fill(ruler, at, at, '!')
	fmt.Fprintf(&b, "       %s\n", ruler)
	for i, h := range p.Hosts {
		lives, faults := []byte(strings.Repeat(" ", columns)), []byte(strings.Repeat(" ", columns))
		r.drawLives(lives, i, fill, column)
		for _, s := range append(append([]span{}, h.Cuts...), p.Outages...) {
			fill(faults, s.from, s.to, 'c')
		}
		for _, f := range h.Faults {
			fill(faults, f.At, f.At+f.For, letter(f.Kind))
		}
		fmt.Fprintf(&b, "%-6s %s\n       %s\n", h.Name, lives, strings.TrimRight(string(faults), " "))
	}
	return b.String()
}

func (r *Result) drawLives(row []byte, host int, fill func([]byte, time.Duration, time.Duration, byte), column func(time.Duration) int) {
	type from struct {
		at    time.Duration
		token int64
	}
	var life, lead *from
	last := time.Duration(0)
	var labels []func() // over everything else
	label := func(l *from, to time.Duration) {
		labels = append(labels, func() { r.drawReign(row, l.at, to, l.token, fill, column) })
	}
	for _, n := range r.diary.sorted() {
		last = n.at
		if n.who != host {
			continue
		}
		switch n.what {
		case started:
			life = &from{at: n.at}
		case elected:
			if life != nil {
				fill(row, life.at, n.at, '-')
				life.at = n.at
			}
			lead = &from{n.at, n.a}
		case ended, crashed, stopped:
			if lead != nil {
				label(lead, n.at)
				if life != nil {
					life.at = n.at + 1
				}
				lead = nil
			}
			if n.what != ended && life != nil {
				fill(row, life.at, n.at, '-')
				life = nil
			}
			if n.what == crashed {
				fill(row, n.at, n.at, 'X')
			}
		}
	}
	if life != nil {
		fill(row, life.at, last, '-')
	}
	if lead != nil {
		label(lead, last)
	}
	for _, draw := range labels {
		draw()
	}
}

func (r *Result) drawReign(row []byte, from, to time.Duration, token int64, fill func([]byte, time.Duration, time.Duration, byte), column func(time.Duration) int) {
	fill(row, from, to, '=')
	if column(to) < 0 {
		return
	}
	text := fmt.Sprintf("[%d", token%10000)
	for i := range text {
		if c := max(column(from), 0) + i; c < len(row) {
			row[c] = text[i]
		}
	}
}

func letter(k FaultKind) byte {
	switch k {
	case faultMono:
		return 'm'
	case faultWall:
		return 'w'
	case faultBoth:
		return 'b'
	case faultRate:
		return 'r'
	case faultStep:
		return 's'
	}
	return 'p'
}

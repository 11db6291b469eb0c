package demo

import (
	"fmt"
	"strings"
)

// closing says what the demo has shown.
func (p *play) closing(r result) string {
	var b strings.Builder
	say := func(ok bool, good, bad string) {
		word := "ok   "
		if !ok {
			word, good = "FAULT", bad
		}
		fmt.Fprintf(&b, "  %s  %s\n", word, good)
	}
	_, rising := p.tokens()
	say(r.Overlaps == 0,
		fmt.Sprintf("%s, and in %d checks no two workers led at the same time", counted(r.Reigns, "reign", "reigns"), p.passes),
		counted(r.Overlaps, "pair of reigns", "pairs of reigns")+" overlapped")
	say(rising, "fencing tokens rose from reign to reign", "fencing tokens did not rise")
	say(r.StaleWrites == 0,
		fmt.Sprintf("the log took %s, none of them late, and refused %d", counted(len(p.wrote), "line", "lines"), r.Refused),
		"the log took "+counted(r.StaleWrites, "late line", "late lines"))
	fmt.Fprintln(&b)
	return b.String()
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

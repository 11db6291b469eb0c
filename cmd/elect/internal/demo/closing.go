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
		fmt.Sprintf("%d reigns, and in %d checks no two workers led at the same time", r.Reigns, p.passes),
		fmt.Sprintf("%d pairs of reigns overlapped", r.Overlaps))
	say(rising, "fencing tokens rose from reign to reign", "fencing tokens did not rise")
	say(r.StaleWrites == 0,
		fmt.Sprintf("the log took %d lines, none of them late, and refused %d", len(p.wrote), r.Refused),
		fmt.Sprintf("the log took %d late lines", r.StaleWrites))
	fmt.Fprintln(&b)
	return b.String()
}

package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/screen"
	electionpicture "github.com/cloudelect/cloudelect/core/timeline"
)

// performance is a short history on a board: one leader killed, the next one
// frozen and refused.
func performance() (*play, *bytes.Buffer) {
	var out bytes.Buffer
	p := &play{board: newBoard(screen.New(&out, func(string) string { return "" }), 2, time.Minute)}
	at := func(s float64) int64 { return p.board.start + int64(s*1e9) }
	one, two, again := &process{row: 0}, &process{row: 1}, &process{row: 0}
	p.board.hired(one, at(0))
	p.board.hired(two, at(0))
	checks(&p.history, one, 1001, at(1), at(1), at(10), at(10))
	p.board.mark(0, at(10), timeline.Killed)
	p.board.gone(one, at(10))
	checks(&p.history, two, 1002, at(14), at(14), at(20), at(20))
	p.board.hired(again, at(15))
	p.board.mark(1, at(20), timeline.Stopped)
	p.board.mark(1, at(26), timeline.Continued)
	checks(&p.history, again, 1003, at(25), at(25), at(30), at(30))
	for _, s := range []float64{1, 2, 3, 14, 15, 25} {
		p.history.add(report{two, message{Kind: kindWrote, At: at(s)}})
	}
	p.board.refused(at(26))
	p.board.final(&p.history, at(30))
	return p, &out
}

func TestPicture(t *testing.T) {
	_, out := performance()
	if got := out.String(); got != golden {
		t.Errorf("drawn:\n%swant:\n%s", got, golden)
	}
}

const golden = `
          0 s        5 s         10 s        15 s       20 s        25 s
          +----------+-----------+-----------+----------+-----------+-----------
worker-1  --######## 001 ########X           -----------------------### 003 ###
worker-2  --------------------------------#### 002 #####S:::::::::::::C--------
the log     . .  .                        .  .                      . !

-- waiting   :: frozen   ## leads (end of its fencing token)   X kill -9
S kill -STOP   C kill -CONT   ! a late line is refused

`

func TestClosingSaysWhatIsWrong(t *testing.T) {
	p, _ := performance()
	good := p.closing(result{Reigns: 3, Refused: 1})
	if strings.Contains(good, "FAULT") || strings.Count(good, "  ok ") != 3 {
		t.Errorf("of a demo in which all was well:\n%s", good)
	}
	bad := p.closing(result{Reigns: 3, Overlaps: 1, StaleWrites: 2})
	if strings.Count(bad, "FAULT") != 2 || !strings.Contains(bad, "1 pair of reigns overlapped") || !strings.Contains(bad, "took 2 late lines") {
		t.Errorf("of a demo with two faults:\n%s", bad)
	}
}

// A leader's term outlasts what stops it, and nobody follows before that: the bar of one
// that is frozen goes on until then, and one that has died leaves the rest of its term.
func TestTermsAreDrawnToTheirEnds(t *testing.T) {
	b := newBoard(nil, 3, time.Minute)
	at := func(s float64) int64 { return b.start + int64(s*1e9) }
	var h history
	lead := func(row int, token int64, from, last, ends float64, why string) *process {
		w := &process{row: row}
		b.hired(w, at(0))
		for _, s := range []float64{from, last} {
			h.add(report{w, message{Kind: kindPassed, Token: token, Before: at(s), After: at(s), Ends: at(s) + 1}})
		}
		h.add(report{w, message{Kind: kindPassed, Token: token, Before: at(last), After: at(last), Ends: at(ends)}})
		if why != "" {
			h.add(report{w, message{Kind: kindEnded, Token: token, Text: why}})
		}
		return w
	}
	killed := lead(0, 1, 1, 5, 8, "")
	b.gone(killed, at(5))
	lead(1, 2, 9, 14.4, 17.8, whyExpired) // and found that out at 20
	lead(2, 3, 18.5, 24, 27, whyAsked)
	lead(0, 4, 25, 30, 33, "") // is frozen, and nobody has let it go on
	lead(1, 5, 34, 39, 43, "") // leads
	rows := b.drawn(&h, at(40), "").Rows
	span := func(from, to float64) electionpicture.Span {
		return electionpicture.Span{From: time.Duration(from * 1e9), To: time.Duration(to * 1e9)}
	}
	open := span(34, 39)
	open.Open = true
	for i, want := range []struct {
		row, n int
		electionpicture.Reign
	}{
		{0, 0, electionpicture.Reign{Span: span(1, 5), Token: 1, Rest: 3 * time.Second, Why: "the process is gone"}},
		{1, 0, electionpicture.Reign{Span: span(9, 17.8), Token: 2, End: electionpicture.EndExpired, Why: whyExpired}},
		{2, 0, electionpicture.Reign{Span: span(18.5, 24), Token: 3, End: electionpicture.EndResigned, Why: whyAsked}},
		{0, 1, electionpicture.Reign{Span: span(25, 33), Token: 4, End: electionpicture.EndExpired, Why: whyExpired}},
		{1, 1, electionpicture.Reign{Span: open, Token: 5}},
	} {
		if got := rows[want.row].Reigns[want.n]; got != want.Reign {
			t.Errorf("reign %d is drawn as %+v,\nwant %+v", i+1, got, want.Reign)
		}
	}
}

package demo

import (
	"fmt"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/timeline/screen"
)

// board shows the performance: a line for every event as it happens, and below
// them the timeline of the reigns, which a terminal shows as it grows.
type board struct {
	screen *screen.Screen // nil: nobody watches
	start  int64
	about  time.Duration
	rows   int
	shifts []*shift
	marks  []mark
	done   map[*reign]bool
}

// shift is the life of one process.
type shift struct {
	worker   *process
	from, to int64 // to: 0 while it lives
}

type mark struct {
	row  int
	at   int64
	sign timeline.Sign
}

func newBoard(s *screen.Screen, rows int, about time.Duration) *board {
	return &board{screen: s, start: hostNow(), about: about, rows: rows, done: make(map[*reign]bool)}
}

// say tells of an event that happened just now.
func (b *board) say(format string, args ...any) {
	if b.screen != nil {
		b.screen.Print(fmt.Sprintf("%6.1f s  %s\n", since(b.start, hostNow()).Seconds(), fmt.Sprintf(format, args...)))
	}
}

func (b *board) hired(w *process, at int64) { b.shifts = append(b.shifts, &shift{worker: w, from: at}) }

func (b *board) gone(w *process, at int64) {
	for _, s := range b.shifts {
		if s.worker == w {
			s.to = at
		}
	}
}

func (b *board) mark(row int, at int64, sign timeline.Sign) {
	b.marks = append(b.marks, mark{row, at, sign})
}

// refused marks a refusal in the row of the log.
func (b *board) refused(at int64) { b.mark(b.rows, at, timeline.Refused) }

// over: the worker itself knows that this reign is.
func (b *board) over(r *reign)       { b.done[r] = true }
func (b *board) ended(r *reign) bool { return b.done[r] }

// draw shows the timeline as it is now.
func (b *board) draw(h *history, now int64) {
	if b.screen != nil && b.screen.Terminal() {
		b.screen.Redraw("\n" + b.picture(h, now, max(b.about, since(b.start, now))))
	}
}

// final draws the timeline for good.
func (b *board) final(h *history, now int64) {
	if b.screen == nil {
		return
	}
	b.screen.Redraw("")
	b.screen.Keep()
	b.screen.Print("\n" + b.picture(h, now, since(b.start, now)) + "\n")
}

func (b *board) picture(h *history, now int64, until time.Duration) string {
	c := b.chart(h, now)
	c.Until = until
	style := b.screen.Style()
	return c.Render(style) + "\n" + c.Legend(style, words())
}

// words are what the timeline's spans and signs mean here.
func words() timeline.Words {
	return timeline.Words{
		Kinds: map[timeline.Kind]string{timeline.Leading: "leads (end of its fencing token)"},
		Signs: map[timeline.Sign]string{
			timeline.Killed: "kill -9", timeline.Stopped: "kill -STOP", timeline.Continued: "kill -CONT",
			timeline.Terminated: "kill -TERM", timeline.Refused: "a late line is refused",
		},
	}
}

// chart is the history as rows: the workers, and the log.
func (b *board) chart(h *history, now int64) timeline.Chart {
	at := func(t int64) time.Duration { return since(b.start, t) }
	c := timeline.Chart{Rows: make([]timeline.Row, b.rows+1)}
	for i := range b.rows {
		c.Rows[i].Name = fmt.Sprintf("worker-%d", i+1)
	}
	log := &c.Rows[b.rows]
	log.Name = "the log"
	for _, t := range h.wrote {
		log.Ticks = append(log.Ticks, at(t))
	}
	for _, s := range b.shifts {
		to := s.to
		if to == 0 {
			to = now
		}
		row := &c.Rows[s.worker.row]
		row.Spans = append(row.Spans, timeline.Span{From: at(s.from), To: at(to), Kind: timeline.Waiting})
	}
	b.frozen(&c, now)
	for _, r := range h.reigns {
		if r.passes == 0 {
			continue
		}
		row := &c.Rows[r.worker.row]
		row.Spans = append(row.Spans, timeline.Span{From: at(r.first.before), To: at(r.last.after), Kind: timeline.Leading,
			Label: fmt.Sprintf("%03d", r.token%1000), Color: r.worker.row})
	}
	for _, m := range b.marks {
		row := &c.Rows[m.row]
		row.Marks = append(row.Marks, timeline.Mark{At: at(m.at), Sign: m.sign})
	}
	return c
}

// frozen adds the times between a stop and its end.
func (b *board) frozen(c *timeline.Chart, now int64) {
	for i, m := range b.marks {
		if m.sign != timeline.Stopped {
			continue
		}
		to := now
		for _, later := range b.marks[i:] {
			if later.row == m.row && later.sign == timeline.Continued {
				to = later.at
				break
			}
		}
		row := &c.Rows[m.row]
		row.Spans = append(row.Spans, timeline.Span{From: since(b.start, m.at), To: since(b.start, to), Kind: timeline.Frozen})
	}
}

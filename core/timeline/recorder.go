package timeline

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Recorder makes a Chart of what candidates tell while they campaign and lead. Its
// zero value is ready. Any number of candidates of one election may share it, from
// any goroutine:
//
//	var seen timeline.Recorder
//	cfg.OnEvent = seen.OnEvent
//
// Leaders that do not share it are drawn as the others saw them. It remembers so
// much and no more: then renewals are thinned out, and when that is not enough the
// oldest things are forgotten, with which the picture begins later.
type Recorder struct {
	// Title is the chart's. Set it before the first event.
	Title string
	// Most is how many reigns, marks and candidates it remembers; 0 is 20,000. Set
	// it before the first event.
	Most int

	mu     sync.Mutex
	begin  time.Time // of the first event: instants count from here
	latest time.Duration
	rows   []*recorded
	things int           // in all rows
	from   time.Duration // what was before is forgotten
	forgot bool
	token  int64     // the highest one that candidates told of
	led    *recorded // whose reign is seen, and by which token: never more than one
	ledBy  int64
	byName map[string]*recorded
}

// recorded is what is known of one candidate.
type recorded struct {
	name   string
	lives  []Span
	due    time.Duration // when it has to be heard of again, if it lives
	reigns []recordedReign
	marks  []Mark
}

// recordedReign is a reign and, while it is open, the version that was seen last.
type recordedReign struct {
	Reign
	term    time.Duration
	renewed time.Duration
	ends    time.Duration // its term, unless it is renewed; of a reign that tells of itself
	number  entry.ElectionNumber
}

// OnEvent takes an event in: pass it as core.Config.OnEvent. It returns at once.
func (r *Recorder) OnEvent(e core.Event) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at(e.Time)
	row := r.row(e.LeaderID)
	row.lived(r, at, e)
	mark := func(kind MarkKind, token int64, text string) {
		row.marks = append(row.marks, Mark{At: at, Kind: kind, Token: token, Text: text})
		r.things++
	}
	switch e.Kind {
	case core.EventElected:
		r.elected(row, at, e)
	case core.EventRenewed:
		mark(Renewed, e.Entry.FencingToken, "")
		if g := row.reign(e.Entry.FencingToken); g != nil {
			g.renewed, g.ends = at, r.termEnds(at, e.Entry)
		}
	case core.EventEnded:
		row.ended(at, e)
	case core.EventResigned:
		row.resigned(at, e.Entry)
	case core.EventLeaderChanged, core.EventWaiting:
		if e.Entry.Nonce != "" && e.Entry.FencingToken >= r.token { // candidates are told at different times
			r.token = e.Entry.FencingToken
			r.saw(at, e.Entry)
		}
	case core.EventRequest:
		switch {
		case e.Outcome == core.OutcomeLost && e.Op == core.OpAcquire:
			mark(LostRace, 0, "a race for the election is lost")
		case e.Outcome == core.OutcomeUnknown, e.Outcome == core.OutcomeBroken, e.Outcome == core.OutcomeLost:
			mark(Failed, 0, said(e.Op.String()+": "+e.Outcome.String(), e.Err))
		}
	case core.EventNotResigned:
		mark(Failed, 0, said("the resignation is not confirmed", e.Err))
	case core.EventBadEntry:
		mark(Trouble, 0, said("what is stored is no entry", e.Err))
	case core.EventVanished:
		mark(Trouble, 0, "the entry is gone")
	case core.EventClockOffset:
		mark(Trouble, 0, "the local clock is off by "+e.ClockOffset.String())
	case core.EventMissed:
		mark(Trouble, 0, "events were missed")
	}
	r.forget()
}

// Saw takes in an entry that was read at this time, for who only watches
// (core.WatchConfig): call it for every read, or for every version. An entry that
// was never written says that nothing is stored.
func (r *Recorder) Saw(at time.Time, e entry.RaceEntry) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saw(r.at(at), e)
	r.forget()
}

func said(what string, err error) string {
	if err == nil {
		return what
	}
	return what + ": " + err.Error()
}

// at is when that was, as of the beginning. What has no time happened just now.
func (r *Recorder) at(t time.Time) time.Duration {
	if t.IsZero() {
		return r.latest
	}
	if r.begin.IsZero() {
		r.begin = t.Round(0)
	}
	at := t.Round(0).Sub(r.begin)
	r.latest = max(r.latest, at)
	return at
}

func (r *Recorder) row(name string) *recorded {
	if row := r.byName[name]; row != nil {
		return row
	}
	row := &recorded{name: name}
	if r.byName == nil {
		r.byName = map[string]*recorded{}
	}
	r.rows, r.byName[name] = append(r.rows, row), row
	r.things++
	return row
}

// lived notes that there is a process. After a long silence it is another one.
func (row *recorded) lived(r *Recorder, at time.Duration, e core.Event) {
	n := len(row.lives)
	if n == 0 || at > row.due {
		row.lives = append(row.lives, Span{From: at, To: at})
		r.things++
		n++
	}
	row.lives[n-1].To = max(row.lives[n-1].To, at)
	row.due = max(row.due, at+10*time.Second+2*bounded(max(e.Wait, e.Entry.TermLength)))
}

// reign finds a reign of the candidate by its token, the newest first.
func (row *recorded) reign(token int64) *recordedReign {
	for i := len(row.reigns) - 1; i >= 0; i-- {
		if row.reigns[i].Token == token {
			return &row.reigns[i]
		}
	}
	return nil
}

func (r *Recorder) elected(row *recorded, at time.Duration, e core.Event) {
	token := e.Entry.FencingToken
	g := row.reign(token)
	if g == nil || !g.Seen { // known already: somebody else saw it before
		row.reigns = append(row.reigns, recordedReign{})
		r.things++
		g = &row.reigns[len(row.reigns)-1]
	}
	*g = recordedReign{Reign: Reign{Span: Span{From: at, Open: true}, Token: token}, term: e.Entry.TermLength, renewed: at, ends: r.termEnds(at, e.Entry)}
	if e.Proof > core.ProofNone && e.Proof <= core.ProofClock {
		g.Proof = e.Proof
	}
	r.token = max(r.token, token)
}

func (row *recorded) ended(at time.Duration, e core.Event) {
	g := row.reign(e.Entry.FencingToken)
	if g == nil || !g.Open || g.Seen {
		return
	}
	end := EndNone
	switch {
	case errors.Is(e.Err, core.ErrResigned):
		end = EndResigned
	case errors.Is(e.Err, core.ErrTermExpired):
		end = EndExpired
	case errors.Is(e.Err, core.ErrLeadershipLost):
		end = EndLost
	}
	why := ""
	if e.Err != nil {
		why = e.Err.Error()
	}
	to := at
	if late := at - g.ends; end == EndExpired && late > 0 { // it stood still meanwhile
		to = g.ends
		if late >= time.Second/10 {
			why += fmt.Sprintf("; it noticed that %v later", late.Round(time.Second/10))
		}
	}
	g.close(to, end, why)
	if end == EndNone || end == EndResigned { // until the store confirms a resignation
		g.Rest = length(g.To, g.ends)
	}
}

func (g *recordedReign) close(at time.Duration, end End, why string) {
	g.Span = Span{From: g.From, To: max(at, g.From)} // a wall clock may have been set back
	g.End, g.Why = end, why
}

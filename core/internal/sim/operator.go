package sim

import (
	"crypto/rand"
	"slices"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// operate does to the entry what people do.
func (w *world) operate() {
	operators := newLane(61, nil)
	type deed struct {
		at time.Duration
		do func(*lane)
	}
	var deeds []deed
	for _, at := range w.plan.Deletions {
		deeds = append(deeds, deed{at, w.delete})
	}
	for _, s := range w.plan.Corruptions {
		deeds = append(deeds, deed{s.from, func(*lane) { w.ledger.spoil() }}, deed{s.to, func(*lane) { w.ledger.repair() }})
	}
	slices.SortStableFunc(deeds, func(a, b deed) int { return int(a.at - b.at) })
	for _, d := range deeds {
		if !operators.until(w.ctx, d.at) {
			return
		}
		d.do(operators)
	}
}

// delete removes the entry: while nobody leads, as an operator may who has made
// sure of that; or under the leader, which is safe as long as nobody comes who has
// never seen it.
func (w *world) delete(l *lane) {
	for range 200 {
		if w.ledger.deleteIf(func() bool {
			if w.plan.Profile.DeleteUnderLeader || w.plan.Seen && w.everyoneHasSeen() {
				return w.judge.anyone()
			}
			return w.ledger.free() && !w.judge.anyone()
		}) {
			return
		}
		if !l.SleepFor(w.ctx, w.plan.Longest/64) || trueTime() > w.plan.Healed {
			return
		}
	}
}

// everyoneHasSeen tells whether every host has a process that knows of an entry, and
// will wait for as long as the present one was granted: somebody with a shorter term,
// whose network was cut since, cannot know better. The ledger's lock is held.
func (w *world) everyoneHasSeen() bool {
	granted := w.ledger.current.TermLength
	return !slices.ContainsFunc(w.hosts, func(h *host) bool {
		l := h.now.Load()
		return l == nil || !l.seen.Load() || h.Term < granted
	})
}

func (l *ledger) deleteIf(may func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Elections begin with the store's time in seconds: with fewer reigns than
	// seconds, tokens that were handed out are lower. docs/SAFETY.md, on deletion.
	dated := l.clock.Tells == 1 && l.token < time.Now().Add(l.clock.Offset).Unix()-2
	if l.current == nil || !may() || !dated && !l.w.plan.Profile.DeleteUnderLeader {
		return false
	}
	l.inner.Delete()
	l.current, l.deleted, l.corrupt = nil, true, false
	l.w.counts.add("fault entry deleted", 1)
	if l.w.judge.anyone() {
		l.w.counts.add("fault entry deleted under its leader", 1)
	}
	l.w.diary.note(-1, happened, 0, 0, "the entry is deleted")
	return true
}

// spoil makes what is stored unreadable.
func (l *ledger) spoil() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.corrupt = true
	l.inner.PlantRaw([]byte("<html>502 Bad Gateway</html>"))
	l.w.counts.add("fault entry corrupted", 1)
	l.w.diary.note(-1, happened, 0, 0, "the entry is corrupted")
}

// repair does what elect break --corrupt does: an entry that holds the election
// closed for the longest term of anybody, with a token above all.
func (l *ledger) repair() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inner.SetClock(nil)
	if l.clock.Tells == 1 {
		l.inner.SetClock(l.clock)
	}
	bad, err := l.inner.ReadCurrent(l.w.ctx)
	if err == nil {
		return // deleted meanwhile
	}
	e := &entry.RaceEntry{LeaderID: "operator", Held: true, TermLength: l.w.plan.Longest, Nonce: rand.Text(), FencingToken: l.token + 1, Token: bad.Token}
	e.ElectionNumber = entry.ElectionNumber(e.FencingToken)
	e.TermExpiry = time.Now().Add(e.TermLength)
	if dated, ok := bad.Token.(core.DatedToken); ok && !dated.StoreDate().IsZero() {
		e.SentBy = dated.StoreDate().Add(time.Second)
		e.TermExpiry = e.SentBy.Add(e.TermLength)
	}
	l.inner.SetLimit(0)
	defer l.inner.SetLimit(l.w.plan.Store.Limit)
	if _, err := l.inner.WriteEntry(l.w.ctx, e); err != nil {
		return
	}
	now := e.Clone()
	l.current, l.token, l.deleted, l.corrupt = &now, e.FencingToken, false, false
	l.reigns[e.Nonce] = len(l.reigns)
	l.sent[e.Nonce] = sending{nil, trueTime()}
	l.w.counts.add("fault entry repaired", 1)
	l.w.diary.note(-1, happened, 0, 0, "an operator repairs the entry")
}

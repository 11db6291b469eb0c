package chaos

import (
	"fmt"
	"slices"
	"time"
)

// vault is the resource that leaders write to. It is fenced: a record is accepted only
// if none with a higher token was. Comparing and noting are one step, under the book's
// lock, so that the vault's order is that of the events.
//
// It also knows the COMMANDs that are connected to it. The lock is the book's for
// everything in here.
type vault struct {
	*book
	shelves []shelf
}

// shelf is the resource of one election.
type shelf struct {
	highest int64
	log     []record
	lives   map[int64]*life // by token
}

// record is a line of the resource's log.
type record struct {
	at       time.Duration
	token    int64
	seq      int
	accepted bool
}

// life is a COMMAND, as long as it is there.
type life struct {
	token    int64
	command  process
	guard    process
	elect    process
	frozen   bool
	gone     bool
	quit     bool // it is told that its work is done
	accepted time.Duration
}

func newVault(b *book, elections int) *vault {
	v := &vault{book: b, shelves: make([]shelf, elections)}
	for i := range v.shelves {
		v.shelves[i].lives = make(map[int64]*life)
	}
	return v
}

// begin takes in a COMMAND. Those before it that the kernel does not know any more are
// gone, even if the news has not come yet.
func (v *vault) begin(election int, l *life) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.shelves[election]
	for _, old := range s.lives {
		if !old.command.alive() {
			v.end(election, old, "the kernel says")
		}
	}
	s.lives[l.token] = l
	v.addLocked(Event{Election: election, Kind: Began, Token: l.token,
		Text: fmt.Sprintf("COMMAND %d, guard %d, elect %d", l.command.pid, l.guard.pid, l.elect.pid)})
}

// append takes in a record, and tells whether it was accepted.
func (v *vault) append(election int, l *life, seq int) (accepted bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.shelves[election]
	accepted = l.token >= s.highest
	kind := Refused
	if accepted {
		s.highest, kind = l.token, Accepted
		l.accepted = v.now()
	}
	s.log = append(s.log, record{v.now(), l.token, seq, accepted})
	if !l.gone {
		v.addLocked(Event{Election: election, Kind: kind, Token: l.token})
	}
	return accepted
}

// leave takes in the end of a COMMAND's connection.
func (v *vault) leave(election int, l *life) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.end(election, l, "")
}

func (v *vault) end(election int, l *life, text string) {
	if l.gone {
		return
	}
	l.gone = true
	if v.shelves[election].lives[l.token] == l {
		delete(v.shelves[election].lives, l.token)
	}
	v.addLocked(Event{Election: election, Kind: Gone, Token: l.token, Text: text})
}

// leader is the COMMAND of the newest reign, if it is at work; or nil.
func (v *vault) leader(election int) *life {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := &v.shelves[election]
	var newest *life
	for _, l := range s.lives {
		if newest == nil || l.token > newest.token {
			newest = l
		}
	}
	if newest == nil || newest.frozen || newest.token != s.highest || v.now()-newest.accepted > 20*recordEvery {
		return nil
	}
	return newest
}

// living are the COMMANDs of an election that are there.
func (v *vault) living(election int) []*life {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []*life
	for _, l := range v.shelves[election].lives {
		all = append(all, l)
	}
	return all
}

// present tells whether a COMMAND is still there.
func (v *vault) present(l *life) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !l.gone
}

// freeze notes that a COMMAND, with its guard, is stopped, or goes on.
func (v *vault) freeze(election int, l *life, frozen bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if l.gone {
		return
	}
	l.frozen = frozen
	kind := Thawed
	if frozen {
		kind = Frozen
	}
	v.addLocked(Event{Election: election, Kind: kind, Token: l.token})
}

// dismiss tells a COMMAND that its work is done.
func (v *vault) dismiss(l *life) {
	v.mu.Lock()
	defer v.mu.Unlock()
	l.quit = true
}

func (v *vault) dismissed(l *life) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return l.quit
}

// audit judges a resource's log by itself, without trusting who wrote it: accepted
// tokens never fall, and the accepted records of one token are numbered in order.
func audit(log []record) error {
	var highest int64
	last := make(map[int64]int)
	for i, r := range log {
		if !r.accepted {
			continue
		}
		if r.token < highest {
			return fmt.Errorf("line %d: token %d was accepted after token %d", i, r.token, highest)
		}
		if before, ok := last[r.token]; ok && r.seq != before+1 {
			return fmt.Errorf("line %d: record %d of token %d was accepted after its record %d", i, r.seq, r.token, before)
		}
		highest, last[r.token] = r.token, r.seq
	}
	if !slices.IsSortedFunc(log, func(a, b record) int { return int(a.at - b.at) }) {
		return fmt.Errorf("its moments are not in order")
	}
	return nil
}

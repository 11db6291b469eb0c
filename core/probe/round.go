package probe

import (
	"errors"
	"fmt"
)

// round is what two writers over the same version were told.
type round [2]struct {
	nonce   string
	outcome outcome
	err     error
}

// fault is what a round proves about a store.
type fault int

const (
	noFault   fault = iota
	wrongRace       // not exactly one winner
	lostWrite       // what was stored is not there
)

// judge compares what the writers were told with what is stored now. A nil error:
// exactly one has won, and its entry is there. open are the nonces of this record's
// writes whose outcome is not known, to which it adds.
//
// A store that is limited may tell the loser that it writes too often. That is no
// clear answer, but the only one there is: the winner's entry must be there.
func (r round) judge(base, now version, open map[string]bool, limited bool) (fault, error) {
	won, told := -1, [4]int{}
	for i, w := range r {
		told[w.outcome]++
		switch w.outcome {
		case stored:
			won = i
		case broken:
			return wrongRace, fmt.Errorf("the loser is told that nobody can write here: %w", w.err)
		case unclear:
			open[w.nonce] = true
		}
	}
	mine := func(i int) bool { return now.nonce == r[i].nonce }
	switch {
	case told[stored] == 2:
		return wrongRace, fmt.Errorf("both writers over %s were told that they had won", base)
	case told[stored] == 1 && mine(1-won) && r[1-won].outcome == lost:
		return wrongRace, fmt.Errorf("of the writers over %s one was told that it had won, and the other's entry is stored", base)
	case told[stored] == 1 && mine(1-won):
		return wrongRace, fmt.Errorf("both writers over %s have stored their entry, one after the other", base)
	case told[stored] == 1 && !mine(won):
		return lostWrite, fmt.Errorf("the winner over %s was told that its entry is stored, and a read shows %s, which is not it", base, now)
	case told[stored] == 1 && (told[lost] == 1 || limited):
		return noFault, nil
	case told[unclear] > 0:
		return noFault, errors.Join(r[0].err, r[1].err)
	case mine(0), mine(1), open[now.nonce]:
		// A write that was delivered twice, or late: a network may do that.
		return noFault, fmt.Errorf("a write over %s was delivered twice, or late", base)
	case now.nonce == base.nonce:
		return wrongRace, fmt.Errorf("both writers over %s were refused, although nobody else has written", base)
	}
	return lostWrite, fmt.Errorf("a read shows %s, which nobody has written", now)
}

package breakcmd

import (
	"crypto/rand"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/core/entry"
)

// maxToken is the highest fencing token that may be stored and still be followed.
const maxToken = 1 << 62

// operatorMark begins the name of every operator.
const operatorMark = "elect break by "

// operator is the name that the entry of an operator bears.
func operator() string {
	name, host := "somebody", "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil && h != "" {
		host = h
	}
	return operatorMark + strings.ToValidUTF8(name+"@"+host, "?")
}

// replacement is the entry to write over what was seen. It may be used at once
// only: its times count from now.
func (b *breaker) replacement(seen statuscmd.Sight) (entry.RaceEntry, error) {
	e := seen.Entry.Clone()
	switch {
	case seen.Bad != nil:
		token, err := b.freshToken(seen)
		if err != nil {
			return e, err
		}
		// How many versions there were is not known. This number is higher, for
		// nobody writes more than once per second.
		e = entry.RaceEntry{TermLength: b.term, FencingToken: token, ElectionNumber: entry.ElectionNumber(token), Token: e.Token}
	case e.Foreign() != "":
		if err := b.endForeign(&e, seen); err != nil {
			return e, err
		}
	default:
		e.ElectionNumber++
		if !b.now {
			e.FencingToken++ // a reign of the operator's
		}
	}
	e.HostPort, e.ConnectionParams = nil, nil
	// Held says what this is: nobody leads, and nobody may before the term is over.
	e.LeaderID, e.Held = b.who, true
	if b.now {
		e.LeaderID, e.Held = "", false
	}
	e.Nonce = rand.Text()
	stamp(&e, seen, b.clock.Now())
	return e, nil
}

// stamp sets the times of an entry that is sent now. The Date of the last answer
// was in whole seconds cut off, and its request was sent before that; the clock
// that measures since then may be slow by a twentieth, or may have stood still,
// so the larger step of the two counts. What results is an upper bound of the
// store's clock at sending.
func stamp(e *entry.RaceEntry, seen statuscmd.Sight, now time.Time) {
	e.SentBy, e.TermExpiry = time.Time{}, now.Round(0).Add(e.TermLength)
	date := seen.Date()
	if date.IsZero() {
		return
	}
	since := max(now.Sub(seen.Sent), now.Round(0).Sub(seen.Sent.Round(0)), 0)
	e.SentBy = date.Add(time.Second + since + since/20)
	if byStore := e.SentBy.Add(e.TermLength); byStore.After(e.TermExpiry) {
		e.TermExpiry = byStore
	}
}

// freshToken is higher than any that may have been handed out by the reigns that
// the unreadable entry has hidden. Elections begin with the store's time in Unix
// seconds, and reigns last longer than a second.
func (b *breaker) freshToken(seen statuscmd.Sight) (int64, error) {
	highest := int64(-1)
	if date := seen.Date(); !date.IsZero() {
		highest = date.Unix()
	}
	if b.tokenGiven {
		highest = max(highest, b.token)
	}
	if highest < 0 {
		return 0, cliutil.Usage("%s: the store tells no time, so the next fencing token is not known:"+
			" give --fencing-token with a number not lower than any that was ever handed out", b.store)
	}
	return highest + 1, nil
}

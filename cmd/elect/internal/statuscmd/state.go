package statuscmd

import (
	"encoding/json"
	"errors"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cloudelect/cloudelect/core/entry"
)

// The states of an election, as State.State has them.
const (
	Leading = "leading" // somebody leads
	Expired = "expired" // the last leader's term is over, and nobody has followed
	Held    = "held"    // nobody leads, and the last reign keeps it closed until its term is over
	Vacant  = "vacant"  // the last leader resigned
	Absent  = "absent"  // nothing is stored
	Bad     = "bad"     // what is stored is no entry: nobody can lead until an operator breaks it
	Unknown = "unknown" // of elect watch: the store has not answered for a while
)

// State is what `elect status --json` prints, and `elect watch --json` line by
// line. Fields are added, never renamed. Times are RFC 3339 in UTC.
type State struct {
	Store string `json:"store"`
	State string `json:"state"` // leading, expired, held, vacant, absent, bad or unknown
	// LeaderID is who leads, or led last if the state is expired or held.
	LeaderID string   `json:"leader_id,omitempty"`
	HostPort []string `json:"host_port,omitempty"`
	// Foreign names the library that wrote the entry in a form of its own, if it was
	// not ours. There are no fencing tokens in such a form: FencingToken is 0 here, and
	// left out of JSON. TermMS is what was left of the term when the store took the
	// entry in; 0, which is left out as well: nothing.
	Foreign string `json:"foreign,omitempty"`
	// FencingToken is the number of the reign; absent where nothing was decoded.
	FencingToken *int64 `json:"fencing_token,omitempty"`
	// ElectionNumber counts the writes, from 0.
	ElectionNumber *int64 `json:"election_number,omitempty"`
	// Version is what `elect break --version` takes.
	Version    string     `json:"version,omitempty"`
	TermMS     *int64     `json:"term_ms,omitempty"`
	TermExpiry *time.Time `json:"term_expiry,omitempty"` // on the writer's wall clock, or by the store's
	SentBy     *time.Time `json:"sent_by,omitempty"`     // on the store's clock
	WrittenAt  *time.Time `json:"written_at,omitempty"`  // on the store's clock, where it says
	// TimeLeftMS is what is left of the term, negative when it is over; for the
	// states leading, expired and held.
	TimeLeftMS *int64 `json:"time_left_ms,omitempty"`
	// TimeLeftBy is ByStore, ByWriter or ByLocal.
	TimeLeftBy string     `json:"time_left_by,omitempty"`
	StoreTime  *time.Time `json:"store_time,omitempty"` // whole seconds, cut off
	// ClockOffsetMS is by how much the local clock is proved to be ahead of the
	// store's (or behind it: negative), 0 where they may agree.
	ClockOffsetMS *int64 `json:"clock_offset_ms,omitempty"`
	// LocalClock is ClockAgrees, ClockAhead, ClockBehind or ClockUnknown.
	LocalClock string `json:"local_clock,omitempty"`
	// WriterClockAheadMS is by how much the clock of whoever wrote the entry is proved
	// to have been ahead of the store's.
	WriterClockAheadMS *int64 `json:"writer_clock_ahead_ms,omitempty"`
	// ClockWarning says which of these clocks has to be set, and what its being wrong does.
	ClockWarning string `json:"clock_warning,omitempty"`
	// Checkpoint is what the leader left for the next one, if that is printable
	// text; CheckpointBase64 if not.
	Checkpoint       string `json:"checkpoint,omitempty"`
	CheckpointBase64 []byte `json:"checkpoint_base64,omitempty"`
	Error            string `json:"error,omitempty"` // of a bad entry, or why the state is unknown
	// Newer: a newer program wrote the bad entry. Update this one, do not break the entry.
	Newer bool `json:"newer,omitempty"`
	// Warning is what an operator should know about an entry that can be read.
	Warning string `json:"warning,omitempty"`
	// LastReadMS is how long ago the last answer came; for the state unknown, where
	// everything else is as that answer had it.
	LastReadMS *int64 `json:"last_read_ms,omitempty"`

	before string // in the state unknown: what was the case
}

// Describe puts what was seen at store into words.
func Describe(store string, s Sight) State {
	st := State{Store: store, Version: s.Version(), StoreTime: utc(s.Date()), LocalClock: s.localClock(), ClockWarning: s.clockWarning(store)}
	if offset, ok := s.ClockOffset(); ok {
		st.ClockOffsetMS = ms(offset)
	}
	if ahead := s.WriterAhead(); ahead > 0 {
		st.WriterClockAheadMS = ms(ahead)
	}
	e := s.Entry
	if e.Token != nil {
		st.WrittenAt = utc(e.Token.CommitTS())
	}
	switch {
	case s.Bad != nil:
		st.State, st.Error = Bad, complete(store, st.Version, s.Bad.Error())
		st.Newer = errors.Is(s.Bad, entry.ErrNewer)
		return st
	case e.Absent():
		st.State = Absent
		return st
	}
	number := int64(e.ElectionNumber)
	st.LeaderID, st.HostPort, st.Foreign = e.LeaderID, e.HostPort, e.Foreign()
	st.FencingToken, st.ElectionNumber = &e.FencingToken, &number
	st.TermMS, st.TermExpiry, st.SentBy = ms(e.TermLength), utc(e.TermExpiry), utc(e.SentBy)
	if Printable(string(e.Checkpoint)) {
		st.Checkpoint = string(e.Checkpoint)
	} else {
		st.CheckpointBase64 = e.Checkpoint
	}
	if e.Vacant() {
		st.State = Vacant
		return st
	}
	st.Warning = s.warning(store)
	left, by := s.TimeLeft()
	st.TimeLeftMS, st.TimeLeftBy = ms(left), by
	switch {
	case left <= 0:
		st.State = Expired
	case e.Held:
		st.State = Held
	default:
		st.State = Leading
	}
	return st
}

// MarshalJSON leaves out what an entry of another library does not say.
func (s State) MarshalJSON() ([]byte, error) {
	type plain State // without this method
	p := plain(s)
	if s.Foreign != "" {
		p.FencingToken = nil
		if s.TermMS != nil && *s.TermMS == 0 {
			p.TermMS = nil
		}
	}
	return json.Marshal(p)
}

func ms(d time.Duration) *int64 {
	n := d.Milliseconds()
	return &n
}

func utc(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Printable tells whether text may go to a terminal as it is: what others have
// stored must not move the cursor.
func Printable(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

package gcsdecider

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cloudelect/cloudelect/core/entry"
)

// vimeoLibrary is the library whose entries can be read, and written during a
// migration. Its object is one protobuf message.
const vimeoLibrary = "vimeo/leaderelection"

// The fields of that message (storagepb/entry.proto there), and one of ours,
// which that library skips and does not carry over.
const (
	vimeoNumber protowire.Number = 1    // election_number, uint64
	vimeoLeader protowire.Number = 2    // leader_id, string
	vimeoHosts  protowire.Number = 3    // host_port, repeated string
	vimeoExpiry protowire.Number = 4    // term_expiry, google.protobuf.Timestamp
	vimeoParams protowire.Number = 5    // connection_parameters, bytes
	vimeoOurs   protowire.Number = 7201 // the entry in our own form, JSON
)

// isVimeo tells the two forms apart by the first byte: protobuf writes fields in
// the order of their numbers, and a number, a leader or an expiry is the first of
// every entry. None of these tags begins a JSON object or the space before one.
func isVimeo(body []byte) bool {
	if len(body) == 0 {
		return false
	}
	switch body[0] {
	case byte(vimeoNumber<<3) | byte(protowire.VarintType),
		byte(vimeoLeader<<3) | byte(protowire.BytesType),
		byte(vimeoExpiry<<3) | byte(protowire.BytesType):
		return true
	}
	return false
}

// decode reads an entry in either form, and sets its token to t. Any error Is
// entry.ErrBad.
func decode(body []byte, t *Token) (*entry.RaceEntry, error) {
	var e *entry.RaceEntry
	var err error
	if isVimeo(body) {
		e, err = decodeVimeo(body, t)
	} else {
		e, err = entry.Decode(body)
	}
	if err != nil {
		return nil, err
	}
	e.Token = t
	return e, nil
}

// decodeVimeo reads an entry in that library's form: one that we have written
// during a migration, which has all of ours in it, or one of the library itself,
// which t is told.
func decodeVimeo(body []byte, t *Token) (*entry.RaceEntry, error) {
	v, err := parseVimeo(body)
	if err != nil {
		return nil, fmt.Errorf("%w: in the form of %s: %v", entry.ErrBad, vimeoLibrary, err)
	}
	if v.ours != nil {
		return v.inOurs()
	}
	e := &entry.RaceEntry{
		LeaderID: v.leader, HostPort: v.hosts, TermExpiry: v.expiry, ConnectionParams: v.params,
		ElectionNumber: entry.ElectionNumber(min(v.number, 1<<63-1)), // too large for an entry, as it should be
		TermLength:     v.left(t.commit),
	}
	if err := e.ValidateForeign(); err != nil {
		return nil, err
	}
	t.foreign = true
	return e, nil
}

// inOurs is the entry in the field that is ours. What the library's own fields say
// must be the same, or somebody else has changed one of the two.
func (v *vimeoEntry) inOurs() (*entry.RaceEntry, error) {
	e, err := entry.Decode(v.ours)
	switch {
	case err != nil:
		return nil, err
	case e.LeaderID != v.leader || uint64(e.ElectionNumber) != v.number:
		return nil, fmt.Errorf("%w: it names leader %.80q and number %d for %s, and leader %.80q and number %d for this program: one of the two was changed",
			entry.ErrBad, v.leader, v.number, vimeoLibrary, e.LeaderID, e.ElectionNumber)
	}
	return e, nil
}

// left is how much of the term was left when the store took the entry in. Where
// the store does not say when that was it may have been any time.
func (v *vimeoEntry) left(commit time.Time) time.Duration {
	if commit.IsZero() {
		return entry.MaxTermLength
	}
	return min(max(v.expiry.Sub(commit), 0), entry.MaxTermLength)
}

// encodeVimeo is e in that library's form, with all of ours in a field that the
// library skips.
func encodeVimeo(e *entry.RaceEntry) ([]byte, error) {
	ours, err := entry.Encode(e)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(ours)+len(e.LeaderID)+len(e.ConnectionParams)+256)
	if e.ElectionNumber != 0 { // zero values are left out, as protobuf has it
		b = protowire.AppendTag(b, vimeoNumber, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(e.ElectionNumber))
	}
	if e.LeaderID != "" {
		b = protowire.AppendTag(b, vimeoLeader, protowire.BytesType)
		b = protowire.AppendString(b, e.LeaderID)
	}
	for _, hp := range e.HostPort {
		b = protowire.AppendTag(b, vimeoHosts, protowire.BytesType)
		b = protowire.AppendString(b, hp)
	}
	b = protowire.AppendTag(b, vimeoExpiry, protowire.BytesType)
	b = protowire.AppendBytes(b, appendTimestamp(nil, expiryForVimeo(e)))
	if len(e.ConnectionParams) > 0 {
		b = protowire.AppendTag(b, vimeoParams, protowire.BytesType)
		b = protowire.AppendBytes(b, e.ConnectionParams)
	}
	b = protowire.AppendTag(b, vimeoOurs, protowire.BytesType)
	return protowire.AppendBytes(b, ours), nil
}

// lastInstant is the last one that protobuf's Timestamp may name.
var lastInstant = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)

// expiryForVimeo is the term_expiry that keeps the library's candidates out while
// e's leader leads. They take over, when they start, as soon as their clock is past
// it, without regard to MaxClockSkew. That is at most half a term
// (core.Config.Validate), so half a term is what is added. An election that nobody
// leads has been over for ever, on any clock: they take it at once.
func expiryForVimeo(e *entry.RaceEntry) time.Time {
	if e.Vacant() {
		return time.Unix(0, 0)
	}
	end := e.TermExpiry.Add(e.TermLength / 2)
	if end.After(lastInstant) {
		return lastInstant
	}
	return end
}

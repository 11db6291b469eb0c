package entry

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// FormatVersion is the major version of the stored form that this package
// writes. It reads this version only: a newer one may mean something that this
// code does not know, and whoever does not understand an entry must not
// overwrite it.
const FormatVersion = 1

// ErrBad is what every error of Decode and Validate is (errors.Is): the stored
// content is not an entry that this code understands. It is never the same as
// a free election.
var ErrBad = errors.New("bad entry")

// ErrNewer is what an error about an entry of a newer format is besides ErrBad
// (errors.Is). Such an entry is no rubbish: somebody may lead by it. Whoever meets it
// updates this program, and does not break the entry.
var ErrNewer = errors.New("entry of a newer format")

// Newer is the error for an entry of a format version above FormatVersion. It Is
// ErrNewer and ErrBad.
func Newer(version int64) error { return &newerError{version} }

type newerError struct{ version int64 }

func (e *newerError) Error() string {
	return fmt.Sprintf("%v: format version %d is newer than %d, the newest that this program knows: update it",
		ErrBad, e.version, FormatVersion)
}

func (*newerError) Is(target error) bool { return target == ErrBad || target == ErrNewer }

// stored is version 1 of the stored form. Fields may be added to a version,
// never renamed or given another meaning.
type stored struct {
	Version          *int            `json:"cloudelect"`
	LeaderID         string          `json:"leader_id"`
	HostPort         []string        `json:"host_port,omitempty"`
	TermExpiry       *time.Time      `json:"term_expiry"`
	TermLength       string          `json:"term_length"`
	SentBy           *time.Time      `json:"sent_by,omitempty"`
	ElectionNumber   *ElectionNumber `json:"election_number"`
	FencingToken     *int64          `json:"fencing_token"`
	Nonce            string          `json:"nonce"`
	ConnectionParams []byte          `json:"connection_params,omitempty"`
	Checkpoint       []byte          `json:"checkpoint,omitempty"`
	Held             bool            `json:"held,omitempty"`
}

// Encode returns e's stored form: one JSON object, indented so that a person
// can read it. Times are RFC 3339 in UTC with nanoseconds, TermLength is in
// Go's notation ("15s"), bytes are base64. An entry that Validate refuses is
// an error.
func Encode(e *RaceEntry) ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	version, expiry := FormatVersion, e.TermExpiry.UTC()
	s := stored{
		Version: &version, LeaderID: e.LeaderID, HostPort: e.HostPort,
		TermExpiry: &expiry, TermLength: e.TermLength.String(),
		ElectionNumber: &e.ElectionNumber, FencingToken: &e.FencingToken, Nonce: e.Nonce,
		ConnectionParams: e.ConnectionParams, Checkpoint: e.Checkpoint, Held: e.Held,
	}
	if !e.SentBy.IsZero() {
		sent := e.SentBy.UTC()
		s.SentBy = &sent
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("%w: cannot be written as JSON: %v", ErrBad, err)
	}
	return append(b, '\n'), nil
}

// Decode reads what Encode wrote. Any error Is ErrBad and says what is wrong
// with the content; fields that this version does not know are ignored. The
// token is not part of the stored form: the caller sets it.
func Decode(b []byte) (*RaceEntry, error) {
	var probe struct {
		Version *int `json:"cloudelect"`
	}
	if err := json.Unmarshal(b, &probe); err != nil {
		return nil, fmt.Errorf("%w: not JSON of the expected form: %v", ErrBad, err)
	}
	switch {
	case probe.Version == nil:
		return nil, fmt.Errorf(`%w: no field "cloudelect": this was not written by an election`, ErrBad)
	case *probe.Version > FormatVersion:
		return nil, Newer(int64(*probe.Version))
	case *probe.Version != FormatVersion:
		return nil, fmt.Errorf("%w: format version %d is unknown", ErrBad, *probe.Version)
	}
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("%w: not JSON of the expected form: %v", ErrBad, err)
	}
	return s.entry()
}

func (s *stored) entry() (*RaceEntry, error) {
	switch {
	case s.TermExpiry == nil:
		return nil, fmt.Errorf("%w: term_expiry is missing", ErrBad)
	case s.ElectionNumber == nil:
		return nil, fmt.Errorf("%w: election_number is missing", ErrBad)
	case s.FencingToken == nil:
		return nil, fmt.Errorf("%w: fencing_token is missing", ErrBad)
	}
	length, err := time.ParseDuration(s.TermLength)
	if err != nil {
		return nil, fmt.Errorf("%w: term_length %.64q is not a duration", ErrBad, s.TermLength)
	}
	e := &RaceEntry{
		LeaderID: s.LeaderID, HostPort: s.HostPort,
		TermExpiry: s.TermExpiry.UTC(), TermLength: length,
		ElectionNumber: *s.ElectionNumber, FencingToken: *s.FencingToken, Nonce: s.Nonce,
		ConnectionParams: s.ConnectionParams, Checkpoint: s.Checkpoint, Held: s.Held,
	}
	if s.SentBy != nil {
		e.SentBy = s.SentBy.UTC()
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return e, nil
}

// maxCounter keeps ElectionNumber and FencingToken so far from the end of
// their range that adding one can never overflow.
const maxCounter = 1 << 62

// Validate tells whether e may be stored, and whether what was read may be
// believed. Deciders call it on what they decode. The error Is ErrBad and
// names the field.
func (e *RaceEntry) Validate() error {
	switch {
	case e.TermLength <= 0:
		return fmt.Errorf("%w: term_length %v is not positive", ErrBad, e.TermLength)
	case e.TermLength > MaxTermLength:
		return fmt.Errorf("%w: term_length %v is longer than %v", ErrBad, e.TermLength, MaxTermLength)
	case e.Nonce == "":
		return fmt.Errorf("%w: nonce is empty", ErrBad)
	case e.ElectionNumber < 0 || e.ElectionNumber > maxCounter:
		return fmt.Errorf("%w: election_number %d is out of range", ErrBad, e.ElectionNumber)
	case e.FencingToken < 0 || e.FencingToken > maxCounter:
		return fmt.Errorf("%w: fencing_token %d is out of range", ErrBad, e.FencingToken)
	case !plausible(e.TermExpiry):
		return fmt.Errorf("%w: term_expiry is not within the years 1970 to 9999", ErrBad)
	case !e.SentBy.IsZero() && !plausible(e.SentBy):
		return fmt.Errorf("%w: sent_by is not within the years 1970 to 9999", ErrBad)
	case len(e.Checkpoint) > MaxCheckpoint:
		return fmt.Errorf("%w: checkpoint has %d bytes, more than %d", ErrBad, len(e.Checkpoint), MaxCheckpoint)
	case e.Held && e.LeaderID == "":
		return fmt.Errorf("%w: held by nobody", ErrBad)
	}
	if !utf8.ValidString(e.LeaderID) || !utf8.ValidString(e.Nonce) {
		return fmt.Errorf("%w: leader_id or nonce is not UTF-8", ErrBad)
	}
	for _, hp := range e.HostPort {
		if !utf8.ValidString(hp) {
			return fmt.Errorf("%w: host_port %q is not UTF-8", ErrBad, hp)
		}
	}
	return nil
}

// plausible keeps times within what every store's format can carry. Fake
// clocks that start at the Unix epoch are welcome.
func plausible(t time.Time) bool { y := t.UTC().Year(); return y >= 1970 && y <= 9999 }

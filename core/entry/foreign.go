package entry

import "fmt"

// ForeignToken is implemented by the tokens of versions that another library
// wrote in a form of its own, which a decider can read.
type ForeignToken interface {
	LeaderToken
	// Foreign names that library; "" where the version is in our form.
	Foreign() string
}

// Foreign names the library that wrote this version in a form of its own, or is
// "" for an entry of ours. A foreign entry is only read, never written: Validate
// refuses it. It has no Nonce, SentBy, FencingToken and Checkpoint; its TermLength
// is not what a leader was granted but what the decider knows: how much of the
// term was left, on the store's clock, when the store took the version in, or 0.
func (e RaceEntry) Foreign() string {
	if e.Nonce != "" || e.Absent() {
		return ""
	}
	if t, ok := e.Token.(ForeignToken); ok {
		return t.Foreign()
	}
	return ""
}

// ValidateForeign is Validate for a foreign entry: it tells whether what was
// read may be believed. Such an entry claims a leader and the end of a term, and
// nothing that only our own form can say. The error Is ErrBad and names the field.
func (e *RaceEntry) ValidateForeign() error {
	switch {
	case e.LeaderID == "":
		return fmt.Errorf("%w: leader_id is empty, and a foreign form has no word for a vacant election", ErrBad)
	case e.Nonce != "" || !e.SentBy.IsZero() || e.FencingToken != 0 || len(e.Checkpoint) > 0 || e.Held:
		return fmt.Errorf("%w: a foreign entry has no nonce, sent_by, fencing_token, checkpoint or hold", ErrBad)
	case e.TermLength < 0 || e.TermLength > MaxTermLength:
		return fmt.Errorf("%w: term_length %v is not between 0 and %v", ErrBad, e.TermLength, MaxTermLength)
	}
	// The rest is the same in both forms.
	ours := *e
	ours.Nonce, ours.TermLength = "-", max(e.TermLength, 1)
	return ours.Validate()
}

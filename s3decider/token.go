package s3decider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Token names one version of the object. It is what this package's entries
// carry (entry.RaceEntry.Token).
type Token struct {
	etag   string // as the store sent it, quotes and all; "": nothing is stored
	commit time.Time
	date   time.Time
}

var _ core.DatedToken = (*Token)(nil)

// ETag is the version's ETag as the store sent it, with its quotes; "" where
// nothing is stored. It is opaque.
func (t *Token) ETag() string { return t.etag }

// CommitTS is the version's Last-Modified (whole seconds) after a read. Zero after a
// write, whose answer does not say, and where nothing is stored.
func (t *Token) CommitTS() time.Time { return t.commit }

// StoreDate is the store's clock on the answer that brought this token (HTTP's
// Date, whole seconds). Zero for an answer without one, and for one out of a cache.
func (t *Token) StoreDate() time.Time { return t.date }

// nothing is how the token of a missing object is written.
const nothing = "none"

// String is the ETag as it is, or "none": the form that TokenFor reads. An ETag has
// quotes, which a shell must be kept from removing: '"9a0364b9"'.
func (t *Token) String() string {
	if t.etag == "" {
		return nothing
	}
	return t.etag
}

// TokenFor returns the token of a version that a person has copied from a
// message or from "aws s3api head-object": an ETag with its quotes, or "none" for
// "nothing is stored". What it makes has no times. The error Is
// core.ErrInvalidConfig.
func (d *Decider) TokenFor(version string) (entry.LeaderToken, error) {
	if version == nothing {
		return &Token{}, nil
	}
	if !usableETag(version) {
		return nil, fmt.Errorf("s3decider: %s: %w: version %s is not an ETag: give what the status or the error message shows, with its quotes, or %q",
			d, core.ErrInvalidConfig, quote(version), nothing)
	}
	return &Token{etag: version}, nil
}

// usableETag tells whether a condition on this ETag can hold for one version only.
// The asterisk stands for all of them.
func usableETag(etag string) bool {
	return etag != "" && len(etag) <= 1024 && strings.Trim(etag, "* \t") != "" &&
		!strings.ContainsFunc(etag, func(r rune) bool { return r < ' ' || r == 0x7f }) && strings.TrimSpace(etag) == etag
}

// tokenOf returns e's token if it is one of this package's. Another decider's
// names nothing here: the program has mixed up two elections.
func tokenOf(e *entry.RaceEntry) (*Token, error) {
	switch t := e.Token.(type) {
	case nil:
		return nil, errors.New("the entry has no token; write with the token of what was read")
	case *Token:
		if t == nil {
			return nil, errors.New("the entry's token is empty; write with the token of what was read")
		}
		return t, nil
	default:
		return nil, fmt.Errorf("the entry's token is a %T, of another decider; write with the token of what this one has read", t)
	}
}

package gcsdecider

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Token names one generation of the object. It is what this package's
// entries carry (entry.RaceEntry.Token).
type Token struct {
	generation int64 // 0: nothing is stored
	commit     time.Time
	date       time.Time
	foreign    bool // vimeo/leaderelection wrote it
}

var (
	_ core.DatedToken    = (*Token)(nil)
	_ entry.ForeignToken = (*Token)(nil)
)

// Generation is the object's generation; 0 where nothing is stored.
func (t *Token) Generation() int64 { return t.generation }

// CommitTS is when Cloud Storage stored this generation, by its own clock: the
// object's update time after a write, its Last-Modified (whole seconds) after
// a read. Zero where nothing is stored.
func (t *Token) CommitTS() time.Time { return t.commit }

// StoreDate is Cloud Storage's clock on the answer that brought this token
// (HTTP's Date, whole seconds). Zero with a client that is not NewClient's, and
// for an answer out of a cache.
func (t *Token) StoreDate() time.Time { return t.date }

// Foreign is "vimeo/leaderelection" where that library wrote this generation,
// and else "".
func (t *Token) Foreign() string {
	if t == nil || !t.foreign {
		return ""
	}
	return vimeoLibrary
}

// String is the generation in decimal digits, the form that TokenFor reads.
func (t *Token) String() string { return strconv.FormatInt(t.generation, 10) }

// TokenFor returns the token of a version that a person has copied from a
// message or from "gcloud storage ls --all-versions": a generation in decimal
// digits, or "0" for "nothing is stored". What it makes has no times. The error Is
// core.ErrInvalidConfig.
func (d *Decider) TokenFor(version string) (entry.LeaderToken, error) {
	g, err := strconv.ParseInt(version, 10, 64)
	if err != nil || g < 0 {
		return nil, fmt.Errorf("gcsdecider: %s: %w: version %s is not a generation: give the decimal number that the status or the error message shows",
			d, core.ErrInvalidConfig, quote(version))
	}
	return &Token{generation: g}, nil
}

// tokenOf returns e's token if it is one of this package's. Another decider's
// names nothing here: the program has mixed up two elections.
func tokenOf(e *entry.RaceEntry) (*Token, error) {
	switch t := e.Token.(type) {
	case nil:
		return nil, errors.New("the entry has no token; write with the token of what was read")
	case *Token:
		if t == nil || t.generation < 0 {
			return nil, errors.New("the entry's token is empty; write with the token of what was read")
		}
		return t, nil
	default:
		return nil, fmt.Errorf("the entry's token is a %T, of another decider; write with the token of what this one has read", t)
	}
}

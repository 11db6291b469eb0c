package dynamodecider

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// Token names one version of an election's item. It is what this package's
// entries carry (entry.RaceEntry.Token): the condition on which exactly that
// version may be overwritten.
type Token struct {
	version   string // the form that people see
	condition string // of an update
	values    item   // its placeholders, never changed
	date      time.Time
}

var _ core.DatedToken = (*Token)(nil)

// CommitTS is zero: DynamoDB does not say when it stored an item.
func (*Token) CommitTS() time.Time { return time.Time{} }

// StoreDate is DynamoDB's clock on the answer that brought this token (HTTP's
// Date, whole seconds). Zero for an answer out of a cache.
func (t *Token) StoreDate() time.Time { return t.date }

// String is "0" where nothing is stored, "nonce:" and the nonce for an entry,
// and "item:" and a digest for an item that is not one.
func (t *Token) String() string { return t.version }

const (
	versionAbsent = "0"
	nonceMark     = "nonce:"
	itemMark      = "item:"
)

func absentToken(date time.Time) *Token {
	return &Token{version: versionAbsent, condition: "attribute_not_exists(" + attrElection + ")", date: date}
}

// nonceToken names the version that was written with a nonce. Nonces are
// drawn afresh for every write, so one is enough.
func nonceToken(nonce string, date time.Time) *Token {
	return &Token{version: nonceMark + nonce, condition: attrNonce + "=:w", values: item{":w": text(nonce)}, date: date}
}

// badToken names an item that is no entry: by everything in it that an entry
// could have, since somebody may have planted its nonce twice, or none at all.
// Attributes of others do not count: overwriting leaves them alone.
func badToken(it item, date time.Time) *Token {
	condition := new(strings.Builder)
	condition.WriteString("attribute_exists(" + attrElection + ")")
	values, ours := item{}, item{}
	for i, name := range own {
		placeholder := ":w" + strconv.Itoa(i)
		switch value := it[name].(type) {
		case nil:
			condition.WriteString(" AND attribute_not_exists(" + name + ")")
			continue
		case *types.AttributeValueMemberNULL: // equal to nothing, with some stores
			condition.WriteString(" AND attribute_type(" + name + "," + placeholder + ")")
			values[placeholder] = text("NULL")
		default:
			condition.WriteString(" AND " + name + "=" + placeholder)
			values[placeholder] = value
		}
		ours[name] = it[name]
	}
	sum := sha256.Sum256(readable(ours))
	return &Token{version: itemMark + hex.EncodeToString(sum[:12]), condition: condition.String(), values: values, date: date}
}

// limit adds the token's condition to the placeholders of an update.
func (t *Token) limit(values item) string {
	maps.Copy(values, t.values)
	return t.condition
}

// TokenFor returns the token of a version that a person has copied from a
// message: "nonce:..." of an entry, or "0" for "nothing is stored". What it makes
// has no StoreDate. An item that is no entry cannot be named like this: read it.
// The error Is core.ErrInvalidConfig.
func (d *Decider) TokenFor(version string) (entry.LeaderToken, error) {
	nonce, isEntry := strings.CutPrefix(version, nonceMark)
	switch {
	case version == versionAbsent:
		return absentToken(time.Time{}), nil
	case isEntry && nonce != "":
		return nonceToken(nonce, time.Time{}), nil
	}
	return nil, fmt.Errorf("dynamodecider: %s: %w: version %s does not name an entry: give what the status or the error message shows, nonce:... or 0",
		d, core.ErrInvalidConfig, quote(version))
}

// tokenOf returns e's token if it is one of this package's. Another decider's
// names nothing here: the program has mixed up two elections.
func tokenOf(e *entry.RaceEntry) (*Token, error) {
	switch t := e.Token.(type) {
	case nil:
		return nil, errors.New("the entry has no token; write with the token of what was read")
	case *Token:
		if t == nil || t.condition == "" {
			return nil, errors.New("the entry's token is empty; write with the token of what was read")
		}
		return t, nil
	default:
		return nil, fmt.Errorf("the entry's token is a %T, of another decider; write with the token of what this one has read", t)
	}
}

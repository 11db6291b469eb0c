package dynamodecider

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core/entry"
)

// decode reads an item. Any error Is entry.ErrBad and names the attribute;
// attributes that are not ours are ignored. The token is the caller's to set.
func decode(it item) (*entry.RaceEntry, error) {
	r := reader{item: it}
	switch version, ok := r.number(attrVersion, false); {
	case r.fault != nil:
		return nil, r.fault
	case !ok:
		return nil, fmt.Errorf("%w: no attribute %q: this was not written by an election", entry.ErrBad, attrVersion)
	case version > entry.FormatVersion:
		return nil, entry.Newer(version)
	case version != entry.FormatVersion:
		return nil, fmt.Errorf("%w: format version %d is unknown", entry.ErrBad, version)
	}
	e := &entry.RaceEntry{
		LeaderID:         r.text(attrLeaderID),
		HostPort:         r.texts(attrHostPort),
		TermExpiry:       r.time(attrTermExpiry, true),
		TermLength:       r.duration(attrTermLength),
		SentBy:           r.time(attrSentBy, false),
		ElectionNumber:   entry.ElectionNumber(r.need(attrElectionNumber)),
		FencingToken:     r.need(attrFencingToken),
		Nonce:            r.text(attrNonce),
		ConnectionParams: r.binary(attrConnectionParams),
		Checkpoint:       r.binary(attrCheckpoint),
		Held:             r.flag(attrHeld),
	}
	if r.fault != nil {
		return nil, r.fault
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return e, nil
}

// reader takes attributes out of an item and keeps the first fault.
type reader struct {
	item  item
	fault error
}

func (r *reader) bad(name, problem string, args ...any) {
	if r.fault == nil {
		r.fault = fmt.Errorf("%w: %s %s", entry.ErrBad, name, fmt.Sprintf(problem, args...))
	}
}

// as returns an attribute of the type that is wanted. It is absent, or null, if
// ok is false, which is a fault when it is needed.
func as[T types.AttributeValue](r *reader, name, want string, needed bool) (value T, ok bool) {
	stored := r.item[name]
	if _, empty := stored.(*types.AttributeValueMemberNULL); empty {
		stored = nil
	}
	value, ok = stored.(T)
	switch {
	case stored == nil && needed:
		r.bad(name, "is missing")
	case stored != nil && !ok:
		r.bad(name, "is a %s, not a %s", kindOf(stored), want)
	}
	return value, ok
}

func (r *reader) text(name string) string {
	if v, ok := as[*types.AttributeValueMemberS](r, name, "string", true); ok {
		return v.Value
	}
	return ""
}

func (r *reader) number(name string, needed bool) (int64, bool) {
	v, ok := as[*types.AttributeValueMemberN](r, name, "number", needed)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		r.bad(name, "%.40q is not a whole number within 64 bits", v.Value)
	}
	return n, err == nil
}

func (r *reader) need(name string) int64 {
	n, _ := r.number(name, true)
	return n
}

func (r *reader) time(name string, needed bool) time.Time {
	v, ok := as[*types.AttributeValueMemberS](r, name, "string", needed)
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, v.Value)
	if err != nil {
		r.bad(name, "%.40q is not a time in RFC 3339", v.Value)
	}
	return t.UTC()
}

func (r *reader) duration(name string) time.Duration {
	text := r.text(name)
	d, err := time.ParseDuration(text)
	if err != nil {
		r.bad(name, "%.40q is not a duration", text)
	}
	return d
}

func (r *reader) binary(name string) []byte {
	if v, ok := as[*types.AttributeValueMemberB](r, name, "binary value", false); ok {
		return bytes.Clone(v.Value) // the item may live on in an error
	}
	return nil
}

func (r *reader) flag(name string) bool {
	v, ok := as[*types.AttributeValueMemberBOOL](r, name, "boolean", false)
	return ok && v.Value
}

func (r *reader) texts(name string) []string {
	list, ok := as[*types.AttributeValueMemberL](r, name, "list", false)
	if !ok || len(list.Value) == 0 {
		return nil
	}
	texts := make([]string, len(list.Value))
	for i, value := range list.Value {
		s, ok := value.(*types.AttributeValueMemberS)
		if !ok {
			r.bad(name, "has a %s in it, not a string", kindOf(value))
			return nil
		}
		texts[i] = s.Value
	}
	return texts
}

// kindOf names the type of a value as the developer guide does.
func kindOf(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "string"
	case *types.AttributeValueMemberN:
		return "number"
	case *types.AttributeValueMemberB:
		return "binary value"
	case *types.AttributeValueMemberBOOL:
		return "boolean"
	case *types.AttributeValueMemberL:
		return "list"
	case *types.AttributeValueMemberM:
		return "map"
	case *types.AttributeValueMemberNULL:
		return "null"
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return "set"
	}
	return "value of an unknown type"
}

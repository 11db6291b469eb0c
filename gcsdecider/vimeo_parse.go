package gcsdecider

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// vimeoEntry is the message as it was found.
type vimeoEntry struct {
	number uint64
	leader string
	hosts  []string
	expiry time.Time
	params []byte
	ours   []byte // nil where the library itself has written it
}

// parseVimeo is stricter than protobuf is: a field that comes twice, or with
// another type, is nobody's entry. Unknown fields are skipped.
func parseVimeo(body []byte) (*vimeoEntry, error) {
	v := &vimeoEntry{}
	dated := false
	once := map[protowire.Number]bool{}
	err := eachField(body, func(f field) (err error) {
		if f.number != vimeoHosts && once[f.number] {
			return fmt.Errorf("field %d comes twice", f.number)
		}
		switch f.number {
		case vimeoNumber:
			v.number, err = f.varint()
		case vimeoLeader:
			v.leader, err = f.text()
		case vimeoHosts:
			var host string
			host, err = f.text()
			v.hosts = append(v.hosts, host)
		case vimeoExpiry:
			dated = true
			v.expiry, err = f.timestamp()
		case vimeoParams:
			v.params, err = f.bytes()
		case vimeoOurs:
			v.ours, err = f.bytes()
		default:
			return nil
		}
		once[f.number] = true
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !dated:
		return nil, errors.New("term_expiry (field 4) is missing")
	}
	return v, nil
}

// field is one field of a message: its value is in number64 or in content.
type field struct {
	number   protowire.Number
	kind     protowire.Type
	number64 uint64
	content  []byte
}

// eachField calls do for the fields of a message in turn.
func eachField(message []byte, do func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return fmt.Errorf("no field where one should begin: %w", protowire.ParseError(n))
		}
		if number > protowire.MaxValidNumber {
			return fmt.Errorf("field %d cannot be", number)
		}
		message = message[n:]
		f := field{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			f.number64, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.content, n = protowire.ConsumeBytes(message)
		case protowire.Fixed32Type, protowire.Fixed64Type:
			n = protowire.ConsumeFieldValue(number, kind, message)
		default: // groups are of another age
			return fmt.Errorf("field %d has the unknown type %d", number, kind)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", number, protowire.ParseError(n))
		}
		message = message[n:]
		if err := do(f); err != nil {
			return err
		}
	}
	return nil
}

func (f field) varint() (uint64, error) {
	if f.kind != protowire.VarintType {
		return 0, fmt.Errorf("field %d is no number", f.number)
	}
	return f.number64, nil
}

// bytes is never nil without an error.
func (f field) bytes() ([]byte, error) {
	if f.kind != protowire.BytesType {
		return nil, fmt.Errorf("field %d is no text", f.number)
	}
	return append([]byte{}, f.content...), nil
}

func (f field) text() (string, error) {
	if f.kind != protowire.BytesType {
		return "", fmt.Errorf("field %d is no text", f.number)
	}
	return string(f.content), nil
}

// The fields of google.protobuf.Timestamp.
const (
	timestampSeconds protowire.Number = 1 // since 1970, int64
	timestampNanos   protowire.Number = 2 // int32, from 0 to 999,999,999
)

func (f field) timestamp() (time.Time, error) {
	content, err := f.bytes()
	if err != nil {
		return time.Time{}, err
	}
	var seconds, nanos uint64
	err = eachField(content, func(f field) (err error) {
		switch f.number {
		case timestampSeconds:
			seconds, err = f.varint()
		case timestampNanos:
			nanos, err = f.varint()
		default:
			err = fmt.Errorf("it has a field %d", f.number)
		}
		return err
	})
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("term_expiry: %w", err)
	case seconds > uint64(lastInstant.Unix()) || nanos >= uint64(time.Second):
		return time.Time{}, errors.New("term_expiry is not within the years 1970 to 9999")
	}
	return time.Unix(int64(seconds), int64(nanos)).UTC(), nil
}

func appendTimestamp(b []byte, t time.Time) []byte {
	if seconds := t.Unix(); seconds != 0 {
		b = protowire.AppendTag(b, timestampSeconds, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(seconds))
	}
	if nanos := t.Nanosecond(); nanos != 0 {
		b = protowire.AppendTag(b, timestampNanos, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(nanos))
	}
	return b
}

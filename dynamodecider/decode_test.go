package dynamodecider

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// stored is the item that an entry becomes.
func stored(e *entry.RaceEntry) item {
	it := keyOf(testName)
	values := assigned(e)
	for pair := range strings.SplitSeq(strings.TrimPrefix(assign, "SET "), ",") {
		name, placeholder, _ := strings.Cut(pair, "=")
		it[name] = values[placeholder]
	}
	return it
}

func TestDecodeBadItems(t *testing.T) {
	for _, c := range []struct {
		name, attr string
		value      types.AttributeValue // nil: removed
		says       string
	}{
		{"nothing of ours", attrVersion, nil, `no attribute "cloudelect"`},
		{"version null", attrVersion, null, `no attribute "cloudelect"`},
		{"version a string", attrVersion, text("1"), "cloudelect is a string, not a number"},
		{"version newer", attrVersion, number(2), "newer than 1"},
		{"version older", attrVersion, number(0), "unknown"},
		{"version broken", attrVersion, &types.AttributeValueMemberN{Value: "1.5"}, "not a whole number"},
		{"no leader", attrLeaderID, nil, "leader_id is missing"},
		{"leader a number", attrLeaderID, number(1), "leader_id is a number"},
		{"hosts a set", attrHostPort, &types.AttributeValueMemberSS{Value: []string{"a"}}, "host_port is a set"},
		{"a host a map", attrHostPort, &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberM{}}}, "host_port has a map in it"},
		{"no expiry", attrTermExpiry, nil, "term_expiry is missing"},
		{"expiry null", attrTermExpiry, null, "term_expiry is missing"},
		{"expiry in seconds", attrTermExpiry, number(1893456000), "term_expiry is a number"},
		{"expiry unreadable", attrTermExpiry, text("tomorrow"), "not a time"},
		{"length unreadable", attrTermLength, text("15"), "not a duration"},
		{"length zero", attrTermLength, text("0s"), "not positive"},
		{"sent by unreadable", attrSentBy, text("now"), "sent_by"},
		{"no number", attrElectionNumber, nil, "election_number is missing"},
		{"number negative", attrElectionNumber, number(-1), "out of range"},
		{"number too long", attrElectionNumber, &types.AttributeValueMemberN{Value: "99999999999999999999"}, "not a whole number within 64 bits"},
		{"no token", attrFencingToken, nil, "fencing_token is missing"},
		{"no nonce", attrNonce, nil, "nonce is missing"},
		{"nonce empty", attrNonce, text(""), "nonce is empty"},
		{"nonce binary", attrNonce, binary([]byte("n")), "nonce is a binary value"},
		{"params a string", attrConnectionParams, text("x"), "connection_params is a string"},
		{"checkpoint too long", attrCheckpoint, binary(make([]byte, entry.MaxCheckpoint+1)), "checkpoint has"},
		{"held a string", attrHeld, text("true"), "held is a string, not a boolean"},
		{"something new", attrHeld, &types.UnknownUnionMember{Tag: "X"}, "held is a value of an unknown type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			it := stored(sampleEntry(nil))
			delete(it, c.attr)
			if c.value != nil {
				it[c.attr] = c.value
			}
			e, err := decode(it)
			if e != nil || !errors.Is(err, core.ErrBadEntry) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v, %v does not mention %q", e, err, c.says)
			}
		})
	}
}

func TestDecodeOptional(t *testing.T) {
	it := stored(sampleEntry(nil))
	for _, name := range []string{attrHostPort, attrSentBy, attrConnectionParams, attrCheckpoint, attrHeld} {
		delete(it, name) // as a person would leave it
	}
	want := sampleEntry(nil)
	want.HostPort = nil
	if e, err := decode(it); err != nil || !reflect.DeepEqual(e, want) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestAdvice: whoever reads about a bad item gets a command that a shell takes, and
// nobody is told how to destroy one of a newer version.
func TestAdvice(t *testing.T) {
	s := newEmulator(t)
	d := NewDecider(s.Client(s.client(t)), testTable, testName, nil)
	for version, isNewer := range map[int64]bool{2: true, 0: false} {
		must(t, s.Plant(testTable, item{attrElection: text(testName), attrVersion: number(version)}))
		_, err := d.ReadCurrent(context.Background())
		command := "elect break --store '" + d.String() + "' --corrupt --version 'item:"
		if !errors.Is(err, core.ErrBadEntry) || errors.Is(err, entry.ErrNewer) != isNewer ||
			strings.Contains(err.Error(), command) == isNewer || strings.Contains(err.Error(), "update this program") != isNewer {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// TestBadItemToken: what is no entry can be overwritten exactly as it was read,
// whatever it is made of, and not once it has changed.
func TestBadItemToken(t *testing.T) {
	s := newEmulator(t)
	d := NewDecider(s.Client(s.client(t)), testTable, testName, nil)
	ctx := context.Background()
	odd := map[string]types.AttributeValue{
		"nothing": nil, "null": null, "string": text("x"), "empty": text(""), "number": number(1 << 61), "binary": binary([]byte{0, 255}),
		"boolean": &types.AttributeValueMemberBOOL{Value: true},
		"list":    &types.AttributeValueMemberL{Value: []types.AttributeValue{text("a"), number(1)}},
		"map":     &types.AttributeValueMemberM{Value: item{"a": text("b")}},
		"set":     &types.AttributeValueMemberSS{Value: []string{"a", "b"}},
	}
	for name, value := range odd {
		t.Run(name, func(t *testing.T) {
			it := item{attrElection: text(testName), attrNonce: text("n"), "foreign": text("f")}
			if value != nil {
				it[attrCheckpoint] = value
			}
			must(t, s.Plant(testTable, it))
			seen, err := d.ReadCurrent(ctx)
			if !errors.Is(err, core.ErrBadEntry) || !strings.Contains(err.Error(), seen.Token.(*Token).String()) {
				t.Fatal(err)
			}
			changed := maps.Clone(it)
			changed[attrCheckpoint] = text("somebody else's")
			if name == "binary" { // the emulator does not compare it with a string
				changed[attrCheckpoint] = binary([]byte{0})
			}
			must(t, s.Plant(testTable, changed))
			var lost core.FailedAcquisitionErr
			if _, err := d.WriteEntry(ctx, sampleEntry(seen.Token)); !errors.As(err, &lost) {
				t.Fatalf("after a change: %v", err)
			}
			must(t, s.Plant(testTable, it))
			if _, err := d.WriteEntry(ctx, sampleEntry(seen.Token)); err != nil {
				t.Fatalf("as it was read: %v", err)
			}
			if _, err := d.WriteEntry(ctx, sampleEntry(seen.Token)); !errors.As(err, &lost) {
				t.Fatalf("a second time: %v", err)
			}
		})
	}
}

package dynamodecider

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// TestWriteRequest looks at what goes over the wire: one request, with a
// condition that is never missing.
func TestWriteRequest(t *testing.T) {
	corrupt := item{attrElection: text("x"), attrNonce: text("n"), attrHeld: text("perhaps"), attrSentBy: null, "foreign": text("f")}
	for _, c := range []struct {
		name, condition string
		base            *Token
		values          map[string]any
	}{
		{"create", "attribute_not_exists(election)", absentToken(time.Time{}), nil},
		{"overwrite", "nonce=:w", nonceToken("nonce-0", time.Time{}), map[string]any{":w": map[string]any{"S": "nonce-0"}}},
		{"overwrite what is no entry", "attribute_exists(election) AND attribute_not_exists(cloudelect) AND attribute_not_exists(leader_id)" +
			" AND attribute_not_exists(host_port) AND attribute_not_exists(term_expiry) AND attribute_not_exists(term_length)" +
			" AND attribute_type(sent_by,:w5) AND attribute_not_exists(election_number) AND attribute_not_exists(fencing_token)" +
			" AND nonce=:w8 AND attribute_not_exists(connection_params) AND attribute_not_exists(checkpoint) AND held=:w11",
			badToken(corrupt, time.Time{}),
			map[string]any{":w5": map[string]any{"S": "NULL"}, ":w8": map[string]any{"S": "n"}, ":w11": map[string]any{"S": "perhaps"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(t, saying(200, "{}"))
			token, err := w.decider(t).WriteEntry(context.Background(), sampleEntry(c.base))
			if err != nil {
				t.Fatal(err)
			}
			if token.(*Token).String() != "nonce:nonce-1" {
				t.Errorf("token %v", token)
			}
			seen := w.seen()
			if len(seen) != 1 || seen[0].operation != "UpdateItem" {
				t.Fatalf("requests %+v", seen)
			}
			body := seen[0].body
			for field, want := range map[string]any{
				"TableName": testTable, "Key": map[string]any{"election": map[string]any{"S": testName}},
				"ConditionExpression": c.condition, "UpdateExpression": assign,
				"ReturnValuesOnConditionCheckFailure": "ALL_OLD",
			} {
				if !reflect.DeepEqual(body[field], want) {
					t.Errorf("%s is %v, want %v", field, body[field], want)
				}
			}
			values := body["ExpressionAttributeValues"].(map[string]any)
			if len(values) != len(own)+len(c.values) {
				t.Errorf("%d values", len(values))
			}
			for placeholder, want := range c.values {
				if !reflect.DeepEqual(values[placeholder], want) {
					t.Errorf("%s is %v, want %v", placeholder, values[placeholder], want)
				}
			}
		})
	}
}

// TestReadRequest: consistent, or an older version would elect a second leader.
func TestReadRequest(t *testing.T) {
	w := newWire(t, saying(200, `{"Item":`+sampleItem+`}`))
	e, err := w.decider(t).ReadCurrent(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := sampleEntry(e.Token)
	if !reflect.DeepEqual(e, want) || e.Token.(*Token).String() != "nonce:nonce-1" {
		t.Errorf("read %+v, want %+v", e, want)
	}
	seen := w.seen()
	if len(seen) != 1 || seen[0].operation != "GetItem" || seen[0].body["ConsistentRead"] != true {
		t.Errorf("requests %+v", seen)
	}
}

// TestPlaceholders: every value of an update is used, and every placeholder has one.
func TestPlaceholders(t *testing.T) {
	values := assigned(sampleEntry(nil))
	pairs := strings.Split(strings.TrimPrefix(assign, "SET "), ",")
	if len(pairs) != len(values) || len(pairs) != len(own) {
		t.Errorf("%d assignments, %d values, %d attributes", len(pairs), len(values), len(own))
	}
	for i, pair := range pairs {
		name, placeholder, _ := strings.Cut(pair, "=")
		if name != own[i] || values[placeholder] == nil {
			t.Errorf("%s assigns %v", pair, values[placeholder])
		}
	}
	if _, taken := values[":w"]; taken {
		t.Error(":w is for the condition")
	}
}

// TestLostRace: the item of the failure is who won, if it is an entry.
func TestLostRace(t *testing.T) {
	failure := func(item string) string {
		return `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"` + item + `}`
	}
	for _, c := range []struct {
		name, body string
		known      bool
	}{
		{"an entry", failure(`,"Item":` + sampleItem), true},
		{"left out", failure(""), false},
		{"empty", failure(`,"Item":{}`), false},
		{"not an entry", failure(`,"Item":{"election":{"S":"x"},"nonce":{"S":"n"}}`), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWire(t, saying(400, c.body))
			_, err := w.decider(t).WriteEntry(context.Background(), sampleEntry(nonceToken("nonce-0", time.Time{})))
			var lost *core.LostRaceError
			if !errors.As(err, &lost) || !errors.Is(err, core.ErrLostRace) {
				t.Fatal(err)
			}
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) {
				t.Errorf("the store's own error is lost: %v", err)
			}
			if (lost.Current != nil) != c.known {
				t.Fatalf("Current is %+v", lost.Current)
			}
			if c.known && !reflect.DeepEqual(lost.Current, sampleEntry(lost.Current.Token)) {
				t.Errorf("Current is %+v", lost.Current)
			}
		})
	}
}

// TestForeignAttributes that others have put on the item stay on it.
func TestForeignAttributes(t *testing.T) {
	s := newEmulator(t)
	d := NewDecider(s.Client(s.client(t)), testTable, testName, nil)
	ctx := context.Background()
	token, err := d.WriteEntry(ctx, sampleEntry(absentToken(time.Time{})))
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Item(testTable, keyOf(testName))
	if err != nil {
		t.Fatal(err)
	}
	it["expires"], it["team"] = number(1893456000), text("a")
	must(t, s.Plant(testTable, it))

	e := sampleEntry(token)
	e.Nonce, e.Checkpoint = "nonce-2", []byte("slot 7")
	if _, err := d.WriteEntry(ctx, e); err != nil {
		t.Fatal(err)
	}
	got, err := d.ReadCurrent(ctx)
	if err != nil || string(got.Checkpoint) != "slot 7" {
		t.Errorf("%+v, %v", got, err)
	}
	it, err = s.Item(testTable, keyOf(testName))
	if err != nil || len(it) != len(own)+3 || !reflect.DeepEqual(it["team"], text("a")) {
		t.Errorf("%s, %v", readable(it), err)
	}
}

// TestRefusedBeforeSending: a programming error costs no request and is not
// taken for an answer of the store.
func TestRefusedBeforeSending(t *testing.T) {
	w := newWire(t, saying(200, "{}"))
	d := w.decider(t)
	invalid := sampleEntry(absentToken(time.Time{}))
	invalid.TermLength = 0
	huge := sampleEntry(absentToken(time.Time{}))
	huge.ConnectionParams = make([]byte, maxSize)
	for _, c := range []struct {
		name string
		e    *entry.RaceEntry
		says string
	}{
		{"no entry", nil, "there is no entry"},
		{"no token", sampleEntry(nil), "no token"},
		{"nil token", sampleEntry((*Token)(nil)), "token is empty"},
		{"empty token", sampleEntry(&Token{}), "token is empty"},
		{"foreign token", sampleEntry(foreignToken{}), "foreignToken"},
		{"invalid entry", invalid, "term_length"},
		{"too large", huge, "more than 262144"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.WriteEntry(context.Background(), c.e)
			checkOutcome(t, isBroken, nil, err)
			if !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not mention %q", err, c.says)
			}
		})
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

type foreignToken struct{}

func (foreignToken) CommitTS() time.Time { return time.Time{} }

func TestTokenFor(t *testing.T) {
	d := NewDecider(silent{}, testTable, testName, nil)
	for version, condition := range map[string]string{"0": "attribute_not_exists(election)", "nonce:abc": "nonce=:w"} {
		token, err := d.TokenFor(version)
		if err != nil || token.(*Token).condition != condition || token.(*Token).String() != version {
			t.Errorf("%s: %+v, %v", version, token, err)
		}
	}
	for _, version := range []string{"", "abc", "nonce:", "item:0123", "1"} {
		if token, err := d.TokenFor(version); !errors.Is(err, core.ErrInvalidConfig) || token != nil {
			t.Errorf("%s: %v, %v", version, token, err)
		}
	}
}

package dynamodecider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// fenced is a leader with something to protect, in a table of its own.
type fenced struct {
	*store
	way    *netfault.Transport
	client *dynamodb.Client
	d      *Decider
	l      *core.Leadership
}

const dataTable = "data"

func newFenced(t *testing.T, plain bool, change func(*core.Config)) *fenced {
	t.Helper()
	f := &fenced{store: newEmulator(t)}
	f.plain = plain
	must(t, f.CreateTable(dataTable, "id"))
	f.way = f.store.way(t, nil)
	f.client = f.Client(&http.Client{Transport: f.way})
	f.d = NewDecider(f.client, testTable, testName, nil)
	c := core.Config{Decider: f.d, LeaderID: "worker-1", TermLength: time.Minute, ManualRenew: true}
	if change != nil {
		change(&c)
	}
	l, err := c.Campaign(t.Context())
	must(t, err)
	f.l = l
	return f
}

// put is a transaction of the user's.
func put(value string) *dynamodb.TransactWriteItemsInput {
	return &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String(dataTable), Item: item{"id": text("ledger"), "value": text(value)}}},
	}}
}

func (f *fenced) write(value string) error {
	_, err := f.d.WriteFenced(context.Background(), f.client, f.l, put(value))
	return err
}

// stored checks what the table holds.
func (f *fenced) stored(t *testing.T, want string) {
	t.Helper()
	it, err := f.Item(dataTable, item{"id": text("ledger")})
	got := ""
	if v, ok := it["value"].(*types.AttributeValueMemberS); ok {
		got = v.Value
	}
	if err != nil || got != want {
		t.Errorf("stored %q, want %q (%v)", got, want, err)
	}
}

// usurp makes somebody else lead, as after a freeze of this process: it does not
// hear of it.
func (f *fenced) usurp(t *testing.T, change func(item)) {
	t.Helper()
	it, err := f.Item(testTable, keyOf(testName))
	must(t, err)
	change(it)
	must(t, f.Plant(testTable, it))
}

func TestWriteFenced(t *testing.T) {
	f := newFenced(t, false, nil)
	must(t, f.write("one"))
	f.stored(t, "one")
	for range 2 { // renewals do not disturb it
		must(t, f.l.Renew(t.Context()))
	}
	must(t, f.l.SaveCheckpoint(t.Context(), []byte("slot 7")))
	f.way.Reset()
	must(t, f.write("two"))
	f.stored(t, "two")
	if n := len(f.way.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestWriteFencedTooLate: the reign is over in the store, and the leader does not know.
func TestWriteFencedTooLate(t *testing.T) {
	for name, change := range map[string]func(item){
		"a later reign":                         func(it item) { it[attrFencingToken], it[attrLeaderID] = number(4102444800), text("worker-2") },
		"a later reign of the same process":     func(it item) { it[attrFencingToken] = number(4102444800) },
		"the same token, another leader":        func(it item) { it[attrLeaderID] = text("worker-2") },
		"resigned":                              func(it item) { it[attrLeaderID] = text("") },
		"held after a resignation":              func(it item) { it[attrHeld] = &types.AttributeValueMemberBOOL{Value: true} },
		"what is stored is not an entry":        func(it item) { delete(it, attrFencingToken) },
		"what is stored was made by a stranger": func(it item) { delete(it, attrHeld) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFenced(t, false, nil)
			must(t, f.write("before"))
			f.usurp(t, change)
			err := f.write("after")
			if !errors.Is(err, core.ErrLeadershipLost) || errors.Is(err, core.ErrBroken) {
				t.Errorf("%v", err)
			}
			f.stored(t, "before")
		})
	}
	t.Run("deleted", func(t *testing.T) {
		f := newFenced(t, false, nil)
		must(t, f.Delete(testTable, keyOf(testName)))
		if err := f.write("after"); !errors.Is(err, core.ErrLeadershipLost) {
			t.Errorf("%v", err)
		}
		f.stored(t, "")
	})
}

// TestWriteFencedAfterTheEnd: nothing is sent for a reign that has ended here.
func TestWriteFencedAfterTheEnd(t *testing.T) {
	f := newFenced(t, false, nil)
	must(t, f.l.Resign(t.Context()))
	f.way.Reset()
	if err := f.write("after"); !errors.Is(err, core.ErrLeadershipLost) || !errors.Is(err, core.ErrResigned) {
		t.Errorf("%v", err)
	}
	if n := len(f.way.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	// The check alone, in a transaction of the caller's own, fails as well: although
	// what is stored is vacant and bears the token.
	for name, l := range map[string]*core.Leadership{"ended": f.l, "nil": nil} {
		in := put("after")
		in.TransactItems = append(in.TransactItems, f.d.FenceCheck(l))
		_, err := f.client.TransactWriteItems(t.Context(), in)
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.stored(t, "")
}

// TestWriteFencedOutcomes: what else a transaction may be answered.
func TestWriteFencedOutcomes(t *testing.T) {
	reasons := func(codes ...string) string {
		list := make([]string, len(codes))
		for i, code := range codes {
			list[i] = fmt.Sprintf(`{"Code":%q}`, code)
		}
		return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled","CancellationReasons":[` + strings.Join(list, ",") + `]}`
	}
	f := newFenced(t, false, nil)
	for _, c := range []struct {
		name   string
		fault  netfault.Fault
		lost   bool
		broken bool
		says   string
	}{
		{"the fence", answering(400, reasons("None", "ConditionalCheckFailed")), true, false, "stop leading"},
		{"a condition of the caller's", answering(400, reasons("ConditionalCheckFailed", "None")), false, false, "nothing was written"},
		{"a collision on the election", answering(400, reasons("None", "TransactionConflict")), false, false, "collided"},
		{"a collision on the data", answering(400, reasons("TransactionConflict", "None")), false, false, "collided"},
		{"throttled", answering(400, reasons("ThrottlingError", "None")), false, false, "nothing was written"},
		{"no reasons", answering(400, reasons()), false, false, "nothing was written"},
		{"throttled as a whole", answering(400, refusal("ThrottlingException", "")), false, false, "may have been written"},
		{"in progress", answering(400, refusal("TransactionInProgressException", "")), false, false, "may have been written"},
		{"internal error", netfault.Fault{Kind: netfault.Status, Status: 500}, false, false, "may have been written"},
		{"reset", netfault.Fault{Kind: netfault.Reset}, false, false, "may have been written"},
		{"denied", answering(400, refusal("AccessDeniedException", "")), false, true, "grant dynamodb:ConditionCheckItem"},
		{"no table", answering(400, refusal("ResourceNotFoundException", "")), false, true, "does not exist"},
		{"invalid", answering(400, refusal("ValidationException", "Transaction request cannot include multiple operations on one item")), false, true, "election's"},
		{"no transactions", answering(400, refusal("UnknownOperationException", "")), false, true, "has no TransactWriteItems"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.fault.Count = 1
			must(t, f.way.Inject(c.fault))
			f.way.Reset()
			err := f.write("x")
			if err == nil || errors.Is(err, core.ErrLeadershipLost) != c.lost || errors.Is(err, core.ErrBroken) != c.broken || !strings.Contains(err.Error(), c.says) {
				t.Errorf("lost %v, broken %v, %v does not mention %q", errors.Is(err, core.ErrLeadershipLost), errors.Is(err, core.ErrBroken), err, c.says)
			}
			if n := len(f.way.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
	f.stored(t, "")
	must(t, f.way.Inject(netfault.Fault{Kind: netfault.LoseAnswer, Count: 1}))
	if err := f.write("lost answer"); err == nil || errors.Is(err, core.ErrLeadershipLost) || errors.Is(err, core.ErrBroken) {
		t.Errorf("%v", err)
	}
	f.stored(t, "lost answer")
}

// TestNoTransactions: a store without them says so, and nothing is written.
func TestNoTransactions(t *testing.T) {
	f := newFenced(t, true, nil)
	err := f.write("x")
	if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "cannot fence writes") {
		t.Errorf("%v", err)
	}
	f.stored(t, "")
}

// TestRenewalCollides: a renewal that meets a transaction is unknown, is repeated,
// and the reign goes on.
func TestRenewalCollides(t *testing.T) {
	f := newFenced(t, false, nil)
	fault := answering(400, refusal("TransactionConflictException", "Transaction is ongoing for the item"))
	fault.WritesOnly, fault.Count = true, 1
	must(t, f.way.Inject(fault))
	err := f.l.Renew(t.Context())
	if err != nil && (errors.Is(err, core.ErrLeadershipLost) || errors.Is(err, core.ErrBroken)) {
		t.Errorf("%v", err)
	}
	must(t, f.l.Check())
	must(t, f.l.Renew(t.Context()))
}

func TestWriteFencedMisuse(t *testing.T) {
	f := newFenced(t, false, nil)
	f.way.Reset()
	many := put("x")
	for range 99 {
		many.TransactItems = append(many.TransactItems, many.TransactItems[0])
	}
	var none *dynamodb.Client
	for name, do := range map[string]func() error{
		"no client": func() error { _, err := f.d.WriteFenced(t.Context(), none, f.l, put("x")); return err },
		"no reign":  func() error { _, err := f.d.WriteFenced(t.Context(), f.client, nil, put("x")); return err },
		"nothing":   func() error { _, err := f.d.WriteFenced(t.Context(), f.client, f.l, nil); return err },
		"no items": func() error {
			_, err := f.d.WriteFenced(t.Context(), f.client, f.l, &dynamodb.TransactWriteItemsInput{})
			return err
		},
		"100 items": func() error { _, err := f.d.WriteFenced(t.Context(), f.client, f.l, many); return err },
		"no decider": func() error {
			_, err := NewDecider(nil, "", "", nil).WriteFenced(t.Context(), f.client, f.l, put("x"))
			return err
		},
	} {
		if err := do(); !errors.Is(err, core.ErrInvalidConfig) || !errors.Is(err, core.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, cause := range causes {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if _, err := f.d.WriteFenced(ctx, f.client, f.l, put("x")); !errors.Is(err, context.Canceled) || errors.Is(err, cause) {
			t.Errorf("%v", err)
		}
	}
	if n := len(f.way.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	in := put("x")
	in.TransactItems = append(make([]types.TransactWriteItem, 0, 9), in.TransactItems...)
	if _, err := f.d.WriteFenced(t.Context(), f.client, f.l, in); err != nil || len(in.TransactItems) != 1 || in.TransactItems[:2][1].ConditionCheck != nil {
		t.Errorf("the caller's input was changed: %+v, %v", in, err)
	}
}

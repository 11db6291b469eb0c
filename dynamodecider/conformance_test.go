package dynamodecider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/decidertest"
	emulator "github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// badWeather is what a network and a busy store do, often enough that hardly a
// case of the suite gets by without it.
func badWeather(seed uint64) *netfault.Schedule {
	status := func(p float64, kind netfault.Kind, code int) netfault.Chance {
		return netfault.Chance{P: p, Fault: netfault.Fault{Kind: kind, Status: code}}
	}
	return &netfault.Schedule{Seed: seed, Chances: []netfault.Chance{
		{P: 0.2, Fault: netfault.Fault{Kind: netfault.Delay, For: 2 * time.Millisecond}},
		{P: 0.2, Fault: netfault.Fault{Kind: netfault.DelayAfter, For: 2 * time.Millisecond}},
		status(0.08, netfault.Status, 429),
		status(0.08, netfault.Status, 503),
		status(0.04, netfault.StatusAfter, 500),
		{P: 0.05, Fault: netfault.Fault{Kind: netfault.Reset}},
		{P: 0.05, Fault: netfault.Fault{Kind: netfault.LoseAnswer}},
	}}
}

// TestConformance runs the suite on the emulator, in good weather and in bad, and on
// a store that never returns the item and knows no transactions.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name     string
		schedule *netfault.Schedule
		plain    bool
	}{
		{name: "direct"},
		{name: "bad weather, seed 2", schedule: badWeather(2)},
		{name: "bad weather, seed 3", schedule: badWeather(3)},
		{name: "never returns the item", plain: true},
		{name: "never returns the item, bad weather", plain: true, schedule: badWeather(4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.schedule != nil {
				t.Logf("schedule: %s", c.schedule)
			}
			e := newEmulator(t)
			e.plain = c.plain
			decidertest.Run(t, decidertest.Harness{New: func(t decidertest.TB) decidertest.Record {
				return e.record(t, c.schedule)
			}})
			if n := e.faults.Load(); c.schedule != nil && n < 20 {
				t.Errorf("only %d requests met a fault", n)
			}
		})
	}
}

// store is the emulator of one test.
type store struct {
	*emulator.Server
	plain   bool // as some compatible stores are: see plainStore
	records atomic.Int64
	faults  atomic.Int64 // requests of ended cases that met one
}

func newEmulator(t testing.TB) *store {
	t.Helper()
	server, err := emulator.Start(&emulator.Options{Tables: map[string]string{testTable: attrElection}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &store{Server: server}
}

// record is a new item; all its handles share one way to the store.
func (s *store) record(t decidertest.TB, schedule *netfault.Schedule) decidertest.Record {
	t.Helper()
	name := fmt.Sprintf("nightly/%d", s.records.Add(1))
	way := s.way(t, &netfault.Options{Schedule: schedule})
	t.Cleanup(func() {
		for _, r := range way.Requests() {
			if r.Fault != "" {
				s.faults.Add(1)
			}
		}
	})
	open := func(way *netfault.Transport) core.RaceDecider {
		return NewDecider(clientOver(&http.Client{Transport: way}, s.URL()), testTable, name, nil)
	}
	return decidertest.Record{
		Open: func() core.RaceDecider { return open(way) },
		LoseNext: func(core.RaceDecider) {
			must(t, way.Inject(netfault.Fault{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1}))
		},
		Plant: func(content []byte) error {
			// What follows is about content. The suite settles an unknown write
			// by reading, which cannot end well where an entry is bad.
			must(t, way.SetSchedule(nil))
			return s.Server.Plant(testTable, planted(name, content))
		},
		Delete: func() error { return s.Server.Delete(testTable, keyOf(name)) },
		Deny: func() core.RaceDecider {
			denying := s.way(t, nil)
			must(t, denying.Inject(answering(400, refusal("AccessDeniedException", ""))))
			return open(denying)
		},
	}
}

// answering is a fault that says something in the store's place.
func answering(status int, body string) netfault.Fault {
	return netfault.Fault{Kind: netfault.Status, Status: status, Body: []byte(body),
		Header: http.Header{"Content-Type": {jsonType}}}
}

// planted is what comes closest to content in a store that keeps no bytes: the
// fields of a JSON object as attributes, anything else as one attribute.
func planted(name string, content []byte) item {
	var fields map[string]any
	if json.Unmarshal(content, &fields) != nil || fields == nil {
		return item{attrElection: text(name), "content": binary(content)}
	}
	it := item{attrElection: text(name)}
	for field, value := range fields {
		switch v := value.(type) {
		case string:
			it[field] = text(v)
		case float64:
			it[field] = number(int64(v))
		default:
			it[field] = &types.AttributeValueMemberNULL{Value: true}
		}
	}
	return it
}

// way is a network that faults can be put into.
func (s *store) way(t decidertest.TB, opts *netfault.Options) *netfault.Transport {
	t.Helper()
	base := &http.Transport{}
	var over http.RoundTripper = base
	if s.plain {
		over = plainStore{base}
	}
	way, err := netfault.NewTransport(over, opts)
	must(t, err)
	t.Cleanup(func() { way.Close(); base.CloseIdleConnections() })
	return way
}

func must(t decidertest.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// TestRequests counts what each step costs, at the wire, and that a lost answer
// is not asked for again, although the client would.
func TestRequests(t *testing.T) {
	s := newEmulator(t)
	way := s.way(t, nil)
	client := retrying(&http.Client{Transport: way}, s.URL())
	d := NewDecider(client, testTable, testName, nil)
	ctx := context.Background()
	cost := func(what string, want string, do func() error) {
		t.Helper()
		way.Reset()
		err := do()
		var failed core.FailedAcquisitionErr
		got := "ok"
		switch {
		case errors.As(err, &failed):
			got = "lost"
		case err != nil:
			got = "unknown"
		}
		if got != want || errors.Is(err, core.ErrBroken) {
			t.Fatalf("%s is %s, want %s: %v", what, got, want, err)
		}
		if n := len(way.Requests()); n != 1 {
			t.Errorf("%s costs %d requests: %v", what, n, way.Requests())
		}
	}
	nothing := absentToken(time.Time{})
	last, nonces := nothing, 0
	write := func(base *Token) func() error {
		return func() error {
			e := sampleEntry(base)
			nonces++
			e.Nonce = fmt.Sprint("nonce-", nonces)
			token, err := d.WriteEntry(ctx, e)
			if err == nil {
				last = token.(*Token)
			}
			return err
		}
	}
	readIt := func() error { _, err := d.ReadCurrent(ctx); return err }

	cost("a read of nothing", "ok", readIt)
	cost("a creation", "ok", write(nothing))
	cost("a read", "ok", readIt)
	cost("an overwrite", "ok", write(last))
	cost("a lost creation", "lost", write(nothing))
	cost("a lost overwrite", "lost", write(nonceToken("nonce-1", time.Time{})))

	for _, f := range []netfault.Fault{
		{Kind: netfault.LoseAnswer}, {Kind: netfault.StatusAfter, Status: 500}, {Kind: netfault.Reset}, {Kind: netfault.Status, Status: 503},
		answering(400, refusal("ThrottlingException", "")), answering(400, refusal("TransactionConflictException", "")),
	} {
		f.WritesOnly, f.Count = true, 1
		must(t, way.Inject(f))
		cost("an overwrite that meets "+f.String(), "unknown", write(last))
		now, err := d.ReadCurrent(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if stored := now.Nonce == fmt.Sprint("nonce-", nonces); stored != (f.Kind == netfault.LoseAnswer || f.Kind == netfault.StatusAfter) {
			t.Errorf("after %s: stored %v", f, stored)
		}
		last = now.Token.(*Token)
	}

	// The client is as it was: its own reads retry.
	must(t, way.Inject(netfault.Fault{Kind: netfault.Status, Status: 503, Count: 1}))
	way.Reset()
	if err := readIt(); err != nil || len(way.Requests()) != 2 {
		t.Errorf("a read that meets a 503: %v, %v", err, way.Requests())
	}
}

// TestMissingTable: found out by the first request, whichever it is.
func TestMissingTable(t *testing.T) {
	s := newEmulator(t)
	d := NewDecider(clientOver(&http.Client{Transport: s.way(t, nil)}, s.URL()), "no-such-table", testName, nil)
	for _, op := range []operation{opRead, opWrite} {
		_, err := ask(context.Background(), d, op)
		if !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), `"no-such-table" does not exist`) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// client is a connection to the emulator that ends with the test.
func (s *store) client(t decidertest.TB) *http.Client { return &http.Client{Transport: s.way(t, nil)} }

package s3decider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

const fencedKey = "reports/latest"

// fenced is a FencedObject on the emulator, over a network that can fail.
func (e *store) fenced(t *testing.T, opts *FencedOptions) (*FencedObject, *netfault.Transport) {
	t.Helper()
	way := newWay(t, nil)
	return NewFencedObject(newTestClient(t, e.URL(), way), testBucket, fencedKey, opts), way
}

func (e *store) dataKeys(t *testing.T) []string {
	t.Helper()
	keys, err := e.Keys(testBucket, fencedKey+dataMark)
	must(t, err)
	return keys
}

func checkFenced(t *testing.T, f *FencedObject, token int64, data string) {
	t.Helper()
	got, err := f.Read(context.Background())
	if err != nil || got.Token != token || string(got.Data) != data {
		t.Fatalf("%+v, %v; want %q by %d", got, err, data, token)
	}
}

func checkStale(t *testing.T, err error, token, highest int64) {
	t.Helper()
	var stale *StaleTokenError
	if !errors.As(err, &stale) || !errors.Is(err, ErrStaleToken) || stale.Token != token || stale.Highest != highest ||
		errors.Is(err, core.ErrBroken) || errors.Is(err, core.ErrLostRace) {
		t.Fatalf("%v; want a stale token %d below %d", err, token, highest)
	}
}

func TestFenced(t *testing.T) {
	ctx, e := context.Background(), newStore(t)
	f, way := e.fenced(t, &FencedOptions{Leftover: func(key string, err error) { t.Errorf("%s is left over: %v", key, err) }})
	if _, err := f.Read(ctx); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, core.ErrBroken) {
		t.Errorf("nothing was written: %v", err)
	}
	must(t, f.Write(ctx, 5, []byte("one")))
	checkFenced(t, f, 5, "one")
	must(t, f.Write(ctx, 5, []byte("two"))) // the same reign
	must(t, f.Write(ctx, 7, nil))           // another; empty content is content
	checkFenced(t, f, 7, "")
	way.Reset()
	must(t, f.Write(ctx, 7, []byte("three")))
	if n := len(way.Requests()); n != 5 {
		t.Errorf("a write costs %d requests: %v", n, way.Requests())
	}

	before, etag, err := e.Contents(testBucket, fencedKey)
	must(t, err)
	keys := e.dataKeys(t)
	way.Reset()
	checkStale(t, f.Write(ctx, 6, []byte("from a leader of the past")), 6, 7)
	if n := len(way.Requests()); n != 1 {
		t.Errorf("a stale write costs %d requests: %v", n, way.Requests())
	}
	after, etagAfter, err := e.Contents(testBucket, fencedKey)
	must(t, err)
	if !bytes.Equal(before, after) || etag != etagAfter || fmt.Sprint(keys) != fmt.Sprint(e.dataKeys(t)) {
		t.Error("a stale write changed something")
	}
	checkFenced(t, f, 7, "three")
	if len(keys) != 1 {
		t.Errorf("old data is not cleaned up: %q", keys)
	}
}

// TestFencedFrozen: the leader of the past has read the pointer, and is frozen before
// it writes. The new one writes the same bytes. Whatever thaws changes nothing.
func TestFencedFrozen(t *testing.T) {
	for _, frozenAt := range []string{"the data", "the pointer"} {
		t.Run(frozenAt, func(t *testing.T) {
			ctx, e := context.Background(), newStore(t)
			newer, _ := e.fenced(t, nil)
			must(t, newer.Write(ctx, 1, []byte("same")))
			_, etag, err := e.Contents(testBucket, fencedKey)
			must(t, err)

			frozen, thaw := make(chan struct{}), make(chan struct{})
			stop := sync.OnceFunc(func() { close(frozen); <-thaw })
			base := &http.Transport{}
			t.Cleanup(base.CloseIdleConnections)
			client := newTestClient(t, e.URL(), transportFunc(func(r *http.Request) (*http.Response, error) {
				if pointer := strings.HasSuffix(r.URL.Path, fencedKey); r.Method == http.MethodPut && pointer == (frozenAt == "the pointer") {
					stop()
				}
				return base.RoundTrip(r)
			}))
			result := make(chan error)
			go func() { result <- NewFencedObject(client, testBucket, fencedKey, nil).Write(ctx, 1, []byte("same")) }()
			<-frozen
			must(t, newer.Write(ctx, 2, []byte("same")))
			close(thaw)
			checkStale(t, <-result, 1, 2)
			checkFenced(t, newer, 2, "same")
			if _, now, err := e.Contents(testBucket, fencedKey); err != nil || now == etag {
				t.Errorf("the pointer's ETag came back: %s, %v", now, err)
			}
			if keys := e.dataKeys(t); len(keys) != 1 {
				t.Errorf("data is left: %q", keys)
			}
		})
	}
}

// TestFencedRace: leaders of several reigns write the same bytes at once. Whoever was
// told yes did write, and the highest token is what stays.
func TestFencedRace(t *testing.T) {
	const writers, rounds = 6, 4
	ctx, e := context.Background(), newStore(t)
	way := newWay(t, nil)
	for round := range rounds {
		var wg sync.WaitGroup
		errs := make([]error, writers)
		first := int64(round * writers)
		for i := range writers {
			f := NewFencedObject(newTestClient(t, e.URL(), way), testBucket, fencedKey, nil)
			wg.Go(func() { errs[i] = f.Write(ctx, first+int64(i), []byte("same bytes")) })
		}
		wg.Wait()
		for i, err := range errs {
			if i == writers-1 && err != nil {
				t.Errorf("the highest token: %v", err)
			}
			if err != nil && !errors.Is(err, ErrStaleToken) {
				t.Errorf("token %d: %v", first+int64(i), err)
			}
		}
		f, _ := e.fenced(t, nil)
		checkFenced(t, f, first+writers-1, "same bytes")
		if keys := e.dataKeys(t); len(keys) != 1 {
			t.Errorf("round %d: old data is left: %q", round, keys)
		}
	}
}

// TestFencedRaceOfOneReign: every write of the same reign is stored in its turn.
func TestFencedRaceOfOneReign(t *testing.T) {
	ctx, e := context.Background(), newStore(t)
	f, _ := e.fenced(t, nil)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if err := f.Write(ctx, 1, []byte{byte('a' + i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := f.Read(ctx); err != nil || len(got.Data) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if keys := e.dataKeys(t); len(keys) != 1 {
		t.Errorf("old data is left: %q", keys)
	}
}

// TestFencedLostAnswers: what was stored without an answer is found out, and what
// was not is stored.
func TestFencedLostAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []netfault.Fault // of writes to the pointer
	}{
		{"the pointer's answer", []netfault.Fault{{Kind: netfault.LoseAnswer, Count: 1}}},
		{"the pointer", []netfault.Fault{{Kind: netfault.Reset, Count: 2}}},
		{"a conflict after it was stored", []netfault.Fault{{Kind: netfault.StatusAfter, Status: 409, Count: 1}}},
		{"a conflict before", []netfault.Fault{{Kind: netfault.Status, Status: 409, Count: 3}}},
		{"sent twice by a proxy", []netfault.Fault{{Kind: netfault.Duplicate, Count: 1}}},
		{"denied for a moment while in doubt", []netfault.Fault{{Kind: netfault.Reset, Count: 1},
			{Kind: netfault.Status, Status: 403, Count: 1, Body: []byte(xmlError("AccessDenied", "Access Denied"))}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, e := context.Background(), newStore(t)
			f, way := e.fenced(t, nil)
			for token, data := range []string{"one", "two"} {
				for _, fault := range c.faults {
					fault.Match = func(r *http.Request) bool {
						return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, fencedKey)
					}
					must(t, way.Inject(fault))
				}
				way.Reset()
				must(t, f.Write(ctx, int64(token), []byte(data)))
				stored := 0
				for _, r := range way.Requests() {
					if r.Method == http.MethodPut && strings.HasSuffix(r.Path, fencedKey) && r.ServerStatus == http.StatusOK {
						stored++
					}
				}
				if stored > 1 {
					t.Errorf("stored %d times: %v", stored, way.Requests())
				}
				checkFenced(t, f, int64(token), data)
				if keys := e.dataKeys(t); len(keys) != 1 {
					t.Errorf("old data is left: %q", keys)
				}
			}
		})
	}
}

// TestFencedOvertaken: a write that was stored without an answer, and replaced by its
// own reign before it was looked for, is done: it does not come back.
func TestFencedOvertaken(t *testing.T) {
	ctx, e := context.Background(), newStore(t)
	other, _ := e.fenced(t, nil)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	overtake := sync.OnceFunc(func() { must(t, other.Write(ctx, 1, []byte("two"))) })
	f := NewFencedObject(newTestClient(t, e.URL(), transportFunc(func(r *http.Request) (*http.Response, error) {
		response, err := base.RoundTrip(r)
		if err == nil && r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, fencedKey) {
			response.Body.Close()
			overtake()
			return nil, errors.New("connection lost")
		}
		return response, err
	})), testBucket, fencedKey, nil)
	must(t, f.Write(ctx, 1, []byte("one")))
	checkFenced(t, other, 1, "two")
	if keys := e.dataKeys(t); len(keys) != 1 {
		t.Errorf("old data is left: %q", keys)
	}
}

// TestFencedGivesUp: an outcome that stays unknown is said to be so, whatever the
// caller's context ended with, and nothing that may be referred to is deleted.
func TestFencedGivesUp(t *testing.T) {
	e := newStore(t)
	f, _ := e.fenced(t, nil)
	must(t, f.Write(context.Background(), 1, []byte("one")))
	ctx, cancel := context.WithCancelCause(context.Background())
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	client := newTestClient(t, e.URL(), transportFunc(func(r *http.Request) (*http.Response, error) {
		response, err := base.RoundTrip(r)
		if err == nil && r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, fencedKey) { // stored, and nobody waits any more
			response.Body.Close()
			cancel(core.ErrBroken)
			return nil, errors.New("connection lost")
		}
		return response, err
	}))
	err := NewFencedObject(client, testBucket, fencedKey, nil).Write(ctx, 2, []byte("two"))
	if !errors.Is(err, context.Canceled) || errors.Is(err, core.ErrBroken) || errors.Is(err, ErrStaleToken) || !strings.Contains(err.Error(), "not known") {
		t.Errorf("%v", err)
	}
	checkFenced(t, f, 2, "two")
}

// TestFencedDenied: not stored, and nothing left behind.
func TestFencedDenied(t *testing.T) {
	for _, suffix := range []string{fencedKey, ""} {
		e := newStore(t)
		f, way := e.fenced(t, nil)
		must(t, f.Write(context.Background(), 1, []byte("one")))
		must(t, way.Inject(netfault.Fault{Kind: netfault.Status, Status: 403, Body: []byte(xmlError("AccessDenied", deniedPut)),
			Match: func(r *http.Request) bool {
				return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, suffix)
			}}))
		if err := f.Write(context.Background(), 2, []byte("two")); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "s3:PutObject") {
			t.Errorf("%v", err)
		}
		checkFenced(t, f, 1, "one")
		if keys := e.dataKeys(t); len(keys) != 1 {
			t.Errorf("data is left: %q", keys)
		}
	}
}

// TestFencedCleaningUp may fail: what is left is named, and tried once more by the
// next write.
func TestFencedCleaningUp(t *testing.T) {
	ctx, e := context.Background(), newStore(t)
	var left []string
	f, way := e.fenced(t, &FencedOptions{Leftover: func(key string, err error) { left = append(left, key) }})
	must(t, f.Write(ctx, 1, []byte("one")))
	old := e.dataKeys(t)
	must(t, way.Inject(netfault.Fault{Kind: netfault.Status, Status: 403, Method: http.MethodDelete, Count: 1, Body: []byte(xmlError("AccessDenied", "Access Denied"))}))
	must(t, f.Write(ctx, 2, []byte("two")))
	if fmt.Sprint(left) != fmt.Sprint(old) || len(e.dataKeys(t)) != 2 {
		t.Errorf("left over %q, want %q; there is %q", left, old, e.dataKeys(t))
	}
	checkFenced(t, f, 2, "two")
	must(t, f.Write(ctx, 3, []byte("three")))
	if keys := e.dataKeys(t); len(keys) != 1 {
		t.Errorf("old data is left: %q", keys)
	}
}

// TestFencedReadWhileWriting: a reader whose data is deleted under its hands reads what
// replaced it.
func TestFencedReadWhileWriting(t *testing.T) {
	ctx, e := context.Background(), newStore(t)
	writer, _ := e.fenced(t, nil)
	must(t, writer.Write(ctx, 1, []byte("one")))
	overtake := sync.OnceFunc(func() { must(t, writer.Write(ctx, 2, []byte("two"))) })
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	reader := NewFencedObject(newTestClient(t, e.URL(), transportFunc(func(r *http.Request) (*http.Response, error) {
		if strings.Contains(r.URL.Path, dataMark) {
			overtake()
		}
		return base.RoundTrip(r)
	})), testBucket, fencedKey, nil)
	checkFenced(t, reader, 2, "two")

	for _, key := range e.dataKeys(t) {
		must(t, e.Delete(testBucket, key))
	}
	if _, err := reader.Read(ctx); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("data that somebody deleted: %v", err)
	}
	must(t, writer.Write(ctx, 2, []byte("again")))
	checkFenced(t, reader, 2, "again")
}

// TestFencedForeign: what no FencedObject wrote is neither read nor overwritten.
func TestFencedForeign(t *testing.T) {
	for name, content := range map[string]string{
		"text": "hello", "an entry": string(sampleBody(t)), "too large": strings.Repeat(" ", maxPointer+1),
		"a newer format":      `{"cloudelect_fenced":2,"fencing_token":1,"nonce":"n","data":"` + fencedKey + dataMark + `1"}`,
		"a pointer elsewhere": `{"cloudelect_fenced":1,"fencing_token":1,"nonce":"n","data":"secrets/key"}`,
		"a folder below":      `{"cloudelect_fenced":1,"fencing_token":1,"nonce":"n","data":"` + fencedKey + dataMark + `1/x"}`,
		"half a pointer":      `{"cloudelect_fenced":1,"fencing_token":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := newStore(t)
			must(t, e.Plant(testBucket, fencedKey, []byte(content)))
			f, _ := e.fenced(t, nil)
			_, readErr := f.Read(context.Background())
			for _, err := range []error{readErr, f.Write(context.Background(), 9, []byte("x"))} {
				if !errors.Is(err, core.ErrBroken) || errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), f.String()) {
					t.Errorf("%v", err)
				}
			}
			if now, _, err := e.Contents(testBucket, fencedKey); err != nil || string(now) != content || len(e.dataKeys(t)) != 0 {
				t.Errorf("changed: %q, %v", now, err)
			}
		})
	}
}

func TestFencedParameters(t *testing.T) {
	ctx, e := context.Background(), newStore(t)
	client := newTestClient(t, e.URL(), nil)
	small := NewFencedObject(client, testBucket, fencedKey, &FencedOptions{MaxSize: 3})
	for name, err := range map[string]error{
		"no client":        NewFencedObject(nil, testBucket, fencedKey, nil).Write(ctx, 1, nil),
		"a folder":         NewFencedObject(client, testBucket, "reports/", nil).Write(ctx, 1, nil),
		"a long key":       NewFencedObject(client, testBucket, strings.Repeat("k", 1000), nil).Write(ctx, 1, nil),
		"a negative limit": NewFencedObject(client, testBucket, fencedKey, &FencedOptions{MaxSize: -1}).Write(ctx, 1, nil),
		"a negative token": small.Write(ctx, -1, nil),
		"too large":        small.Write(ctx, 1, []byte("four")),
	} {
		if !errors.Is(err, core.ErrInvalidConfig) || !errors.Is(err, core.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	large, _ := e.fenced(t, nil)
	must(t, large.Write(ctx, 1, []byte("four")))
	if _, err := small.Read(ctx); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "MaxSize") {
		t.Errorf("%v", err)
	}
}

package gcsdecider

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

const fencedName = "reports/latest"

// fenced is a FencedObject on the emulator, over a network that can fail.
func (e *emulator) fenced(t *testing.T, opts *FencedOptions) (*FencedObject, *netfault.Transport) {
	t.Helper()
	way := newWay(t, nil)
	return NewFencedObject(emulatorClient(t, e.Server, way), testBucket, fencedName, opts), way
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
	ctx, e := context.Background(), newEmulator(t)
	f, way := e.fenced(t, nil)
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
	if n := len(way.Requests()); n != 2 {
		t.Errorf("a write costs %d requests: %v", n, way.Requests())
	}

	_, before, err := e.Contents(testBucket, fencedName)
	must(t, err)
	way.Reset()
	checkStale(t, f.Write(ctx, 6, []byte("from a leader of the past")), 6, 7)
	if n := len(way.Requests()); n != 1 {
		t.Errorf("a stale write costs %d requests: %v", n, way.Requests())
	}
	if _, after, err := e.Contents(testBucket, fencedName); err != nil || after != before {
		t.Errorf("a stale write made generation %d of %d, %v", after, before, err)
	}
	checkFenced(t, f, 7, "three")
}

// isUpload finds the writes of content.
func isUpload(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/upload/") }

// TestFencedFrozen: the leader of the past has looked at the object, and is frozen
// before it writes. Whatever thaws changes nothing.
func TestFencedFrozen(t *testing.T) {
	ctx, e := context.Background(), newEmulator(t)
	newer, _ := e.fenced(t, nil)
	must(t, newer.Write(ctx, 1, []byte("same")))
	frozen, thaw := make(chan struct{}), make(chan struct{})
	stop := sync.OnceFunc(func() { close(frozen); <-thaw })
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	client := emulatorClient(t, e.Server, transportFunc(func(r *http.Request) (*http.Response, error) {
		if isUpload(r) {
			stop()
		}
		return base.RoundTrip(r)
	}))
	result := make(chan error)
	go func() { result <- NewFencedObject(client, testBucket, fencedName, nil).Write(ctx, 1, []byte("same")) }()
	<-frozen
	must(t, newer.Write(ctx, 2, []byte("same")))
	close(thaw)
	checkStale(t, <-result, 1, 2)
	checkFenced(t, newer, 2, "same")
}

// TestFencedRace: leaders of several reigns write the same bytes at once. Whoever was
// told yes did write, and the highest token is what stays.
func TestFencedRace(t *testing.T) {
	const writers, rounds = 6, 4
	ctx, e := context.Background(), newEmulator(t)
	client := emulatorClient(t, e.Server, newWay(t, nil))
	for round := range rounds {
		var wg sync.WaitGroup
		errs := make([]error, writers)
		first := int64(round * writers)
		for i := range writers {
			f := NewFencedObject(client, testBucket, fencedName, nil)
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
		checkFenced(t, NewFencedObject(client, testBucket, fencedName, nil), first+writers-1, "same bytes")
	}
}

// TestFencedLostAnswers: what was stored without an answer is found out, and what
// was not is stored.
func TestFencedLostAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []netfault.Fault // of uploads
	}{
		{"the answer", []netfault.Fault{{Kind: netfault.LoseAnswer, Count: 1}}},
		{"the request", []netfault.Fault{{Kind: netfault.Reset, Count: 2}}},
		{"an error after it was stored", []netfault.Fault{{Kind: netfault.StatusAfter, Status: 503, Count: 1}}},
		{"too many", []netfault.Fault{{Kind: netfault.Status, Status: 429, Count: 3}}},
		{"sent twice by a proxy", []netfault.Fault{{Kind: netfault.Duplicate, Count: 1}}},
		{"denied for a moment while in doubt", []netfault.Fault{{Kind: netfault.Reset, Count: 1},
			{Kind: netfault.Status, Status: 403, Count: 1, Body: []byte(apiError(403, "forbidden", "Forbidden"))}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, e := context.Background(), newEmulator(t)
			f, way := e.fenced(t, nil)
			for token, data := range []string{"one", "two"} {
				for _, fault := range c.faults {
					fault.Match = isUpload
					must(t, way.Inject(fault))
				}
				way.Reset()
				must(t, f.Write(ctx, int64(token), []byte(data)))
				stored := 0
				for _, r := range way.Requests() {
					if r.Write && r.ServerStatus == http.StatusOK {
						stored++
					}
				}
				if stored > 1 {
					t.Errorf("stored %d times: %v", stored, way.Requests())
				}
				checkFenced(t, f, int64(token), data)
			}
		})
	}
}

// TestFencedOvertaken: a write that was stored without an answer, and replaced by its
// own reign before it was looked for, is done: it does not come back.
func TestFencedOvertaken(t *testing.T) {
	ctx, e := context.Background(), newEmulator(t)
	other, _ := e.fenced(t, nil)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	overtake := sync.OnceFunc(func() { must(t, other.Write(ctx, 1, []byte("two"))) })
	f := NewFencedObject(emulatorClient(t, e.Server, transportFunc(func(r *http.Request) (*http.Response, error) {
		response, err := base.RoundTrip(r)
		if err == nil && isUpload(r) {
			response.Body.Close()
			overtake()
			return nil, errors.New("connection lost")
		}
		return response, err
	})), testBucket, fencedName, nil)
	must(t, f.Write(ctx, 1, []byte("one")))
	checkFenced(t, other, 1, "two")
}

// TestFencedGivesUp: an outcome that stays unknown is said to be so, whatever the
// caller's context ended with.
func TestFencedGivesUp(t *testing.T) {
	e := newEmulator(t)
	f, _ := e.fenced(t, nil)
	must(t, f.Write(context.Background(), 1, []byte("one")))
	ctx, cancel := context.WithCancelCause(context.Background())
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	client := emulatorClient(t, e.Server, transportFunc(func(r *http.Request) (*http.Response, error) {
		response, err := base.RoundTrip(r)
		if err == nil && isUpload(r) { // stored, and nobody waits any more
			response.Body.Close()
			cancel(core.ErrBroken)
			return nil, errors.New("connection lost")
		}
		return response, err
	}))
	err := NewFencedObject(client, testBucket, fencedName, nil).Write(ctx, 2, []byte("two"))
	if !errors.Is(err, context.Canceled) || errors.Is(err, core.ErrBroken) || errors.Is(err, ErrStaleToken) || !strings.Contains(err.Error(), "not known") {
		t.Errorf("%v", err)
	}
	checkFenced(t, f, 2, "two")
}

// TestFencedDenied: not stored.
func TestFencedDenied(t *testing.T) {
	e := newEmulator(t)
	f, way := e.fenced(t, nil)
	must(t, f.Write(context.Background(), 1, []byte("one")))
	must(t, way.Inject(netfault.Fault{Kind: netfault.Status, Status: 403, Match: isUpload, Body: []byte(apiError(403, "forbidden", deniedDelete))}))
	if err := f.Write(context.Background(), 2, []byte("two")); !errors.Is(err, core.ErrBroken) || !strings.Contains(err.Error(), "storage.objects.delete") {
		t.Errorf("%v", err)
	}
	checkFenced(t, f, 1, "one")
}

// TestFencedReadWhileWriting: a reader whose version is replaced under its hands reads
// the one that replaced it, never the token of one with the data of the other.
func TestFencedReadWhileWriting(t *testing.T) {
	ctx, e := context.Background(), newEmulator(t)
	writer, _ := e.fenced(t, nil)
	must(t, writer.Write(ctx, 1, []byte("one")))
	overtake := sync.OnceFunc(func() { must(t, writer.Write(ctx, 2, []byte("two"))) })
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	reader := NewFencedObject(emulatorClient(t, e.Server, transportFunc(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("alt") == "media" {
			overtake()
		}
		return base.RoundTrip(r)
	})), testBucket, fencedName, nil)
	checkFenced(t, reader, 2, "two")
}

// TestFencedForeign: what no FencedObject wrote is neither read nor overwritten,
// unless it is to be adopted.
func TestFencedForeign(t *testing.T) {
	ctx, e := context.Background(), newEmulator(t)
	must(t, e.Plant(testBucket, fencedName, []byte("foreign")))
	f, _ := e.fenced(t, nil)
	_, readErr := f.Read(ctx)
	for _, err := range []error{readErr, f.Write(ctx, 9, []byte("x"))} {
		if !errors.Is(err, core.ErrBroken) || errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), f.String()) {
			t.Errorf("%v", err)
		}
	}
	if now, _, err := e.Contents(testBucket, fencedName); err != nil || string(now) != "foreign" {
		t.Errorf("changed: %q, %v", now, err)
	}
	adopting, _ := e.fenced(t, &FencedOptions{Adopt: true, Options: Options{Metadata: map[string]string{"team": "a"}}})
	must(t, adopting.Write(ctx, 0, []byte("ours")))
	checkFenced(t, f, 0, "ours")
	checkStale(t, func() error { must(t, f.Write(ctx, 3, nil)); return adopting.Write(ctx, 2, nil) }(), 2, 3)
}

func TestFencedParameters(t *testing.T) {
	ctx, e := context.Background(), newEmulator(t)
	small, _ := e.fenced(t, &FencedOptions{MaxSize: 3})
	negative, _ := e.fenced(t, &FencedOptions{MaxSize: -1})
	for name, err := range map[string]error{
		"no client":        NewFencedObject(nil, testBucket, fencedName, nil).Write(ctx, 1, nil),
		"a negative limit": negative.Write(ctx, 1, nil),
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

package k8slock_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks/fake"
	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/cloudelect/cloudelect/adapters/k8slock"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

var start = time.Date(2026, 3, 1, 3, 0, 0, 123_456_789, time.UTC)

func record(holder string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: holder, LeaseDurationSeconds: 15,
		AcquireTime: meta.NewTime(start), RenewTime: meta.NewTime(start)}
}

func mustLock(t *testing.T, d core.RaceDecider, identity string, opts *k8slock.Options) *k8slock.Lock {
	t.Helper()
	l, err := k8slock.New(d, identity, opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustGet(t *testing.T, l *k8slock.Lock) (*resourcelock.LeaderElectionRecord, []byte) {
	t.Helper()
	r, raw, err := l.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r, raw
}

// leads returns a lock that has created the record.
func leads(t *testing.T, d core.RaceDecider, identity string, opts *k8slock.Options) *k8slock.Lock {
	t.Helper()
	l := mustLock(t, d, identity, opts)
	if _, _, err := l.Get(t.Context()); !apierrors.IsNotFound(err) {
		t.Fatalf("Get of nothing: %v, want NotFound", err)
	}
	if err := l.Create(t.Context(), record(identity)); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNewRefuses(t *testing.T) {
	limited := memory.NewDecider().Limited(3 * time.Second)
	long := strings.Repeat("x", 64<<10)
	for want, make := range map[string]func() (*k8slock.Lock, error){
		"there is no decider":   func() (*k8slock.Lock, error) { return k8slock.New(nil, "a", nil) },
		"identity is empty":     func() (*k8slock.Lock, error) { return k8slock.New((*memory.Decider)(nil), "", nil) },
		"not UTF-8":             func() (*k8slock.Lock, error) { return k8slock.New(memory.NewDecider(), "\xff", nil) },
		"shorter than 3s":       func() (*k8slock.Lock, error) { return k8slock.New(limited, "a", nil) },
		"none may be negative":  opts(k8slock.Options{RetryPeriod: -1}),
		"whole seconds":         opts(k8slock.Options{LeaseDuration: 15*time.Second + 1}),
		"leaves 0s beyond":      opts(k8slock.Options{LeaseDuration: 12 * time.Second}),
		"longer than":           opts(k8slock.Options{LeaseDuration: entry.MaxTermLength + time.Second}),
		"is not a JSON object":  opts(k8slock.Options{ConnectionParams: []byte("[]")}),
		"more than 1024":        func() (*k8slock.Lock, error) { return k8slock.New(memory.NewDecider(), long[:1025], nil) },
		"HostPort":              opts(k8slock.Options{HostPort: []string{"a:1", "\xff"}}),
		"more than 65536":       opts(k8slock.Options{ConnectionParams: []byte(`{"a":"` + long + `"}`)}),
		"every store takes":     opts(k8slock.Options{HostPort: []string{long, long, long, long}}),
		"JSON object (it is nu": opts(k8slock.Options{ConnectionParams: []byte("null")}),
	} {
		if l, err := make(); l != nil || !errors.Is(err, core.ErrInvalidConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v: want %q", l, err, want)
		}
	}
	_, err := k8slock.New(nil, "", &k8slock.Options{LeaseDuration: 1, ConnectionParams: []byte("{")})
	if n := strings.Count(err.Error(), "\n"); n != 3 {
		t.Errorf("%v: want all four faults", err)
	}
	_, err = k8slock.New(memory.NewDecider(), long, &k8slock.Options{HostPort: []string{"\xff", "\xfe"}, ConnectionParams: []byte(long)})
	if n := strings.Count(err.Error(), "\n"); n != 3 {
		t.Errorf("%v: want all four faults", err)
	}
	if _, err = k8slock.New(memory.NewDecider(), long[:1024], &k8slock.Options{HostPort: []string{long}, ConnectionParams: []byte(`{"a":"` + long[8:] + `"}`)}); err != nil {
		t.Errorf("large ones: %v", err)
	}
}

func opts(o k8slock.Options) func() (*k8slock.Lock, error) {
	return func() (*k8slock.Lock, error) { return k8slock.New(memory.NewDecider(), "a", &o) }
}

// Nothing of a record is lost, nor of ConnectionParams.
func TestTheRecordComesBack(t *testing.T) {
	d := memory.NewDecider()
	l := leads(t, d, "a", &k8slock.Options{ConnectionParams: []byte(`{"loadBalancingConfig": [{"pick_first": {}}]}`)})
	want := record("a")
	want.RenewTime = meta.NewTime(start.Add(time.Microsecond).In(time.FixedZone("elsewhere", 3600)))
	want.LeaderTransitions = 7
	want.Strategy, want.PreferredHolder = coordination.OldestEmulationVersion, "b"
	if err := l.Update(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	got, raw := mustGet(t, l)
	if !got.RenewTime.Time.Equal(want.RenewTime.Time) || !got.AcquireTime.Time.Equal(want.AcquireTime.Time) {
		t.Errorf("times %v, %v; want %v, %v", got.RenewTime, got.AcquireTime, want.RenewTime, want.AcquireTime)
	}
	got.RenewTime, got.AcquireTime = want.RenewTime, want.AcquireTime
	if *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var again resourcelock.LeaderElectionRecord
	if err := json.Unmarshal(raw, &again); err != nil || again.HolderIdentity != "a" || again.LeaderTransitions != 7 {
		t.Errorf("raw %s: %+v, %v", raw, again, err)
	}
	e, _ := d.Stored()
	if !strings.Contains(string(e.ConnectionParams), "pick_first") || !strings.Contains(string(e.ConnectionParams), "k8slock") {
		t.Errorf("ConnectionParams %s", e.ConnectionParams)
	}
	if other, _ := mustGet(t, mustLock(t, d, "c", nil)); other.LeaseDurationSeconds != 16 || other.LeaderTransitions != 7 {
		t.Errorf("others see %+v", other)
	}
}

// client-go compares raw records, whose times are in whole seconds.
func TestEveryVersionIsRawlyNew(t *testing.T) {
	d := memory.NewDecider()
	l := leads(t, d, "a", nil)
	_, first := mustGet(t, l)
	_, same := mustGet(t, l)
	if err := l.Update(t.Context(), record("a")); err != nil {
		t.Fatal(err)
	}
	_, second := mustGet(t, l)
	if string(first) != string(same) || string(first) == string(second) {
		t.Errorf("%s, %s, %s", first, same, second)
	}
}

func TestACandidateOfCoresIsShown(t *testing.T) {
	d := memory.NewDecider()
	e := d.Lead("core's", 20*time.Second)
	e.Checkpoint, e.ConnectionParams = []byte("slot 7"), []byte("not JSON")
	d.Plant(e)
	l := mustLock(t, d, "a", nil)
	r, _ := mustGet(t, l)
	if r.HolderIdentity != "core's" || r.LeaseDurationSeconds != 21 || !r.RenewTime.Time.Equal(e.TermExpiry.Add(-20*time.Second)) {
		t.Errorf("%+v", r)
	}
	d.Lead("", 0)
	if r, _ = mustGet(t, l); r.HolderIdentity != "" {
		t.Errorf("resigned: %+v", r)
	}
	if err := l.Update(t.Context(), record("a")); err != nil {
		t.Fatal(err)
	}
	got, _ := d.Stored()
	if got.FencingToken != e.FencingToken+1 || l.FencingToken() != got.FencingToken || string(got.Checkpoint) != "" && string(got.Checkpoint) != "slot 7" {
		t.Errorf("%+v after %+v", got, e)
	}
}

func TestTheCheckpointStays(t *testing.T) {
	d := memory.NewDecider()
	e := d.Lead("core's", 0)
	e.LeaderID, e.Checkpoint = "", []byte("slot 7")
	d.Plant(e)
	l := mustLock(t, d, "a", nil)
	mustGet(t, l)
	for range 2 {
		if err := l.Update(t.Context(), record("a")); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := d.Stored(); string(got.Checkpoint) != "slot 7" {
		t.Errorf("%+v", got)
	}
}

func TestALostRace(t *testing.T) {
	for _, creating := range []bool{false, true} {
		d := memory.NewDecider()
		l := mustLock(t, d, "a", nil)
		write, is := l.Create, apierrors.IsAlreadyExists
		if creating {
			_, _, _ = l.Get(t.Context())
		} else {
			l = leads(t, d, "a", nil)
			write, is = l.Update, apierrors.IsConflict
		}
		other := d.Lead("b", time.Minute)
		err := write(t.Context(), record("a"))
		var lost core.FailedAcquisitionErr
		if !is(err) || !errors.As(err, &lost) || !errors.Is(err, core.ErrLostRace) {
			t.Errorf("creating %v: %v (%T)", creating, err, err)
		}
		for _, again := range []func(context.Context, resourcelock.LeaderElectionRecord) error{l.Create, l.Update} {
			if err := again(t.Context(), record("a")); !errors.Is(err, k8slock.ErrNotRead) {
				t.Errorf("then %v, want ErrNotRead", err)
			}
		}
		mustGet(t, l)
		if err := l.Update(t.Context(), record("a")); !errors.Is(err, k8slock.ErrRefused) || l.FencingToken() != 0 || l.Check() == nil {
			t.Errorf("with %q leading: %v, token %d, %v", "b", err, l.FencingToken(), l.Check())
		}
		if got, _ := d.Stored(); got.Nonce != other.Nonce {
			t.Errorf("stored %+v", got)
		}
	}
}

// client-go's fast path must not write blindly after an answer that it did not get.
func TestAnUnknownAnswerAsksForARead(t *testing.T) {
	mine := errors.New("503")
	for name, order := range map[string]func(d *memory.Decider){
		"failed": func(d *memory.Decider) { d.FailNext(1, mine) },
		"lost":   func(d *memory.Decider) { d.LoseNext(1) },
		"broken": func(d *memory.Decider) { d.FailNext(1, core.ErrBroken) },
	} {
		d := memory.NewDecider()
		l := leads(t, d, "a", nil)
		token := l.FencingToken()
		order(d)
		err := l.Update(t.Context(), record("a"))
		if err == nil || apierrors.IsConflict(err) || name == "failed" && !errors.Is(err, mine) || name == "broken" && !errors.Is(err, core.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
		_, before := d.Requests()
		if err := l.Update(t.Context(), record("a")); !errors.Is(err, k8slock.ErrNotRead) {
			t.Errorf("%s: %v, want ErrNotRead", name, err)
		}
		if _, after := d.Requests(); after != before {
			t.Errorf("%s: something was sent", name)
		}
		if r, _ := mustGet(t, l); r.HolderIdentity != "a" {
			t.Errorf("%s: %+v", name, r)
		}
		if err := l.Update(t.Context(), record("a")); err != nil || l.FencingToken() != token {
			t.Errorf("%s: %v, token %d, want %d", name, err, l.FencingToken(), token)
		}
	}
}

func TestNothingIsSentUnread(t *testing.T) {
	d := memory.NewDecider()
	l := mustLock(t, d, "a", nil)
	for _, write := range []func(context.Context, resourcelock.LeaderElectionRecord) error{l.Create, l.Update} {
		if err := write(t.Context(), record("a")); !errors.Is(err, k8slock.ErrNotRead) {
			t.Errorf("%v", err)
		}
	}
	if _, writes := d.Requests(); writes != 0 {
		t.Errorf("%d writes", writes)
	}
}

func TestWhatIsRefused(t *testing.T) {
	d := memory.NewDecider()
	l := leads(t, d, "a", nil)
	long, odd := record("a"), record("a")
	long.LeaseDurationSeconds = 60
	odd.RenewTime = meta.NewTime(time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC))
	for want, r := range map[string]resourcelock.LeaderElectionRecord{"elector's LeaseDuration is 60s": long, "this lock is": record("b"), "record": odd} {
		if err := l.Update(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := l.Create(t.Context(), record("a")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("Create on top: %v", err)
	}
	if err := l.Update(t.Context(), record("a")); err != nil {
		t.Errorf("and then: %v", err)
	}
}

// client-go releases whatever it finds while it believes that it leads.
func TestOnlyOnesOwnLeaseIsReleased(t *testing.T) {
	d := memory.NewDecider()
	l := leads(t, d, "a", nil)
	release := resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1, RenewTime: meta.NewTime(start)}
	d.Lead("b", time.Minute)
	mustGet(t, l)
	if err := l.Update(t.Context(), release); !errors.Is(err, k8slock.ErrRefused) {
		t.Errorf("%v", err)
	}
	if e, _ := d.Stored(); e.LeaderID != "b" {
		t.Errorf("stored %+v", e)
	}
	d.Lead("", 0)
	mustGet(t, l)
	_, before := d.Requests()
	if err := l.Update(t.Context(), release); err != nil {
		t.Errorf("a released lease: %v", err)
	}
	if _, after := d.Requests(); after != before {
		t.Error("it was written again")
	}
}

// A lease is over by the clock that has gone further: a host that slept.
func TestCheckAsksTheClocks(t *testing.T) {
	base := fake.NewClock(start)
	clock := skewclock.New(base, nil)
	l := leads(t, memory.NewDecider(), "a", &k8slock.Options{Clock: clock})
	base.Advance(15*time.Second - 1)
	if err := l.Check(); err != nil {
		t.Error(err)
	}
	clock.FreezeMono()
	base.Advance(1)
	if err := l.Check(); !errors.Is(err, k8slock.ErrNotLeading) {
		t.Errorf("after the lease: %v", err)
	}
}

// One clock that jumps does not make another's lease end sooner.
func TestALeaseEndsByBothClocks(t *testing.T) {
	base := fake.NewClock(start)
	clock := skewclock.New(base, nil)
	d := memory.NewDecider()
	d.Lead("b", 20*time.Second)
	l := mustLock(t, d, "a", &k8slock.Options{Clock: clock})
	mustGet(t, l)
	clock.Step(time.Hour)
	if err := l.Update(t.Context(), record("a")); !errors.Is(err, k8slock.ErrRefused) {
		t.Errorf("after a step of the wall clock: %v", err)
	}
	base.Advance(21*time.Second - 1)
	if err := l.Update(t.Context(), record("a")); !errors.Is(err, k8slock.ErrRefused) {
		t.Errorf("just before the end: %v", err)
	}
	base.Advance(1)
	if err := l.Update(t.Context(), record("a")); err != nil {
		t.Errorf("at the end: %v", err)
	}
}

func TestEventsAndNames(t *testing.T) {
	var told []string
	l := mustLock(t, memory.NewDecider(), "a", &k8slock.Options{Name: "nightly", OnEvent: func(e string) { told = append(told, e) }})
	l.RecordEvent("became leader")
	if l.Identity() != "a" || l.Describe() != "k8slock nightly" || len(told) != 1 || told[0] != "became leader" {
		t.Errorf("%q, %q, %q", l.Identity(), l.Describe(), told)
	}
	mustLock(t, memory.NewDecider(), "a", nil).RecordEvent("nobody listens")
}

// The numbers of an election form one chain, whoever writes at the same time.
func TestConcurrentUse(t *testing.T) {
	d := memory.NewDecider()
	l := leads(t, d, "a", nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				_, _, _ = l.Get(t.Context())
				_ = l.Update(t.Context(), record("a"))
				if err := l.Check(); err != nil || l.FencingToken() == 0 {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if e, _ := d.Stored(); e.ElectionNumber < 50 || e.FencingToken != l.FencingToken() {
		t.Errorf("%+v", e)
	}
}

func TestAnEndedContext(t *testing.T) {
	l := leads(t, memory.NewDecider(), "a", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: %v", err)
	}
	if err := l.Update(ctx, record("a")); !errors.Is(err, k8slock.ErrNotRead) {
		t.Errorf("Update: %v", err)
	}
}

// Its own identity in the record makes client-go believe that it leads.
func TestATwinIsSomebodyElse(t *testing.T) {
	d := memory.NewDecider()
	leads(t, d, "a", nil)
	if r, _ := mustGet(t, mustLock(t, d, "a", nil)); r.HolderIdentity != "a (another process)" || r.LeaseDurationSeconds != 16 {
		t.Errorf("%+v", r)
	}
	promise := mustLock(t, d, "a", &k8slock.Options{Reclaim: true})
	if r, _ := mustGet(t, promise); r.HolderIdentity != "a" {
		t.Errorf("with Reclaim: %+v", r)
	}
	e, _ := d.Stored()
	e.Held = true // MinHold of core's: closed to everybody
	d.Plant(e)
	if r, _ := mustGet(t, promise); r.HolderIdentity == "a" {
		t.Errorf("held: %+v", r)
	}
	if err := promise.Update(t.Context(), record("a")); !errors.Is(err, k8slock.ErrRefused) {
		t.Errorf("held: %v", err)
	}
}

// during does something while a write is on its way.
type during struct {
	core.RaceDecider
	do func()
}

func (d *during) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	defer d.do()
	return d.RaceDecider.WriteEntry(ctx, e)
}

// A host that slept during a request: the answer is old, and so may the lease be.
func TestAnOldAnswerIsNone(t *testing.T) {
	base := fake.NewClock(start)
	clock := skewclock.New(base, nil)
	d := &during{memory.NewDecider(), func() {}}
	l := leads(t, d, "a", &k8slock.Options{Clock: clock})
	d.do = func() { clock.FreezeMono(); base.Advance(time.Minute) }
	if err := l.Update(t.Context(), record("a")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := l.Check(); !errors.Is(err, k8slock.ErrNotLeading) {
		t.Errorf("Check: %v", err)
	}
}

// Somebody else may lead as soon as a release is stored, and its answer may be lost,
// late or an error.
func TestAReleaseEndsTheReignBeforeItIsSent(t *testing.T) {
	for name, order := range map[string]func(d *memory.Decider){
		"answered": func(*memory.Decider) {},
		"failed":   func(d *memory.Decider) { d.FailNext(1, errors.New("503")) },
		"lost":     func(d *memory.Decider) { d.LoseNext(1) },
	} {
		d := memory.NewDecider()
		door := &during{d, func() {}}
		l := leads(t, door, "a", nil)
		mustGet(t, l)
		led := func(when string) {
			t.Helper()
			if err := l.Check(); !errors.Is(err, k8slock.ErrNotLeading) || l.FencingToken() != 0 {
				t.Errorf("%s, %s: %v, token %d", name, when, err, l.FencingToken())
			}
		}
		order(d)
		ctx, cancel := context.WithCancel(t.Context())
		asked := false
		door.do = func() { // the store has decided, and its answer is on its way
			led("on the way")
			asked = true
			cancel() // no second attempt
		}
		err := l.Update(ctx, resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1, RenewTime: meta.NewTime(start)})
		if !asked || name != "answered" && err == nil {
			t.Errorf("%s: asked %v, %v", name, asked, err)
		}
		led("then")
		mustGet(t, l)
		led("after a read")
	}
}

// elsewhere is a decider of entries that another library wrote.
type elsewhere struct{ core.RaceDecider }

type otherToken struct{ entry.LeaderToken }

func (otherToken) Foreign() string { return "other/library" }
func (otherToken) String() string  { return "v7" }

func (d elsewhere) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	e, err := d.RaceDecider.ReadCurrent(ctx)
	if err != nil {
		return nil, err
	}
	return &entry.RaceEntry{LeaderID: e.LeaderID, TermExpiry: e.TermExpiry, TermLength: e.TermLength,
		ElectionNumber: e.ElectionNumber, Token: otherToken{e.Token}}, nil
}

func TestAnotherLibrarysEntryIsNamed(t *testing.T) {
	d := memory.NewDecider()
	d.Lead("old-1", time.Minute)
	l := mustLock(t, elsewhere{d}, "a", nil)
	_, _, err := l.Get(t.Context())
	if !errors.Is(err, core.ErrBadEntry) {
		t.Fatalf("%v, want ErrBadEntry", err)
	}
	for _, want := range []string{"other/library", `"old-1"`, "candidate of core's", `elect break --version "v7"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	if err := l.Update(t.Context(), record("a")); !errors.Is(err, k8slock.ErrNotRead) {
		t.Errorf("Update: %v", err)
	}
}

// Only the read before a release is repeated, and only where that may help.
func TestWhichReadsAreRepeated(t *testing.T) {
	outage := errors.New("503")
	nothing := func(*testing.T, *memory.Decider, *k8slock.Lock) {}
	for name, c := range map[string]struct {
		before func(t *testing.T, d *memory.Decider, l *k8slock.Lock)
		err    error
		want   int
	}{
		"a leader's":                {nothing, outage, 3},
		"a leader's, without right": {nothing, core.ErrBroken, 1},
		"after a failed renewal": {func(t *testing.T, d *memory.Decider, l *k8slock.Lock) {
			d.FailNext(1, outage)
			if err := l.Update(t.Context(), record("a")); !errors.Is(err, outage) {
				t.Error(err)
			}
		}, outage, 1},
		"a follower's": {func(_ *testing.T, _ *memory.Decider, l *k8slock.Lock) { l.RecordEvent("stopped leading") }, outage, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := memory.NewDecider()
			l := leads(t, d, "a", nil)
			c.before(t, d, l)
			reads, _ := d.Requests()
			d.FailNext(10, c.err)
			if _, _, err := l.Get(t.Context()); !errors.Is(err, c.err) {
				t.Errorf("%s: %v", name, err)
			}
			if n, _ := d.Requests(); n-reads != c.want {
				t.Errorf("%s: %d reads, want %d", name, n-reads, c.want)
			}
		})
	}
}

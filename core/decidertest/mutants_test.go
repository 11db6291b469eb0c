package decidertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// Each mutant is a correct decider with one small mistake, of the kind that
// real ones were found to have. The case that is named for it must fail on it,
// and pass on the decider without it.

type writeFunc func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error)
type readFunc func(ctx context.Context) (*entry.RaceEntry, error)

// mutant replaces parts of a handle on a memory decider.
type mutant struct {
	*memory.Decider
	write writeFunc
	read  readFunc
}

func (m *mutant) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	if m.write == nil {
		return m.Decider.WriteEntry(ctx, e)
	}
	return m.write(ctx, e)
}

func (m *mutant) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if m.read == nil {
		return m.Decider.ReadCurrent(ctx)
	}
	return m.read(ctx)
}

// overwrite stores e whatever is there, for mutants that ignore a condition.
func overwrite(ctx context.Context, d *memory.Decider, e *entry.RaceEntry) (entry.LeaderToken, error) {
	forced := e.Clone()
	cur, _ := d.ReadCurrent(ctx)
	if cur == nil {
		return d.WriteEntry(ctx, e)
	}
	forced.Token = cur.Token
	return d.WriteEntry(ctx, &forced)
}

func isAbsentToken(t entry.LeaderToken) bool { return fmt.Sprint(t) == "absent" }

// changed makes a mutant that stores something else than it was given.
func changed(f func(e *entry.RaceEntry)) func(d *memory.Decider) *mutant {
	return func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			c := e.Clone()
			f(&c)
			return d.WriteEntry(ctx, &c)
		}}
	}
}

// misread makes a mutant that mistakes one answer of a write for another.
func misread(f func(err error) error) func(d *memory.Decider) *mutant {
	return func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if err != nil {
				err = f(err)
			}
			return token, err
		}}
	}
}

var mutants = []struct {
	mistake string
	failing string // the case that must find it
	make    func(d *memory.Decider) *mutant
}{
	{"an absent record reads as number 0", "absent-reads-as-no-elections", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, read: func(ctx context.Context) (*entry.RaceEntry, error) {
			e, err := d.ReadCurrent(ctx)
			if err == nil && e.Absent() {
				e.ElectionNumber = 0
			}
			return e, err
		}}
	}},
	{"reads are cached", "read-your-write-through-another-handle", func(d *memory.Decider) *mutant {
		var once sync.Once
		var cached *entry.RaceEntry
		return &mutant{Decider: d, read: func(ctx context.Context) (e *entry.RaceEntry, err error) {
			once.Do(func() { cached, err = d.ReadCurrent(ctx) })
			return cached, err
		}}
	}},
	{"a resignation deletes", "vacant-is-stored-and-not-absent", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if err == nil && e.Vacant() {
				d.Delete()
			}
			return token, err
		}}
	}},
	{"the winner in a lost race carries no date", "store-date-on-every-token", misread(func(err error) error {
		if cur := current(err); cur != nil {
			cur.Token = foreignToken{}
		}
		return err
	})},
	{"creation is not conditional (GCS: GenerationMatch 0)", "create-race-one-winner", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if isAbsentToken(e.Token) {
				return overwrite(ctx, d, e)
			}
			return d.WriteEntry(ctx, e)
		}}
	}},
	{"overwriting is not conditional (S3: If-Match ignored)", "overwrite-race-one-winner", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if !isAbsentToken(e.Token) {
				return overwrite(ctx, d, e)
			}
			return d.WriteEntry(ctx, e)
		}}
	}},
	{"a lost race is called unknown", "stale-token-loses", misread(func(err error) error { return fmt.Errorf("store: %v", err) })},
	{"a lost race stores all the same", "lost-race-leaves-the-record", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if isLost(err) {
				_, _ = overwrite(ctx, d, e)
			}
			return token, err
		}}
	}},
	{"the winner in a lost race has the loser's token", "the-winner-in-a-lost-race-can-be-overwritten", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if cur := current(err); cur != nil {
				cur.Token = e.Token
			}
			return token, err
		}}
	}},
	{"a write returns the token of the version it replaced", "token-changes-on-every-write", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if err == nil {
				token = e.Token
			}
			return token, err
		}}
	}},
	{"the condition is on a hash of the content without its nonce", "equal-content-still-changes-the-token", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if cur := current(err); cur != nil && len(differences(cur, e)) == 1 { // all but Nonce
				return overwrite(ctx, d, e)
			}
			return token, err
		}}
	}},
	{"a lost race is reported as stored", "concurrent-use", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if isLost(err) {
				return e.Token, nil
			}
			return token, err
		}}
	}},
	{"Held is dropped", "round-trip-every-field", changed(func(e *entry.RaceEntry) { e.Held = false })},
	{"times are kept in microseconds", "nanosecond-expiry", changed(func(e *entry.RaceEntry) { e.TermExpiry = e.TermExpiry.Truncate(time.Microsecond) })},
	{"large fields are cut off", "empty-and-largest-payloads", changed(func(e *entry.RaceEntry) { e.ConnectionParams = e.ConnectionParams[:min(len(e.ConnectionParams), 4096)] })},
	{"the caller's entry is given the new token", "the-callers-entry-is-left-alone", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			e.Token = token
			return token, err
		}}
	}},
	{"what it writes is not validated", "refuses-to-write-a-bad-entry", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if e.Validate() != nil {
				d.Plant(*e)
				return e.Token, nil
			}
			return d.WriteEntry(ctx, e)
		}}
	}},
	{"a cancelled write is lost", "cancelled-context-is-not-lost", misread(func(err error) error {
		if errors.Is(err, context.Canceled) {
			return &core.LostRaceError{Err: err}
		}
		return err
	})},
	{"the context's cause is passed on as the store's answer", "cancelled-context-is-not-lost", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if ctx.Err() != nil {
				err = fmt.Errorf("store: %w", context.Cause(ctx))
			}
			return token, err
		}}
	}},
	{"a retry inside finds its own write", "lost-answer-is-unknown-then-found-by-nonce", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if outcome(err) == "unknown" {
				return d.WriteEntry(ctx, e)
			}
			return token, err
		}}
	}},
	{"denied is called lost", "denied-is-broken", misread(func(err error) error {
		if errors.Is(err, core.ErrBroken) {
			return &core.LostRaceError{}
		}
		return err
	})},
	{"a token it does not know is no condition", "refuses-a-foreign-token", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if e.Token == nil {
				return overwrite(ctx, d, e)
			}
			return d.WriteEntry(ctx, e)
		}}
	}},
	{"a corrupt record is free", "corrupt-record-is-ErrBadEntry-with-a-usable-token", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, read: func(ctx context.Context) (*entry.RaceEntry, error) {
			e, err := d.ReadCurrent(ctx)
			if errors.Is(err, core.ErrBadEntry) {
				e.ElectionNumber, err = entry.NoElections, nil
			}
			return e, err
		}}
	}},
	{"a bad entry comes without its token", "corrupt-record-is-ErrBadEntry-with-a-usable-token", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, read: func(ctx context.Context) (*entry.RaceEntry, error) {
			e, err := d.ReadCurrent(ctx)
			if err != nil {
				e = nil
			}
			return e, err
		}}
	}},
	{"a bad entry is handed out as the winner of a race", "corrupt-record-is-ErrBadEntry-with-a-usable-token", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			var lost *core.LostRaceError
			if errors.As(err, &lost) && lost.Current == nil {
				lost.Current, _ = d.ReadCurrent(ctx)
			}
			return token, err
		}}
	}},
	{"a newer version is read as if it were this one", "newer-version-is-ErrBadEntry", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, read: func(ctx context.Context) (*entry.RaceEntry, error) {
			e, err := d.ReadCurrent(ctx)
			if err != nil && strings.Contains(err.Error(), "newer") {
				return &entry.RaceEntry{LeaderID: "future", TermLength: 1, Nonce: "n", Token: e.Token}, nil
			}
			return e, err
		}}
	}},
	{"a renewal creates the entry that was deleted", "deleted-record-is-a-lost-race", func(d *memory.Decider) *mutant {
		return &mutant{Decider: d, write: func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			token, err := d.WriteEntry(ctx, e)
			if cur := current(err); cur != nil && cur.Absent() {
				return overwrite(ctx, d, e)
			}
			return token, err
		}}
	}},
	{"all records share one key", "two-records-do-not-meet", nil},
	{"a token is good on its own handle only", "a-read-token-overwrites-through-another-handle", func(d *memory.Decider) *mutant {
		seen := map[string]bool{}
		m := &mutant{Decider: d}
		m.read = func(ctx context.Context) (*entry.RaceEntry, error) {
			e, err := d.ReadCurrent(ctx)
			seen[fmt.Sprint(e.Token)] = true
			return e, err
		}
		m.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if !seen[fmt.Sprint(e.Token)] {
				return nil, &core.LostRaceError{}
			}
			return d.WriteEntry(ctx, e)
		}
		return m
	}},
}

// harness is memory, with every handle made into a mutant.
func harness(make func(d *memory.Decider) *mutant, shared bool) Harness {
	if make == nil {
		make = func(d *memory.Decider) *mutant { return &mutant{Decider: d} }
	}
	common := memory.NewDecider()
	return Harness{New: func(TB) Record {
		store := memory.NewDecider()
		if shared {
			store = common
		}
		store.SetClock(clocks.DefaultClock())
		return Record{
			Open:     func() core.RaceDecider { return make(store.Handle()) },
			LoseNext: func(d core.RaceDecider) { d.(*mutant).LoseNext(1) },
			Plant:    func(b []byte) error { store.PlantRaw(b); return nil },
			Delete:   func() error { store.Delete(); return nil },
			Deny: func() core.RaceDecider {
				d := store.Handle()
				d.FailNext(1<<30, fmt.Errorf("403: %w", core.ErrBroken))
				return make(d)
			},
		}
	}}
}

func TestMutants(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.mistake, func(t *testing.T) {
			i := slices.IndexFunc(cases(), func(c testCase) bool { return c.name == m.failing })
			if i < 0 {
				t.Fatalf("there is no case %q", m.failing)
			}
			c := cases()[i]
			if got := watch(t, c, harness(nil, false)); len(got) > 0 {
				t.Fatalf("%s fails on the decider without the mistake: %v", c.name, got)
			}
			got := watch(t, c, harness(m.make, m.make == nil))
			if len(got) == 0 {
				t.Errorf("%s passes on it", c.name)
			}
			t.Logf("%s: %.300s", c.name, strings.Join(got, "; "))
		})
	}
}

func TestEveryCaseHasAMutant(t *testing.T) {
	killed := map[string]bool{}
	for _, m := range mutants {
		killed[m.failing] = true
	}
	for _, c := range cases() {
		if !killed[c.name] {
			t.Errorf("no mutant shows that %s can fail", c.name)
		}
	}
}

// watch runs a case in a bubble, where pauses cost nothing, and returns what it
// complained about.
func watch(t *testing.T, c testCase, h Harness) (complaints []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t}
		done := make(chan struct{})
		go func() { // Fatalf ends a goroutine
			defer close(done)
			c.run(&suite{TB: w, h: h})
		}()
		<-done
		complaints = w.complaints
	})
	return complaints
}

// watched is a TB whose failing fails nobody else.
type watched struct {
	t          *testing.T
	complaints []string
}

func (w *watched) Helper()                          {}
func (w *watched) Name() string                     { return w.t.Name() }
func (w *watched) Context() context.Context         { return w.t.Context() }
func (w *watched) Cleanup(f func())                 { w.t.Cleanup(f) }
func (w *watched) Logf(format string, args ...any)  { w.t.Logf(format, args...) }
func (w *watched) Skipf(format string, args ...any) { w.Fatalf(format, args...) }
func (w *watched) Errorf(format string, args ...any) {
	w.complaints = append(w.complaints, fmt.Sprintf(format, args...))
}
func (w *watched) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	runtime.Goexit()
}

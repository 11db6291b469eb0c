package memory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimeo/go-clocks/fake"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// next returns a valid entry on top of what d holds.
func next(t *testing.T, d core.RaceDecider, id string) *entry.RaceEntry {
	t.Helper()
	cur, err := d.ReadCurrent(t.Context())
	if err != nil && !errors.Is(err, core.ErrBadEntry) {
		t.Fatal(err)
	}
	return &entry.RaceEntry{
		LeaderID: id, TermLength: time.Second, TermExpiry: time.Unix(100, 1).UTC(),
		ElectionNumber: cur.ElectionNumber + 1, FencingToken: 1, Nonce: "nonce-" + id, Token: cur.Token,
	}
}

func mustWrite(t *testing.T, d core.RaceDecider, e *entry.RaceEntry) entry.LeaderToken {
	t.Helper()
	tok, err := d.WriteEntry(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func isLost(err error) bool {
	var lost core.FailedAcquisitionErr
	return errors.As(err, &lost)
}

func TestLeadContinuesTheNumbers(t *testing.T) {
	d := memory.NewDecider()
	first := d.Lead("a", time.Minute)
	second := d.Lead("b", 0)
	if first.ElectionNumber != 0 || first.FencingToken != 1 || second.ElectionNumber != 1 || second.FencingToken != 2 {
		t.Errorf("numbers: %+v, then %+v", first, second)
	}
	if err := second.Validate(); err != nil || second.TermLength != 15*time.Second {
		t.Errorf("%v, term %v", err, second.TermLength)
	}
	first.LeaderID, first.Nonce = "late", "late" // its token is of the version that b replaced
	if _, err := d.WriteEntry(t.Context(), &first); !isLost(err) {
		t.Errorf("a write on a replaced version: %v, want lost", err)
	}
	got, ok := d.Stored()
	if !ok || got.LeaderID != "b" {
		t.Errorf("stored %+v, %v", got, ok)
	}
}

func TestPlantedRubbishCanBeLookedAtAndOverwritten(t *testing.T) {
	d := memory.NewDecider()
	d.PlantRaw([]byte("rubbish"))
	if string(d.Raw()) != "rubbish" {
		t.Errorf("Raw() = %q", d.Raw())
	}
	if _, ok := d.Stored(); ok {
		t.Error("rubbish is an entry")
	}
	if _, err := d.ReadCurrent(t.Context()); !errors.Is(err, core.ErrBadEntry) {
		t.Errorf("read: %v", err)
	}
	mustWrite(t, d, next(t, d, "a"))
	if d.Raw() != nil {
		t.Errorf("Raw() = %q after a write", d.Raw())
	}
	d.Plant(entry.RaceEntry{LeaderID: "no term"})
	if _, err := d.ReadCurrent(t.Context()); !errors.Is(err, core.ErrBadEntry) {
		t.Errorf("read of a planted entry without a term: %v", err)
	}
	good := next(t, memory.NewDecider(), "g")
	b, err := entry.Encode(good)
	if err != nil {
		t.Fatal(err)
	}
	d.PlantRaw(b)
	if e, err := d.ReadCurrent(t.Context()); err != nil || e.LeaderID != "g" {
		t.Errorf("read of a planted good entry: %+v, %v", e, err)
	}
}

func TestFailNextAppliesNothing(t *testing.T) {
	d := memory.NewDecider()
	e := next(t, d, "a")
	mine := errors.New("mine")
	d.FailNext(2, mine)
	if _, err := d.ReadCurrent(t.Context()); !errors.Is(err, mine) {
		t.Errorf("read: %v", err)
	}
	if _, err := d.WriteEntry(t.Context(), e); !errors.Is(err, mine) || isLost(err) {
		t.Errorf("write: %v", err)
	}
	if _, ok := d.Stored(); ok {
		t.Error("a failed write was stored")
	}
	d.FailNext(1, nil)
	if _, err := d.Handle().WriteEntry(t.Context(), e); err != nil {
		t.Errorf("another handle's write: %v", err)
	}
	if _, err := d.ReadCurrent(t.Context()); err == nil || errors.Is(err, core.ErrBroken) {
		t.Errorf("read: %v", err)
	}
	if reads, writes := d.Requests(); reads != 3 || writes != 2 {
		t.Errorf("Requests() = %d, %d", reads, writes)
	}
}

func TestOmitCurrent(t *testing.T) {
	d := memory.NewDecider()
	stale := next(t, d, "stale")
	d.Lead("winner", time.Minute)
	for _, omit := range []bool{false, true} {
		d.OmitCurrent(omit)
		_, err := d.WriteEntry(t.Context(), stale)
		var lost *core.LostRaceError
		if !errors.As(err, &lost) {
			t.Fatalf("omit %v: %v", omit, err)
		}
		if got := lost.Current == nil; got != omit {
			t.Errorf("omit %v: Current = %+v", omit, lost.Current)
		}
	}
}

func TestLimitIsUnknownAndByTheStoresClock(t *testing.T) {
	clock := fake.NewClock(time.Unix(1_000, 500))
	d := memory.NewDecider()
	d.SetClock(clock)
	l := d.Limited(time.Second)
	if l.MinWriteInterval() != time.Second {
		t.Errorf("MinWriteInterval() = %v", l.MinWriteInterval())
	}
	mustWrite(t, l, next(t, l, "a"))
	clock.Advance(time.Second - 1)
	e := next(t, l, "b")
	if _, err := l.WriteEntry(t.Context(), e); err == nil || isLost(err) || errors.Is(err, core.ErrBroken) {
		t.Errorf("a write after 1 s - 1 ns: %v, want unknown", err)
	}
	clock.Advance(1)
	mustWrite(t, l, e)
}

func TestDatesAreWholeSecondsOfTheStoresClock(t *testing.T) {
	d := memory.NewDecider()
	if date := mustWrite(t, d, next(t, d, "a")).(core.DatedToken).StoreDate(); !date.IsZero() {
		t.Errorf("date %v without a clock", date)
	}
	clock := fake.NewClock(time.Unix(1_000, 999_999_999))
	d.SetClock(clock)
	tok := mustWrite(t, d, next(t, d, "b")).(core.DatedToken)
	if !tok.StoreDate().Equal(time.Unix(1_000, 0)) || !tok.CommitTS().Equal(clock.Now()) {
		t.Errorf("date %v, commit %v", tok.StoreDate(), tok.CommitTS())
	}
	clock.Advance(time.Minute)
	cur, err := d.ReadCurrent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tok = cur.Token.(core.DatedToken)
	if !tok.StoreDate().Equal(time.Unix(1_060, 0)) || !tok.CommitTS().Equal(time.Unix(1_000, 999_999_999)) {
		t.Errorf("date %v, commit %v a minute later", tok.StoreDate(), tok.CommitTS())
	}
}

func TestBadInputIsAnError(t *testing.T) {
	d := memory.NewDecider()
	other := next(t, memory.NewDecider(), "a")
	for name, e := range map[string]*entry.RaceEntry{
		"nil entry": nil, "no token": {LeaderID: "a", TermLength: 1, Nonce: "n", TermExpiry: time.Unix(1, 0)},
		"another record's token": other, "invalid": {Token: next(t, d, "a").Token},
	} {
		if _, err := d.WriteEntry(t.Context(), e); err == nil || isLost(err) || errors.Is(err, core.ErrBroken) {
			t.Errorf("%s: %v, want a plain error", name, err)
		}
	}
	if _, ok := d.Stored(); ok {
		t.Error("something was stored")
	}
}

// The engine's own cost is measured against this decider, so it has to stay
// out of the picture.
func TestAllocations(t *testing.T) {
	d := memory.NewDecider()
	ctx := context.Background()
	e := next(t, d, "a")
	if n := testing.AllocsPerRun(100, func() {
		tok, err := d.WriteEntry(ctx, e)
		if err != nil {
			t.Fatal(err)
		}
		e.Token = tok
	}); n > 2 {
		t.Errorf("WriteEntry allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = d.ReadCurrent(ctx) }); n > 2 {
		t.Errorf("ReadCurrent allocates %v times", n)
	}
}

package core

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

func TestNewRecordKnowsNothing(t *testing.T) {
	r := newRecord()
	if r.sight != sightNone || r.ever || r.nextNumber() != 0 || r.nextToken() != 1 || !r.sentBy(at(time.Hour)).IsZero() {
		t.Errorf("%+v", r)
	}
	if r.current == nil || !r.current.Absent() {
		t.Error("current must be readable before the first answer")
	}
}

// TestObservationRestartsPerVersion: what counts is since when this version
// stands, not since when this leader leads.
func TestObservationRestartsPerVersion(t *testing.T) {
	v := otherLeads()
	for _, tc := range []struct {
		name     string
		next     func(r *record, when instant)
		restarts bool
	}{
		{"the same version", func(r *record, w instant) { show(r, v, w, w) }, false},
		{"the same version with another token", func(r *record, w instant) {
			show(r, with(v, func(e *entry.RaceEntry) { e.Token = datedTok{noon} }), w, w)
		}, false},
		{"a renewal", func(r *record, w instant) {
			show(r, with(v, func(e *entry.RaceEntry) { e.ElectionNumber++; e.Nonce = "n8" }), w, w)
		}, true},
		{"another attempt with the same number", func(r *record, w instant) {
			show(r, with(v, func(e *entry.RaceEntry) { e.Nonce = "n7b" }), w, w)
		}, true},
		{"an older version", func(r *record, w instant) {
			show(r, with(v, func(e *entry.RaceEntry) { e.ElectionNumber--; e.Nonce = "n6" }), w, w)
		}, true},
		{"nothing", func(r *record, w instant) { show(r, nothing(undatedTok{}), w, w) }, true},
		{"not an entry", func(r *record, w instant) { r.sawBad(&entry.RaceEntry{}, w, w) }, true},
		{"nothing in between", func(r *record, w instant) {
			show(r, nothing(undatedTok{}), at(1), at(1))
			show(r, v, w, w)
		}, true},
		{"not an entry in between", func(r *record, w instant) {
			r.sawBad(&entry.RaceEntry{}, at(1), at(1))
			show(r, v, w, w)
		}, true},
		{"another version in between", func(r *record, w instant) {
			show(r, with(v, func(e *entry.RaceEntry) { e.Nonce = "n8" }), at(1), at(1))
			show(r, v, w, w)
		}, true},
	} {
		r := seenAt(0, v)
		tc.next(r, at(time.Minute))
		want := at(0)
		if tc.restarts {
			want = at(time.Minute)
		}
		if r.seen != want.sure {
			t.Errorf("%s: counts from %v, want %v", tc.name, r.seen, want.sure)
		}
	}
}

// TestDatesBelongToAVersion: the store-time proof needs the Date of the answer
// that brought the entry; the last Date of all is kept for SentBy.
func TestDatesBelongToAVersion(t *testing.T) {
	dated := func(d time.Duration) entry.LeaderToken { return datedTok{noon.Add(d)} }
	r := seenAt(0, with(otherLeads(), func(e *entry.RaceEntry) { e.Token = dated(time.Second) }))
	if !r.date.Equal(noon.Add(time.Second)) || r.dateAt != 0 {
		t.Fatalf("date %v at %v", r.date, r.dateAt)
	}
	r.saw(&entry.RaceEntry{LeaderID: "other", ElectionNumber: 7, Nonce: "n7", TermLength: 1, Token: dated(3 * time.Second)}, at(1), at(2))
	if !r.date.Equal(noon.Add(3*time.Second)) || r.dateAt != 2 || r.storeSent != 1 {
		t.Errorf("a newer answer: date %v at %v, sent %v", r.date, r.dateAt, r.storeSent)
	}
	for name, next := range map[string]func(){
		"no date":      func() { show(r, otherLeads(), at(5), at(5)) },
		"a nil token":  func() { show(r, with(otherLeads(), func(e *entry.RaceEntry) { e.Token = nil }), at(5), at(5)) },
		"nothing":      func() { show(r, nothing(dated(4*time.Second)), at(6), at(6)) },
		"not an entry": func() { r.sawBad(&entry.RaceEntry{Token: dated(4 * time.Second)}, at(6), at(6)) },
	} {
		next()
		if !r.date.IsZero() {
			t.Errorf("%s: date %v is of another version", name, r.date)
		}
		if r.storeTime.IsZero() {
			t.Errorf("%s: the store's time is forgotten", name)
		}
	}
	if !r.storeTime.Equal(noon.Add(4*time.Second)) || r.storeSent != 6 {
		t.Errorf("the last Date is %v, asked for at %v", r.storeTime, r.storeSent)
	}
	r.told(time.Time{}, at(9))
	if !r.storeTime.Equal(noon.Add(4*time.Second)) || r.storeSent != 6 {
		t.Error("an answer without a Date changed it")
	}
}

// TestSentBy: Date + 1 s + 21/20 of what has passed since that request was
// sent, whichever of the two clocks says it.
func TestSentBy(t *testing.T) {
	r := newRecord()
	keeper := newTimekeeper(&handClock{wall: noon})
	clock := keeper.clock.(*handClock)
	if got := r.sentBy(keeper.sample()); !got.IsZero() {
		t.Fatalf("%v, but the store never told its time", got)
	}
	clock.move(time.Minute, time.Minute)
	sent := keeper.sample()
	date := noon.Add(30 * time.Second)
	r.told(date, sent)
	if got := r.sentBy(sent); !got.Equal(date.Add(time.Second)) {
		t.Errorf("at once: Date + %v, want 1 s", got.Sub(date))
	}
	for _, step := range []struct {
		name       string
		mono, wall time.Duration
		want       time.Duration // since Date
	}{
		{"both clocks run", 20 * time.Second, 20 * time.Second, 22 * time.Second},
		{"the monotonic clock freezes", 0, 40 * time.Second, 64 * time.Second},
		{"the wall clock freezes", 20 * time.Second, 0, 85 * time.Second},
		{"the wall clock steps back", 0, -time.Hour, 85 * time.Second},
		{"and goes on", 20 * time.Second, 20 * time.Second, 106 * time.Second},
		{"half of it between samples", 10 * time.Second, 20 * time.Second, 127 * time.Second},
	} {
		clock.move(step.mono, step.wall)
		if got := r.sentBy(keeper.sample()).Sub(date); got != step.want {
			t.Errorf("%s: Date + %v, want %v", step.name, got, step.want)
		}
	}
}

func TestNumbersAndTokensGoOn(t *testing.T) {
	unix := noon.Unix()
	v := func(n entry.ElectionNumber, token int64) entry.RaceEntry {
		return with(otherLeads(), func(e *entry.RaceEntry) { e.ElectionNumber, e.FencingToken = n, token })
	}
	dated := datedTok{noon}
	for _, tc := range []struct {
		name   string
		r      func(r *record)
		number entry.ElectionNumber
		token  int64
	}{
		{"nothing stored, no time told", func(r *record) { show(r, nothing(undatedTok{}), at(0), at(0)) }, 0, 1},
		{"nothing stored, the store's time", func(r *record) { show(r, nothing(dated), at(0), at(0)) }, 0, unix},
		{"nothing stored, a store before 1970", func(r *record) { show(r, nothing(datedTok{time.Unix(-5, 0)}), at(0), at(0)) }, 0, 1},
		{"an entry", func(r *record) { show(r, v(7, 3), at(0), at(0)) }, 8, 4},
		{"an entry, whatever the time", func(r *record) { show(r, with(v(7, 3), func(e *entry.RaceEntry) { e.Token = dated }), at(0), at(0)) }, 8, 4},
		{"a first entry", func(r *record) { show(r, v(0, 0), at(0), at(0)) }, 1, 1},
		{"an entry vanished", func(r *record) {
			show(r, v(7, 3), at(0), at(0))
			show(r, nothing(undatedTok{}), at(0), at(0))
		}, 8, 4},
		{"an entry vanished, the store's time", func(r *record) {
			show(r, v(7, 3), at(0), at(0))
			show(r, nothing(dated), at(0), at(0))
		}, 8, unix},
		{"an entry vanished, with a token beyond the store's time", func(r *record) {
			show(r, v(7, unix+9), at(0), at(0))
			show(r, nothing(dated), at(0), at(0))
		}, 8, unix + 10},
		{"deleted, and begun again by a stranger", func(r *record) {
			show(r, v(70, 30), at(0), at(0))
			show(r, v(0, 1), at(0), at(0))
		}, 1, 31},
		{"deleted, begun again, deleted", func(r *record) {
			show(r, v(70, 30), at(0), at(0))
			show(r, v(0, 1), at(0), at(0))
			show(r, nothing(undatedTok{}), at(0), at(0))
		}, 71, 31},
		{"not an entry", func(r *record) {
			show(r, v(7, 3), at(0), at(0))
			r.sawBad(&entry.RaceEntry{Token: dated}, at(0), at(0))
		}, 8, unix},
		{"the largest that an entry may have", func(r *record) { show(r, v(1<<62, 1<<62), at(0), at(0)) }, 1<<62 + 1, 1<<62 + 1},
	} {
		r := newRecord()
		tc.r(&r)
		if n, tok := r.nextNumber(), r.nextToken(); n != tc.number || tok != tc.token {
			t.Errorf("%s: number %d, token %d; want %d and %d", tc.name, n, tok, tc.number, tc.token)
		}
	}
}

func TestLongestTermIsRemembered(t *testing.T) {
	r := newRecord()
	for i, l := range []time.Duration{time.Second, time.Minute, 2 * time.Second} {
		show(&r, with(otherLeads(), func(e *entry.RaceEntry) { e.TermLength, e.Nonce = l, fmt.Sprint(i) }), at(0), at(0))
	}
	show(&r, nothing(undatedTok{}), at(1), at(1))
	if !r.ever || r.longest != time.Minute {
		t.Errorf("ever %v, longest %v; want the minute", r.ever, r.longest)
	}
}

func TestEndedKeepsTheNewest(t *testing.T) {
	var r record
	r.end()
	r.end("", "a", "a")
	if !slices.Equal(r.ended, []string{"a"}) {
		t.Errorf("%q", r.ended)
	}
	var want []string
	for i := range 3 * maxEnded {
		n := fmt.Sprint(i)
		want = append(want, n)
		r.end(n)
	}
	want = want[len(want)-maxEnded:]
	if !slices.Equal(r.ended, want) {
		t.Errorf("%q, want the last %d", r.ended, maxEnded)
	}
	r.end(want[0], "x", "y")
	if !slices.Equal(r.ended, append(want[2:], "x", "y")) {
		t.Errorf("%q", r.ended)
	}
	r.end(append(slices.Clone(want), "p", "q")...)
	if len(r.ended) != maxEnded || r.ended[maxEnded-1] != "q" {
		t.Errorf("many at once: %q", r.ended)
	}
}

// TestMemoryGivesCopies: what a campaign decides on does not change under it.
func TestMemoryGivesCopies(t *testing.T) {
	var m Memory
	if err := m.attach(&handClock{wall: noon}); err != nil {
		t.Fatal(err)
	}
	for i := range maxEnded {
		m.end(fmt.Sprint(i))
	}
	r := m.known()
	m.end("new")
	if !slices.Contains(r.ended, "0") || slices.Contains(r.ended, "new") || len(r.ended) != maxEnded {
		t.Errorf("a copy changed: %q", r.ended)
	}
	m.hold(hold{3, time.Minute})
	if r.hold != (hold{}) || m.known().hold.token != 3 {
		t.Error("hold")
	}
}

func TestMemoryTellsWhatVanished(t *testing.T) {
	var m Memory
	if err := m.attach(&handClock{wall: noon}); err != nil {
		t.Fatal(err)
	}
	e, none := otherLeads(), nothing(nil)
	for i, step := range []struct {
		look func() bool
		want bool
	}{
		{func() bool { return m.saw(&none, at(0), at(0)) }, false},
		{func() bool { return m.saw(&none, at(0), at(0)) }, false},
		{func() bool { return m.saw(&e, at(0), at(0)) }, false},
		{func() bool { return m.saw(&none, at(0), at(0)) }, true},
		{func() bool { return m.saw(&none, at(0), at(0)) }, false},
		{func() bool { m.sawBad(&entry.RaceEntry{}, at(0), at(0)); return false }, false},
		{func() bool { return m.saw(&none, at(0), at(0)) }, true},
	} {
		if got := step.look(); got != step.want {
			t.Errorf("step %d: vanished is %v", i, got)
		}
	}
}

// TestSameVersion: two writes are told apart by any of the three.
func TestSameVersion(t *testing.T) {
	a := otherLeads()
	for name, change := range map[string]func(*entry.RaceEntry){
		"number": func(e *entry.RaceEntry) { e.ElectionNumber++ },
		"nonce":  func(e *entry.RaceEntry) { e.Nonce = "" },
		"leader": func(e *entry.RaceEntry) { e.LeaderID = "" },
	} {
		b := with(a, change)
		if sameVersion(&a, &b) || sameVersion(&b, &a) {
			t.Errorf("%s: the same", name)
		}
	}
	b := with(a, func(e *entry.RaceEntry) { e.Token = datedTok{noon}; e.HostPort = []string{"x"} })
	if !sameVersion(&a, &b) {
		t.Error("tokens and contents do not name a version")
	}
}

// TestOffset: only what is proved counts. A Date is cut off to the second, and
// was made some time between the request and the answer.
func TestOffset(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name      string
		sent, got time.Duration // wall clock, from the Date on
		want      time.Duration
	}{
		{"they agree", 0, 0, 0},
		{"within the second", 0, 999 * ms, 0},
		{"at its end", time.Second, 2 * time.Second, 0},
		{"a nanosecond ahead", time.Second + 1, 2 * time.Second, 1},
		{"a day ahead", 24 * time.Hour, 24 * time.Hour, 24*time.Hour - time.Second},
		{"the answer took long", -5 * time.Second, 5 * time.Second, 0},
		{"the answer came just as the Date began", -time.Second, 0, 0},
		{"a nanosecond behind", -time.Second, -1, -1},
		{"a day behind", -24 * time.Hour, -24*time.Hour + ms, -24*time.Hour + ms},
	} {
		sent, got := instant{wall: noon.Add(tc.sent)}, instant{wall: noon.Add(tc.got)}
		if d := offset(noon, sent, got); d != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, d, tc.want)
		}
	}
	ages := instant{wall: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	if d := offset(noon, ages, ages); d != math.MaxInt64 {
		t.Errorf("ages ahead: %v", d)
	}
}

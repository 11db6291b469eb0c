package gcsdecider

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

var peerTime = time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)

func samplePeer() peerEntry {
	return peerEntry{number: 41, leader: "old-1", hosts: []string{"10.0.0.1:80", "[::1]:80"}, expiry: peerTime, params: []byte("{}")}
}

func peerBody(t testing.TB, e peerEntry) []byte {
	t.Helper()
	body, err := newPeerForm(t).write(e)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func vimeoBody(t testing.TB, e *entry.RaceEntry) []byte {
	t.Helper()
	body, err := encodeVimeo(e)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// fullEntry has something in every field.
func fullEntry() *entry.RaceEntry {
	e := sampleEntry(nil)
	e.SentBy, e.ConnectionParams, e.Checkpoint, e.Held = e.TermExpiry.Add(-time.Hour), []byte{0, 1}, []byte("{"), true
	return e
}

// TestVimeoEntryIsRead: what that library wrote is an entry with a leader and an
// end, and claims nothing else.
func TestVimeoEntryIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*peerEntry)
		commit time.Time
		left   time.Duration
	}{
		"in its term":                 {func(*peerEntry) {}, peerTime.Add(-9 * time.Second), 9 * time.Second},
		"the first one":               {func(e *peerEntry) { e.number = 0 }, peerTime.Add(-time.Second), time.Second},
		"nothing but what it must":    {func(e *peerEntry) { e.number, e.hosts, e.params = 0, nil, nil }, peerTime.Add(-time.Second), time.Second},
		"over when it came":           {func(*peerEntry) {}, peerTime.Add(time.Second), 0},
		"the time zero":               {func(e *peerEntry) { e.expiry = time.Unix(0, 0) }, peerTime, 0},
		"decades away":                {func(e *peerEntry) { e.expiry = lastInstant }, peerTime, entry.MaxTermLength},
		"taken in at an unknown time": {func(*peerEntry) {}, time.Time{}, entry.MaxTermLength},
	} {
		peer := samplePeer()
		c.change(&peer)
		token := &Token{generation: 5, commit: c.commit}
		e, err := decode(peerBody(t, peer), token)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := &entry.RaceEntry{LeaderID: peer.leader, HostPort: peer.hosts, TermExpiry: peer.expiry.UTC(), TermLength: c.left,
			ElectionNumber: entry.ElectionNumber(peer.number), ConnectionParams: peer.params, Token: token}
		if !reflect.DeepEqual(e, want) || e.Foreign() != "vimeo/leaderelection" || e.ValidateForeign() != nil {
			t.Errorf("%s: %+v, want %+v; foreign %q", name, e, want, e.Foreign())
		}
		if e.Validate() == nil {
			t.Errorf("%s: it could be written", name)
		}
	}
}

// TestVimeoFormIsOursAndTheirs: what we write is read by protobuf's own code as
// that library reads it, and by us as if it were JSON.
func TestVimeoFormIsOursAndTheirs(t *testing.T) {
	form := newPeerForm(t)
	for name, change := range map[string]func(*entry.RaceEntry){
		"everything":   func(*entry.RaceEntry) {},
		"number zero":  func(e *entry.RaceEntry) { e.ElectionNumber = 0 },
		"vacant":       func(e *entry.RaceEntry) { e.LeaderID, e.Held = "", false },
		"vacant first": func(e *entry.RaceEntry) { e.LeaderID, e.Held, e.ElectionNumber, e.HostPort = "", false, 0, nil },
		"no hosts":     func(e *entry.RaceEntry) { e.HostPort, e.ConnectionParams = nil, nil },
		"last instant": func(e *entry.RaceEntry) { e.TermExpiry = lastInstant },
		"odd term":     func(e *entry.RaceEntry) { e.TermLength = 15*time.Second + 1 },
	} {
		e := fullEntry()
		change(e)
		body := vimeoBody(t, e)
		theirs, err := form.read(body)
		if err != nil {
			t.Errorf("%s: the library cannot read it: %v", name, err)
			continue
		}
		if theirs.number != uint64(e.ElectionNumber) || theirs.leader != e.LeaderID ||
			strings.Join(theirs.hosts, " ") != strings.Join(e.HostPort, " ") || !bytes.Equal(theirs.params, e.ConnectionParams) {
			t.Errorf("%s: the library reads %+v, want %+v", name, theirs, e)
		}
		switch end := e.TermExpiry.Add(e.TermLength / 2); {
		case e.Vacant() && !theirs.expiry.Equal(time.Unix(0, 0)):
			t.Errorf("%s: nobody leads until %v", name, theirs.expiry)
		case !e.Vacant() && !theirs.expiry.Equal(end) && !theirs.expiry.Equal(lastInstant):
			t.Errorf("%s: their expiry is %v, want %v", name, theirs.expiry, end)
		}
		token := &Token{generation: 5}
		ours, err := decode(body, token)
		e.Token = token
		if err != nil || !reflect.DeepEqual(ours, e) || ours.Foreign() != "" {
			t.Errorf("%s: %+v, %v; want %+v", name, ours, err, e)
		}
	}
}

// TestVimeoBadContent: what is not exactly of that form is never free.
func TestVimeoBadContent(t *testing.T) {
	good, ours := peerBody(t, samplePeer()), vimeoBody(t, fullEntry())
	noExpiry := []byte{0x08, 1, 0x12, 1, 'a'}
	expiry := func(b ...byte) []byte { return append(append(bytes.Clone(noExpiry), 0x22, byte(len(b))), b...) }
	for name, body := range map[string][]byte{
		"cut off":               good[:len(good)-1],
		"the first byte":        good[:1],
		"something after it":    append(bytes.Clone(good), 0xff),
		"twice":                 append(bytes.Clone(good), good...),
		"no expiry":             noExpiry,
		"no leader":             {0x08, 1, 0x22, 2, 0x08, 1},
		"another type":          {0x0a, 1, 'a'},
		"leader is a number":    {0x10, 1, 0x22, 2, 0x08, 1},
		"expiry is text":        expiry('x', 'y'),
		"negative expiry":       expiry(0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
		"nanoseconds":           expiry(0x08, 1, 0x10, 0x80, 0x94, 0xeb, 0xdc, 3),
		"a group":               append(bytes.Clone(good), 0x33, 0x34),
		"not UTF-8":             {0x08, 1, 0x12, 1, 0xff, 0x22, 2, 0x08, 1},
		"number out of range":   {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x12, 1, 'a', 0x22, 2, 0x08, 1},
		"another leader inside": bytes.Replace(ours, []byte("\x12\x08worker-1"), []byte("\x12\x08worker-2"), 1),
		"another number inside": bytes.Replace(ours, []byte("\x08\x07"), []byte("\x08\x06"), 1),
		"ours is damaged":       bytes.Replace(ours, []byte(`"nonce"`), []byte(`"ecnon"`), 1),
	} {
		token := &Token{generation: 5, commit: peerTime}
		if e, err := decode(body, token); !errors.Is(err, entry.ErrBad) || errors.Is(err, entry.ErrNewer) || token.Foreign() != "" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	newer := bytes.Replace(ours, []byte(`"cloudelect": 1`), []byte(`"cloudelect": 2`), 1)
	if _, err := decode(newer, &Token{}); !errors.Is(err, entry.ErrNewer) {
		t.Errorf("a newer version of ours: %v", err)
	}
}

// FuzzVimeo holds our parser against protobuf's own: whatever ours takes, theirs
// reads as the same.
func FuzzVimeo(f *testing.F) {
	form := newPeerForm(f)
	f.Add(peerBody(f, samplePeer()))
	f.Add(vimeoBody(f, fullEntry()))
	f.Add(sampleBody(f))
	f.Add([]byte{0x22, 0, 0x12, 1, 'a', 0x30, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := decode(body, &Token{generation: 5, commit: peerTime})
		if err != nil {
			if !errors.Is(err, entry.ErrBad) {
				t.Fatalf("%v", err)
			}
			return
		}
		if !isVimeo(body) {
			return
		}
		theirs, err := form.read(body)
		if err != nil {
			t.Fatalf("theirs: %v", err)
		}
		if theirs.leader != e.LeaderID || theirs.number != uint64(e.ElectionNumber) {
			t.Fatalf("ours %+v, theirs %+v", e, theirs)
		}
		if e.Foreign() != "" {
			if err := e.ValidateForeign(); err != nil || !theirs.expiry.Equal(e.TermExpiry) || len(theirs.hosts) != len(e.HostPort) || !bytes.Equal(theirs.params, e.ConnectionParams) {
				t.Fatalf("ours %+v, theirs %+v, %v", e, theirs, err)
			}
		} else if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestVimeoEntryInABucket: an entry of that library in the store is respected,
// followed when its term is over, and followed back.
func TestVimeoEntryInABucket(t *testing.T) {
	ctx := context.Background()
	server := newEmulator(t)
	form := newPeerForm(t)
	d := NewDecider(emulatorClient(t, server.Server, nil), testBucket, testObject, &Options{MinWriteInterval: -1, VimeoForm: true})
	c := core.Config{LeaderID: "old-1", Decider: d, Reclaim: true} // of the same name, as the new version of a program is
	plant := func(e peerEntry) {
		t.Helper()
		if err := server.Plant(testBucket, testObject, peerBody(t, e)); err != nil {
			t.Fatal(err)
		}
	}

	leading := samplePeer()
	leading.expiry = time.Now().Add(time.Hour)
	plant(leading)
	var held *core.HeldError
	if _, err := c.TryAcquire(ctx); !errors.As(err, &held) || held.Current.LeaderID != "old-1" || !strings.Contains(err.Error(), "vimeo/leaderelection") {
		t.Fatalf("a leading entry: %v", err)
	}
	if held.RetryAfter < 59*time.Minute || held.RetryAfter > 61*time.Minute {
		t.Errorf("retry after %v", held.RetryAfter)
	}
	never := c
	never.NoClockProof = true
	over := leading
	over.expiry = time.Now().Add(-time.Hour)
	plant(over)
	if _, err := never.TryAcquire(ctx); !errors.As(err, &held) || held.RetryAfter > 20*time.Second {
		t.Fatalf("an entry that is over, without clocks: %v", err)
	}

	begin := time.Now()
	l, err := c.TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if l.FencingToken() < begin.Unix() || l.Entry().ElectionNumber != 42 {
		t.Errorf("token %d, number %d", l.FencingToken(), l.Entry().ElectionNumber)
	}
	body, _, err := server.Contents(testBucket, testObject)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := form.read(body)
	if err != nil || theirs.number != 42 || theirs.leader != "old-1" || !theirs.expiry.After(begin.Add(22*time.Second)) {
		t.Errorf("the library reads %+v, %v", theirs, err)
	}
	if err := l.Renew(ctx); err != nil {
		t.Error(err)
	}
	if err := l.ResignWith(ctx, []byte("slot 7")); err != nil {
		t.Error(err)
	}
	body, _, _ = server.Contents(testBucket, testObject)
	if theirs, err = form.read(body); err != nil || theirs.leader != "" || !theirs.expiry.Equal(time.Unix(0, 0)) || theirs.number != 44 {
		t.Errorf("the library reads a resignation as %+v, %v", theirs, err)
	}

	// The migration is over: ours, without VimeoForm, goes on from there in JSON.
	d.opts.VimeoForm = false
	again, err := c.TryAcquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Resign(ctx)
	if string(again.Checkpoint()) != "slot 7" || again.FencingToken() != l.FencingToken()+1 || again.Entry().ElectionNumber != 45 {
		t.Errorf("%+v", again.Entry())
	}
	if body, _, _ = server.Contents(testBucket, testObject); body[0] != '{' {
		t.Errorf("%q", body)
	}
}

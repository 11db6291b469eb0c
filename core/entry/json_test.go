package entry_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/entry"
)

// What was once written to somebody's store is read for ever, so the golden
// files are compared byte for byte and never regenerated: a change to them is
// a new format version.
func TestGoldenFiles(t *testing.T) {
	for name, e := range map[string]*entry.RaceEntry{"v1-full.json": full(), "v1-least.json": least()} {
		golden, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := entry.Encode(e)
		if err != nil || string(got) != string(golden) {
			t.Errorf("Encode, %v:\n%s\nwant %s:\n%s", err, got, name, golden)
		}
		back, err := entry.Decode(golden)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("Decode(%s) = %+v, %v; want %+v", name, back, err, e)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	zone := time.FixedZone("elsewhere", 5*3600+1800)
	for name, change := range map[string]func(e *entry.RaceEntry){
		"times elsewhere":   func(e *entry.RaceEntry) { e.TermExpiry, e.SentBy = e.TermExpiry.In(zone), e.SentBy.In(zone) },
		"first and last":    func(e *entry.RaceEntry) { e.SentBy = time.Unix(0, 0); e.TermExpiry = lastInstant },
		"longest term":      func(e *entry.RaceEntry) { e.TermLength = entry.MaxTermLength },
		"odd term":          func(e *entry.RaceEntry) { e.TermLength = entry.MaxTermLength - 1 },
		"largest numbers":   func(e *entry.RaceEntry) { e.ElectionNumber, e.FencingToken = 1<<62, 1<<62 },
		"beyond a float":    func(e *entry.RaceEntry) { e.FencingToken = 1<<53 + 1 },
		"full checkpoint":   func(e *entry.RaceEntry) { e.Checkpoint = make([]byte, entry.MaxCheckpoint) },
		"text":              func(e *entry.RaceEntry) { e.LeaderID = "<&>\u2028\x00\\ € 😀" },
		"without SentBy":    func(e *entry.RaceEntry) { e.SentBy = time.Time{} },
		"monotonic reading": func(e *entry.RaceEntry) { e.TermExpiry = time.Now() },
	} {
		e := full()
		change(e)
		b, err := entry.Encode(e)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := entry.Decode(b)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, b)
			continue
		}
		if !got.TermExpiry.Equal(e.TermExpiry) || !got.SentBy.Equal(e.SentBy) {
			t.Errorf("%s: times %v, %v; want %v, %v", name, got.TermExpiry, got.SentBy, e.TermExpiry, e.SentBy)
		}
		got.TermExpiry, got.SentBy = e.TermExpiry, e.SentBy
		if !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %+v, want %+v", name, got, e)
		}
	}
}

var lastInstant = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)

func TestTheTokenIsNotStored(t *testing.T) {
	with := full()
	with.Token = token{}
	a, err1 := entry.Encode(with)
	b, err2 := entry.Encode(full())
	if err1 != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("with a token: %s, %v; without: %s, %v", a, err1, b, err2)
	}
}

// Every refusal is ErrBad, names the field, and comes with no entry; and what
// may not be read may not be written either.
func TestValidateRefuses(t *testing.T) {
	for _, tc := range []struct {
		want  string
		spoil func(e *entry.RaceEntry)
	}{
		{"term_length", func(e *entry.RaceEntry) { e.TermLength = 0 }},
		{"term_length", func(e *entry.RaceEntry) { e.TermLength = -1 }},
		{"term_length", func(e *entry.RaceEntry) { e.TermLength = entry.MaxTermLength + 1 }},
		{"nonce is empty", func(e *entry.RaceEntry) { e.Nonce = "" }},
		{"election_number", func(e *entry.RaceEntry) { e.ElectionNumber = entry.NoElections }},
		{"election_number", func(e *entry.RaceEntry) { e.ElectionNumber = 1<<62 + 1 }},
		{"fencing_token", func(e *entry.RaceEntry) { e.FencingToken = -1 }},
		{"fencing_token", func(e *entry.RaceEntry) { e.FencingToken = 1<<62 + 1 }},
		{"term_expiry", func(e *entry.RaceEntry) { e.TermExpiry = time.Time{} }},
		{"term_expiry", func(e *entry.RaceEntry) { e.TermExpiry = time.Unix(0, -1) }},
		{"term_expiry", func(e *entry.RaceEntry) { e.TermExpiry = lastInstant.Add(1) }},
		{"sent_by", func(e *entry.RaceEntry) { e.SentBy = time.Unix(0, -1) }},
		{"sent_by", func(e *entry.RaceEntry) { e.SentBy = lastInstant.Add(1) }},
		{"checkpoint", func(e *entry.RaceEntry) { e.Checkpoint = make([]byte, entry.MaxCheckpoint+1) }},
		{"held by nobody", func(e *entry.RaceEntry) { e.LeaderID = "" }},
		{"not UTF-8", func(e *entry.RaceEntry) { e.LeaderID = "\xff" }},
		{"not UTF-8", func(e *entry.RaceEntry) { e.Nonce = "\xff" }},
		{"host_port", func(e *entry.RaceEntry) { e.HostPort[1] = "\xff" }},
	} {
		e := full()
		tc.spoil(e)
		if err := e.Validate(); !errors.Is(err, entry.ErrBad) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Validate(%+v): %v, want %q", e, err, tc.want)
		}
		if b, err := entry.Encode(e); !errors.Is(err, entry.ErrBad) || b != nil {
			t.Errorf("Encode(%+v): %s, %v", e, b, err)
		}
	}
	for _, e := range []*entry.RaceEntry{full(), least()} {
		if err := e.Validate(); err != nil {
			t.Errorf("Validate(%+v): %v", e, err)
		}
	}
}

// refused is what Decode refuses: the golden entry with one thing changed.
var refused = []struct{ old, new, want string }{
	{"", "", "not JSON"}, // nothing at all
	{"{", "[", "not JSON"},
	{`  "held": true` + "\n}", "", "not JSON"}, // cut off
	{"\n}\n", "\n}\n}", "not JSON"},
	{`"cloudelect"`, `"else"`, `no field "cloudelect"`},
	{`"cloudelect": 1`, `"cloudelect": null`, `no field "cloudelect"`},
	{`"cloudelect": 1`, `"cloudelect": "1"`, "not JSON of the expected form"},
	{`"cloudelect": 1`, `"cloudelect": 2`, "newer"},
	{`"cloudelect": 1`, `"cloudelect": 0`, "unknown"},
	{`"term_expiry"`, `"x"`, "term_expiry is missing"},
	{`"election_number"`, `"x"`, "election_number is missing"},
	{`"fencing_token"`, `"x"`, "fencing_token is missing"},
	{`"term_length"`, `"x"`, "term_length"},
	{`"nonce"`, `"x"`, "nonce is empty"},
	{"2031-05-06T07:08:09.123456789Z", "yesterday", "not JSON of the expected form"},
	{"2031-05-06T07:08:09.123456789Z", "1969-12-31T23:59:59Z", "term_expiry"},
	{"2031-05-06T07:07:54Z", "1969-12-31T23:59:59Z", "sent_by"},
	{"2031-05-06T07:08:09.123456789Z", "9999-12-31T23:59:59-01:00", "term_expiry"},
	{"15.000000001s", "soon", "term_length"},
	{"15.000000001s", "0s", "not positive"},
	{"15.000000001s", "999999h", "longer than"},
	{"41", "-1", "election_number"},
	{"41", "4.5", "not JSON of the expected form"},
	{"41", "9223372036854775807", "out of range"},
	{"1935904089", "-1", "fencing_token"},
	{"AAH/", "?", "not JSON of the expected form"},
	{`worker-7 \"blue\"`, "", "held by nobody"},
	{"c2xvdCA3", strings.Repeat("AAAA", entry.MaxCheckpoint), "checkpoint"},
}

// An entry of a newer program can be told from rubbish.
func TestNewer(t *testing.T) {
	for content, newer := range map[string]bool{`{"cloudelect": 2}`: true, `{"cloudelect": 0}`: false, "rubbish": false} {
		_, err := entry.Decode([]byte(content))
		if !errors.Is(err, entry.ErrBad) || errors.Is(err, entry.ErrNewer) != newer {
			t.Errorf("%s: %v: newer: %v, want %v", content, err, !newer, newer)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	golden, err := os.ReadFile("testdata/v1-full.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range refused {
		content := ""
		if tc.old != "" {
			content = strings.Replace(string(golden), tc.old, tc.new, 1)
			if content == string(golden) {
				t.Fatalf("%q is not in the golden file", tc.old)
			}
		}
		e, err := entry.Decode([]byte(content))
		if !errors.Is(err, entry.ErrBad) || !strings.Contains(err.Error(), tc.want) || e != nil {
			t.Errorf("with %.40q for %q: %+v, %v; want %q and no entry", tc.new, tc.old, e, err, tc.want)
		}
	}
}

func TestDecodeIgnoresFieldsItDoesNotKnow(t *testing.T) {
	golden, err := os.ReadFile("testdata/v1-full.json")
	if err != nil {
		t.Fatal(err)
	}
	content := strings.Replace(string(golden), "{", `{"added_later": {"a": [1]},`, 1)
	e, err := entry.Decode([]byte(content))
	if err != nil || !reflect.DeepEqual(e, full()) {
		t.Errorf("%+v, %v", e, err)
	}
}

// FuzzDecode: whatever a store holds, Decode returns an entry that may be written
// again, reads the same and is then written the same, or no entry and an error that Is
// ErrBad and fits on one line.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"v1-full.json", "v1-least.json"} {
		golden, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(golden)
		for _, tc := range refused {
			f.Add([]byte(strings.Replace(string(golden), tc.old, tc.new, 1)))
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		e, err := entry.Decode(content)
		if err != nil {
			if !errors.Is(err, entry.ErrBad) || e != nil || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%+v, %v: want ErrBad on one line, and no entry", e, err)
			}
			return
		}
		if err := e.Validate(); err != nil || e.Absent() || e.Token != nil {
			t.Fatalf("%+v was decoded, and is not an entry: %v", e, err)
		}
		b, err := entry.Encode(e)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		again, err := entry.Decode(b)
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v\n%s", err, b)
		}
		if twice, err := entry.Encode(again); err != nil || !bytes.Equal(twice, b) {
			t.Fatalf("written again it is\n%s\n%v; want\n%s", twice, err, b)
		}
		for _, e := range []*entry.RaceEntry{e, again} { // none and empty are one
			if len(e.HostPort) == 0 {
				e.HostPort = nil
			}
			if len(e.ConnectionParams) == 0 {
				e.ConnectionParams = nil
			}
			if len(e.Checkpoint) == 0 {
				e.Checkpoint = nil
			}
		}
		if !reflect.DeepEqual(again, e) {
			t.Fatalf("%+v became %+v", e, again)
		}
	})
}

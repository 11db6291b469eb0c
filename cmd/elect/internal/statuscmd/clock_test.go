package statuscmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// runAhead runs the command on a host whose clock is off, on an election in which w1
// has led for two seconds of its 15.
func runAhead(t *testing.T, offset time.Duration, tells, sentBy bool, args ...string) string {
	t.Helper()
	opener := new(stores.Opener)
	d := opener.Memory("test")
	if tells {
		d.SetClock(clocks.DefaultClock())
	}
	e := d.Lead("w1", 15*time.Second)
	if !sentBy {
		e.SentBy = time.Time{}
	}
	d.Plant(e)
	time.Sleep(2 * time.Second)
	var out bytes.Buffer
	cmd := New(&cliutil.Env{Stdout: &out, Stderr: &out, Stores: opener,
		Clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: offset})})
	cmd.SetArgs(append([]string{"--store", "mem://test"}, args...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Where the store tells its time a local clock that is off, by an hour or a day, changes
// no number, and it is said how much it is off and on which side.
func TestTimeLeftWithAWrongClock(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		offset time.Duration
		sentBy bool
		left   time.Duration
		by     string
		clock  string
		says   string // the warning; "" none
	}{
		{0, true, 13 * time.Second, ByStore, ClockAgrees, ""},
		{hour, true, 13 * time.Second, ByStore, ClockAhead, "this host's clock is ahead of the store's by at least 59m59s: set it"},
		{-hour, true, 13 * time.Second, ByStore, ClockBehind, "this host's clock is behind the store's by at least 1h0m0s: set it"},
		{24 * hour, true, 13 * time.Second, ByStore, ClockAhead, "this host's clock is ahead of the store's by at least 23h59m59s: set it"},
		{-24 * hour, true, 13 * time.Second, ByStore, ClockBehind, "this host's clock is behind the store's by at least 24h0m0s: set it"},
		{1500 * time.Millisecond, true, 13 * time.Second, ByStore, ClockAhead, ""},
		{hour, false, 13 * time.Second, ByWriter, ClockAhead, "this host's clock is ahead"},
		{-24 * hour, false, 13 * time.Second, ByWriter, ClockBehind, "this host's clock is behind"},
	} {
		t.Run(fmt.Sprint(c.offset, c.by), func(t *testing.T) {
			var st State
			synctest.Test(t, func(t *testing.T) {
				if err := json.Unmarshal([]byte(runAhead(t, c.offset, true, c.sentBy, "--json")), &st); err != nil {
					t.Fatal(err)
				}
			})
			if st.State != Leading || *st.TimeLeftMS != c.left.Milliseconds() || st.TimeLeftBy != c.by || st.LocalClock != c.clock ||
				!strings.HasPrefix(st.ClockWarning, c.says) || (c.says == "") != (st.ClockWarning == "") {
				t.Errorf("%+v; want %+v", st, c)
			}
			if proved := time.Duration(*st.ClockOffsetMS) * time.Millisecond; (c.offset-proved).Abs() > time.Second || proved.Abs() > c.offset.Abs() {
				t.Errorf("clock_offset_ms %v, want %v to a second, and not more", proved, c.offset)
			}
			synctest.Test(t, func(t *testing.T) {
				text := runAhead(t, c.offset, true, c.sentBy)
				if !strings.Contains(text, "time left        13.0 s of 15.0 s, by ") || strings.Contains(text, "clock warning    "+c.says) != (c.says != "") {
					t.Errorf("printed\n%s", text)
				}
			})
		})
	}
}

// A store that tells no time leaves nothing to judge the local clock by, and that is said.
func TestNoStoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var st State
		if err := json.Unmarshal([]byte(runAhead(t, time.Hour, false, false, "--json")), &st); err != nil {
			t.Fatal(err)
		}
		if st.LocalClock != ClockUnknown || st.TimeLeftBy != ByLocal || st.ClockOffsetMS != nil || st.StoreTime != nil || st.ClockWarning != "" {
			t.Errorf("%+v", st)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		text := runAhead(t, 0, false, false)
		for _, want := range []string{"by the clocks of the writer and of this host\n", "the store told no time, so nobody knows whether the local clock is right\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("printed\n%swithout %q", text, want)
			}
		}
	})
}

// A writer whose clock is ahead shows: TermExpiry is by the later of two clocks.
func TestTheWritersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := func(by time.Duration) func(*memory.Decider) {
			return func(d *memory.Decider) {
				d.SetClock(clocks.DefaultClock())
				e := d.Lead("w1", 15*time.Second)
				e.TermExpiry = e.TermExpiry.Add(by)
				d.Plant(e)
			}
		}
		for by, says := range map[time.Duration]string{
			time.Hour:              `"writer_clock_ahead_ms":3600000,"clock_warning":"the clock of w1 was ahead of the store's by at least 1h0m0s when it wrote the entry: set it there"`,
			500 * time.Millisecond: `"writer_clock_ahead_ms":500}`,
			0:                      `"local_clock":"agrees"}`,
			-time.Hour:             `"local_clock":"agrees"}`,
		} {
			out, err := run(t, ahead(by), "--store", "mem://test", "--json")
			if err != nil || !strings.Contains(out, says) || !strings.Contains(out, `"time_left_ms":15000,"time_left_by":"store"`) {
				t.Errorf("ahead by %v: %v, printed %s; want %s", by, err, out, says)
			}
		}
	})
}

// Only AWS's requests are signed by the local clock, and refused where it is far off.
func TestSigned(t *testing.T) {
	for _, c := range []struct {
		store  string
		offset time.Duration
		says   bool
	}{
		{"s3://bkt/k?endpoint=http://h", time.Hour, true}, {"dynamodb://tab/e", -time.Hour, true}, {"s3://bkt/k", time.Minute, false},
		{"gs://bkt/k", time.Hour, false}, {"mem://x", time.Hour, false}, {"rubbish", time.Hour, false},
	} {
		if got := Signed(c.store, c.offset); strings.Contains(got, "AWS refuses") != c.says || (got != "") != c.says {
			t.Errorf("Signed(%s, %v) = %q", c.store, c.offset, got)
		}
	}
}

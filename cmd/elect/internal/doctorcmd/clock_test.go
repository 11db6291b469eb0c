package doctorcmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/skewclock"
	"github.com/cloudelect/cloudelect/emulators/badstore"
	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// TestWrongClock: a host whose clock is hours off gets the same verdict, and is told by how
// much and on which side; what is left of a leader's term is by the store's clock. A clock
// of elect's own is off in one half of it; in the other it is AWS's that differs from this
// machine's, and refuses signatures.
func TestWrongClock(t *testing.T) {
	for _, k := range kinds() {
		for _, c := range []struct {
			name  string
			local time.Duration // this host's clock, ahead of the system's
			gate  time.Duration // the store's
			says  string
		}{
			{"a clock of elect's", time.Hour, 0, "this host's clock is ahead of the store's by at least "},
			{"AWS's clock", 0, 3 * time.Hour, "this host's clock is behind the store's by at least "},
		} {
			aws := k.dialect != badstore.GCS
			if c.gate != 0 && !aws {
				continue
			}
			t.Run(k.dialect.String()+", "+c.name, func(t *testing.T) {
				t.Parallel()
				root, stop, err := k.start()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(stop)
				base := &http.Transport{}
				t.Cleanup(base.CloseIdleConnections)
				gate := netfault.NewAWSGate(base)
				gate.SetClock(c.gate)
				d := k.open(t, root, &http.Client{Transport: gate})
				l, err := core.Config{LeaderID: "w1", Decider: d, TermLength: time.Hour, ManualRenew: true}.Campaign(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var out bytes.Buffer
				env := &cliutil.Env{Stdout: &out, Stderr: &out, Clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: c.local})}
				scheme := map[bool]string{true: "s3://elections/", false: "gs://elections/"}[aws]
				if err := Examine(t.Context(), env, &stores.Store{URL: scheme + nightly, Decider: d}, true); err != nil {
					t.Fatalf("%v\n%s", err, out.String())
				}
				var f finding
				if err := json.Unmarshal(out.Bytes(), &f); err != nil || f.Election == nil {
					t.Fatalf("%v\n%s", err, out.String())
				}
				off := c.local - c.gate
				if f.ClockAheadMin > off || f.ClockAheadMax < off || f.ClockAheadMax-f.ClockAheadMin > time.Minute {
					t.Errorf("ahead by %v to %v, want %v", f.ClockAheadMin, f.ClockAheadMax, off)
				}
				if !strings.HasPrefix(f.ClockWarning, c.says) || strings.Contains(f.ClockWarning, "AWS refuses") != aws {
					t.Errorf("warning %q, want %q", f.ClockWarning, c.says)
				}
				e := f.Election
				left := l.Entry().SentBy.Add(time.Hour).Sub(*e.StoreTime)
				if e.State != "leading" || e.LeaderID != "w1" || e.TimeLeftBy != "store" || *e.TimeLeftMS != min(left, time.Hour).Milliseconds() {
					t.Errorf("the election is %+v, want w1 leading for %v more", e, left)
				}
				text := f.text()
				for _, want := range []string{"\n  warning      " + c.says, "\n  election     leading: w1, time left ", "by the store's clock"} {
					if !strings.Contains(text, want) {
						t.Errorf("no %q in\n%s", want, text)
					}
				}
				t.Log("\n" + text)
			})
		}
	}
}

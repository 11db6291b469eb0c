package watchcmd

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/statuscmd"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// On a host whose clock is hours off the states and the time left are what they are, the
// time of day is the host's own, and what is wrong is said once.
func TestAWrongClock(t *testing.T) {
	utc(t)
	for _, c := range []struct {
		offset         time.Duration
		midnight, says string
	}{
		{time.Hour, "01", "elect: watch: this host's clock is ahead of the store's by at least 59m59s: set it\n"},
		{-24 * time.Hour, "00", "elect: watch: this host's clock is behind the store's by at least 24h0m0s: set it\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := watch(t, watcher{poll: 300 * time.Millisecond})
			m.watcher.env.Clock = skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: c.offset})
			m.start(t.Context())
			time.Sleep(time.Second)
			m.Lead("w1", 4*time.Second)
			time.Sleep(6 * time.Second)
			_ = m.end()
			expect(t, "lines", m.stdout.String(), strings.ReplaceAll(`
HH:00:00  nobody leads: nothing is stored
HH:00:01  w1 leads, fencing token 946684801, 3.8 s left by the store's clock (to a second)
HH:00:05  nobody leads: the term of w1 with fencing token 946684801 is over
`, "HH", c.midnight))
			expect(t, "stderr", m.stderr.String(), c.says)
		})
	}
}

func TestAWrongClockInJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := watch(t, watcher{poll: 300 * time.Millisecond, asJSON: true})
		m.watcher.env.Clock = skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: time.Hour})
		m.Lead("w1", 4*time.Second)
		m.start(t.Context())
		time.Sleep(time.Second)
		_ = m.end()
		var st statuscmd.State
		if err := json.Unmarshal(m.stdout.Bytes(), &st); err != nil {
			t.Fatalf("%v: %s", err, &m.stdout)
		}
		if st.LocalClock != statuscmd.ClockAhead || *st.ClockOffsetMS != 3599000 || st.ClockWarning == "" || *st.TimeLeftMS != 4000 || m.stderr.Len() > 0 {
			t.Errorf("%s; stderr %s", &m.stdout, &m.stderr)
		}
	})
}

package netfault_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

// A store's clock that is wrong, jumps, and is right again: on every answer that has a
// Date, whatever else happens to it, and on none that has none.
func TestSetClock(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		dated := func(want time.Duration) {
			t.Helper()
			if got := g.put("x").header.Get("Date"); got != serverDate.Add(want).Format(http.TimeFormat) {
				t.Errorf("the answer is dated %s, want the server's date and %v", got, want)
			}
		}
		dated(0)
		g.SetClock(90 * time.Minute)
		dated(90 * time.Minute)
		g.SetClock(-48 * time.Hour) // it jumps: nothing of the old clock is left
		dated(-48 * time.Hour)
		g.Clear() // which is about faults
		dated(-48 * time.Hour)
		inject(t, g, netfault.Fault{Kind: netfault.ShiftDate, For: time.Hour, Count: 1})
		dated(-47 * time.Hour)
		inject(t, g, netfault.Fault{Kind: netfault.StatusAfter, Status: 503, Count: 1})
		dated(-48 * time.Hour)
		inject(t, g, netfault.Fault{Kind: netfault.DropDate, Count: 1})
		if got := g.put("x").header["Date"]; len(got) > 0 && got[0] != "" {
			t.Errorf("a store that tells no time is dated %q", got)
		}
		inject(t, g, netfault.Fault{Kind: netfault.Status, Status: 429, Count: 1})
		if got := g.put("x").header["Date"]; len(got) > 0 && got[0] != "" {
			t.Errorf("an answer that the store never gave is dated %q", got)
		}
		g.SetClock(0)
		dated(0)
	})
}

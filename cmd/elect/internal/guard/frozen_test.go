//go:build unix

package guard

import (
	"os"
	"os/signal"
	"testing"
	"time"
)

// A guard that goes on long after its term kills as its next act, and has given what it
// kills no time yet to be gone: that is no group that cannot be killed.
func TestKilledProcessesGetTimeAfterAFreeze(t *testing.T) {
	g, w := piped(t)
	defer w.Close()
	g.path, g.argv = "/bin/sleep", []string{"sleep", "60"}
	g.waits, g.signals = make(chan wait), make(chan os.Signal, 1)
	defer signal.Stop(g.signals)
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	now := Now()
	frozen := Reading{Mono: now.Mono - 3*time.Hour, Wall: now.Wall - 3*time.Hour}
	g.last, g.term.last = frozen, frozen
	g.term.renew(frozen, frozen, time.Hour)
	go g.wait()
	if end := g.watch(); end.Remains || !end.Over || end.Status != 137 {
		t.Errorf("%+v: COMMAND was there and could be killed", end)
	}
}

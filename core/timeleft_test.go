package core_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

func TestTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := core.Config{LeaderID: "a", Decider: memory.NewDecider(), TermLength: 8 * time.Second, ManualRenew: true}
		l, err := cfg.Campaign(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []time.Duration{8 * time.Second, 5 * time.Second, 2 * time.Second, 0, 0} {
			if got := l.TimeLeft(); got != want {
				t.Errorf("%v left, want %v", got, want)
			}
			time.Sleep(3 * time.Second)
		}
	})
}

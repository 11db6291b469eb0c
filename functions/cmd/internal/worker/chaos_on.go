//go:build chaos

package worker

import (
	"encoding/json"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core/skewclock"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
)

// chaos is what tests do to a sandbox.
type chaos struct{ clock clocks.Clock }

// newChaos sets the election's clock by CHAOS_CLOCK, ahead or, with a minus, behind.
func newChaos(r *settings.Reader) chaos {
	text := r.Text("CHAOS_CLOCK", "0s")
	offset, err := time.ParseDuration(text)
	if err != nil {
		r.Fault("CHAOS_CLOCK is %q: write a time like 1h or -1h", text)
	}
	return chaos{clock: skewclock.New(clocks.DefaultClock(), &skewclock.Options{Offset: offset})}
}

// work does as the event says: it panics, or it works on and ignores its context.
func (chaos) work(event json.RawMessage) {
	var e struct {
		Panic  string `json:"chaos_panic"`
		Ignore string `json:"chaos_ignore"`
	}
	_ = json.Unmarshal(event, &e)
	if e.Panic != "" {
		panic(e.Panic)
	}
	if d, err := time.ParseDuration(e.Ignore); err == nil {
		time.Sleep(d)
	}
}

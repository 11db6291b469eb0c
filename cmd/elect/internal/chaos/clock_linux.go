package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/hostclock"
)

// checkClock finds out whether elect believes that its host's clock is wrong when it is
// told so. One that was built without the tag chaos does not, and would pass for one that
// bears wrong clocks.
func (r *run) checkClock() error {
	if r.RightClocks {
		return nil
	}
	out, err := os.Create(filepath.Join(r.dir, "clock.log"))
	if err != nil {
		return err
	}
	defer out.Close()
	const off = 5 * time.Hour
	s := r.stage.sites[0]
	ch, err := r.children.start(append(append([]string{}, r.Elect...), "status", "--json", "--store", s.url),
		append(r.environ(s), fmt.Sprintf("%s=%v", hostclock.OffsetVar, off)), out)
	if err != nil {
		return fmt.Errorf("%w: build elect with -tags chaos, or run make chaos", err)
	}
	<-ch.done
	var seen struct {
		Offset int64 `json:"clock_offset_ms"`
	}
	said := tail(out)
	if err := json.Unmarshal([]byte(said), &seen); err != nil {
		return fmt.Errorf("chaos: %s status --json does not say what time it is: %.500s", r.Elect[0], said)
	}
	if seen.Offset < (off - time.Minute).Milliseconds() {
		return fmt.Errorf("chaos: the clock of %s cannot be set wrong: build it with -tags chaos, or run make chaos", r.Elect[0])
	}
	return nil
}

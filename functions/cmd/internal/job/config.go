package job

import (
	"regexp"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/identity"
	"github.com/cloudelect/cloudelect/functions/jobleader"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// config reads what the task campaigns for. What one setting makes meaningless of
// another is a fault: whoever set it means something by it.
func config(r *settings.Reader) jobleader.Config {
	cfg := jobleader.Config{
		Election: core.Config{
			LeaderID:   identity.New(),
			TermLength: r.Duration("TERM_LENGTH", 15*time.Second, settings.Range{Least: time.Second, Most: entry.MaxTermLength}),
			WaitAtMost: r.Duration("WAIT", 0, settings.Range{Least: time.Millisecond, Most: entry.MaxTermLength,
				Unset: "to wait for ever", Note: "ONCE=true asks once"}),
		},
		Once:         r.Bool("ONCE"),
		GracePeriod:  r.Duration("GRACE", 9*time.Second, settings.Range{Least: time.Millisecond, Most: 24 * time.Hour}),
		LeaveQuietly: r.Bool("LEAVE_QUIETLY"),
		Slot:         slot(r),
	}
	if r.OneOf("ON_FAILURE", "retry", "skip") == "skip" {
		cfg.OnFailure = schedule.Skip
	}
	if cfg.Once && r.Set("WAIT") {
		r.Fault("WAIT and ONCE are both set: WAIT waits for so long, ONCE=true asks once: choose one")
	}
	if cfg.LeaveQuietly && !cfg.Once && !r.Set("WAIT") {
		r.Fault("LEAVE_QUIETLY is set, but without WAIT or ONCE=true a task waits for ever, and never leaves without being elected")
	}
	if r.Set("ON_FAILURE") && !r.Set("SLOT") && !r.Set("PERIOD") {
		r.Fault("ON_FAILURE is set, but neither SLOT nor PERIOD: what has no slot is neither tried again nor skipped")
	}
	return cfg
}

// slot is what SLOT or PERIOD choose. A name has to be called one, lest a time that is
// mistyped be taken for a name, and each way to mistype it for a slot of its own.
func slot(r *settings.Reader) (none schedule.Slot) {
	text := r.Text("SLOT", "")
	period := r.Duration("PERIOD", 0, settings.Range{Least: time.Second, Most: entry.MaxTermLength, Unset: "to have no slots"})
	name, named := strings.CutPrefix(text, "name:")
	name = strings.TrimSpace(name)
	switch {
	case text != "" && r.Set("PERIOD"):
		r.Fault("SLOT and PERIOD are both set: choose one")
	case text == "execution":
		if name = r.Text("CLOUD_RUN_EXECUTION", ""); name != "" {
			return schedule.Named(name)
		}
		r.Fault("SLOT is execution, but there is no CLOUD_RUN_EXECUTION: it is for Cloud Run jobs")
	case named && name == "":
		r.Fault("SLOT is %.40q: the name is missing", text)
	case named:
		return schedule.Named(name)
	case text != "":
		if at, err := schedule.Parse(text); err == nil && rfc3339.MatchString(text) {
			return at
		}
		t, ok := meant(text)
		if ok && t.IsZero() {
			r.Fault("SLOT is %.60q: that is Go's zero time, and no slot: was it ever read from the trigger?", text)
			return none
		}
		guess := ""
		if ok {
			guess = ": did you mean " + t.Format(time.RFC3339Nano) + "?"
		}
		r.Fault("SLOT is %.60q%s: write a time with its zone, like 2026-03-01T03:00:00Z, or execution, or name: and a name (%.66q)", text, guess, "name:"+text)
	case period != 0:
		return schedule.Every(period, nil)
	}
	return none
}

// rfc3339 is stricter than time.Parse, which takes an hour of one digit and a comma, too.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// meant is the time that somebody means who wrote it in another form. Without a zone
// it is UTC.
func meant(text string) (time.Time, bool) {
	text = strings.Replace(strings.ToUpper(text), " ", "T", 1)
	for _, clock := range []string{"T15:04:05", "T15:04", "T15", ""} {
		for _, zone := range []string{"", "Z07:00", "Z0700", "Z07", " Z07:00", " Z0700", " Z07", " UTC"} {
			if t, err := time.Parse("2006-1-2"+clock+zone, text); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

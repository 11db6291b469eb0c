package job

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/cloudelect/cloudelect/functions/schedule"
)

// logger is for warnings, and for what jobleader says of a task that was not needed:
// an exit code of 0 does not tell that from work that was done.
func logger(w io.Writer) *slog.Logger { return slog.New(sparing{slog.NewJSONHandler(w, nil)}) }

type sparing struct{ slog.Handler }

func (s sparing) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn && !strings.HasPrefix(r.Message, "jobleader: ") {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

func (s sparing) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sparing{s.Handler.WithAttrs(attrs)}
}

func (s sparing) WithGroup(name string) slog.Handler { return sparing{s.Handler.WithGroup(name)} }

// adviser adds what to do to a line whose own advice is for who writes a program: whoever
// runs this one has variables.
type adviser struct{ io.Writer }

func (a adviser) Write(line []byte) (int, error) {
	n, err := a.Writer.Write(line)
	for _, c := range []struct {
		err    error
		advice string
	}{
		{schedule.ErrFutureSlot, "SLOT lies in the future, and would make all slots before it stale: set SLOT to the time that the task is for, which may be a minute ahead of the store's clock at most"},
		{schedule.ErrNoDate, "PERIOD goes by the store's clock, and the answers of this store have no Date: see to the proxy or the emulator in STORE's way, or set SLOT in place of PERIOD"},
	} {
		if err == nil && bytes.Contains(line, []byte(c.err.Error())) {
			_, err = fmt.Fprintf(a.Writer, "job: %s\n", c.advice)
		}
	}
	return n, err
}

package job

import (
	"context"
	"io"
	"log/slog"
	"strings"
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

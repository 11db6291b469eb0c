//go:build unix

package jobleader_test

import (
	"bytes"
	"context"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/jobleader"
)

// The signals of the process itself.
func TestRealSignal(t *testing.T) {
	defer goleak.VerifyNone(t)
	store := memory.NewDecider()
	cfg := jobleader.Config{Election: core.Config{LeaderID: "a", Decider: store}, Stderr: new(bytes.Buffer)}
	code := jobleader.Run(context.Background(), cfg, func(ctx context.Context, l *core.Leadership) error {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if e, _ := store.Stored(); code != 143 || !e.Vacant() {
		t.Errorf("exit code %d, want 143; stored: %+v", code, e)
	}
}

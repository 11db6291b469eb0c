// The program demo shows what the deployed programs do when they are triggered twice,
// killed, frozen and told to stop: Lambda functions under the real runtime interface
// emulator, and containers. `make demo-lambda` runs it. It ends with 1 when anything
// is not as promised.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/rig"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/stage"
)

func main() {
	ctx, stop := interruptible()
	err := run(ctx)
	signalled := errInterrupted{}
	interrupted := errors.As(context.Cause(ctx), &signalled)
	stop()
	switch {
	case err == nil:
		fmt.Println("everything went as promised")
	case interrupted: // what fails then fails because of it
		fmt.Fprintln(os.Stderr, "interrupted")
		os.Exit(128 + int(signalled.Signal))
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// errInterrupted is why the context of a demo ends that somebody stops.
type errInterrupted struct{ syscall.Signal }

func (e errInterrupted) Error() string { return "interrupted by the signal " + e.Signal.String() }

// interruptible returns a context that ends with a signal.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			n, ok := s.(syscall.Signal)
			if !ok {
				n = syscall.SIGINT
			}
			cancel(errInterrupted{n})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
		<-done
	}
}

func run(ctx context.Context) (err error) {
	root, err := rig.Root(ctx)
	if err != nil {
		return err
	}
	fmt.Println("building the programs, and the Lambda runtime interface emulator")
	dir, err := os.MkdirTemp("", "cloudelect-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	emulator, err := rig.Install(ctx, root)
	if err != nil {
		return err
	}
	programs := map[string]string{}
	for _, pkg := range []string{"cmd/elect", "functions/cmd/lambda-worker/dynamodb", "functions/cmd/lambda-worker/s3", "functions/cmd/job-worker/gcs"} {
		if programs[filepath.Base(filepath.Dir(pkg))+"/"+filepath.Base(pkg)], err = rig.Build(ctx, root, dir, pkg); err != nil {
			return err
		}
	}
	stores, err := rig.StartStores(ctx, programs["cmd/elect"])
	if err != nil {
		return err
	}
	defer stores.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errors.New("the demo took more than ten minutes"))
	defer cancel()
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Printf("%5.1f s  "+format+"\n", append([]any{time.Since(began).Seconds()}, args...)...)
	}
	for _, kind := range []struct{ title, program, election string }{
		{"Lambda, DynamoDB", "lambda-worker/dynamodb", "dynamodb://elections/demo"},
		{"Lambda, S3", "lambda-worker/s3", "s3://elections/demo"},
	} {
		fmt.Printf("\n%s\n", kind.title)
		play := stage.Lambda{Stores: stores, Emulator: emulator, Worker: programs[kind.program], Dir: dir, Election: kind.election, Say: say}
		if err := play.Play(ctx); err != nil {
			return fmt.Errorf("%s: %w", kind.title, err)
		}
	}
	fmt.Print("\nCloud Run job, Cloud Storage\n")
	job := stage.Job{Stores: stores, Worker: programs["job-worker/gcs"], Election: "gs://elections/demo-job", Say: say}
	if err := job.Play(ctx); err != nil {
		return fmt.Errorf("the Cloud Run job: %w", err)
	}
	fmt.Println()
	return nil
}

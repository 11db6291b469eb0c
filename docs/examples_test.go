// Package docs_test holds the Go code that README.md and docs/*.md show. Each
// block there is the body of one of these functions, or of one in core: the
// check "examples" of internal/verify compares them.
package docs_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// TestMain puts an emulator where the examples expect Cloud Storage.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	server, err := gcs.Start(&gcs.Options{Buckets: []string{"my-bucket"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer server.Close()
	os.Setenv("STORAGE_EMULATOR_HOST", server.Endpoint())
	log.SetOutput(io.Discard)
	return m.Run()
}

// The program in README.md.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		log.Fatal(err)
	}
	cfg := core.Config{
		LeaderID: "worker-1", // a name that no other candidate has
		Decider:  gcsdecider.NewDecider(client, "my-bucket", "elections/nightly", nil),
	}
	err = cfg.RunAsLeader(ctx, func(ctx context.Context, l *core.Leadership) error {
		fmt.Println("elected") // work here; ctx ends when the leadership does
		log.Println("every write should carry the fencing token", l.FencingToken())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: elected
}

// updateReport writes to a database that refuses the leaders of the past.
func updateReport(ctx context.Context, db *sql.DB, l *core.Leadership, total int) error {
	result, err := db.ExecContext(ctx,
		`UPDATE report SET total = $1, fencing_token = $2 WHERE id = 1 AND fencing_token <= $2`,
		total, l.FencingToken())
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return fmt.Errorf("a later leader has written the report (%v)", err)
	}
	return nil
}

var _ = updateReport // there is no database here to try it on

// writeFenced writes an object that refuses the leaders of the past.
func writeFenced(ctx context.Context, object *storage.ObjectHandle, token int64, content string) error {
	condition := storage.Conditions{DoesNotExist: true}
	attrs, err := object.Attrs(ctx)
	switch {
	case errors.Is(err, storage.ErrObjectNotExist):
	case err != nil:
		return err
	default:
		last, err := strconv.ParseInt(attrs.Metadata["fencing-token"], 10, 64)
		if err != nil || last > token {
			return fmt.Errorf("written with fencing token %q, mine is %d", attrs.Metadata["fencing-token"], token)
		}
		condition = storage.Conditions{GenerationMatch: attrs.Generation}
	}
	w := object.If(condition).NewWriter(ctx)
	w.Metadata = map[string]string{"fencing-token": strconv.FormatInt(token, 10)}
	_, err = io.WriteString(w, content)
	return errors.Join(err, w.Close()) // 412: somebody wrote in between; start again
}

// An object that refuses the leaders of the past.
func Example_fencedObject() {
	ctx := context.Background()
	client, err := gcsdecider.NewClient(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	report := client.Bucket("my-bucket").Object("report")
	fmt.Println(writeFenced(ctx, report, 41, "from the leader"))
	fmt.Println(writeFenced(ctx, report, 42, "from its successor"))
	fmt.Println(writeFenced(ctx, report, 41, "from the past"))
	// Output:
	// <nil>
	// <nil>
	// written with fencing token "42", mine is 41
}

// Package docs_test holds the Go code that README.md and docs/*.md show. Each
// block there is the body of one of these functions, or of one in core: the
// check "examples" of internal/verify compares them.
package docs_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"cloud.google.com/go/storage"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/dynamodecider"
	dynamodbemulator "github.com/cloudelect/cloudelect/emulators/dynamodb"
	"github.com/cloudelect/cloudelect/emulators/gcs"
	s3emulator "github.com/cloudelect/cloudelect/emulators/s3"
	"github.com/cloudelect/cloudelect/gcsdecider"
	"github.com/cloudelect/cloudelect/s3decider"
)

// TestMain puts emulators where the examples expect the services.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	google, err := gcs.Start(&gcs.Options{Buckets: []string{"my-bucket"}})
	if err != nil {
		return fail(err)
	}
	defer google.Close()
	buckets, err := s3emulator.Start(&s3emulator.Options{Buckets: []string{"my-bucket"}})
	if err != nil {
		return fail(err)
	}
	defer buckets.Close()
	tables, err := dynamodbemulator.Start(&dynamodbemulator.Options{Tables: map[string]string{"elections": "election", "ledger": "page"}})
	if err != nil {
		return fail(err)
	}
	defer tables.Close()
	for name, value := range map[string]string{
		"STORAGE_EMULATOR_HOST":     google.Endpoint(),
		"AWS_ENDPOINT_URL_S3":       buckets.URL(),
		"AWS_ENDPOINT_URL_DYNAMODB": tables.URL(),
		"AWS_REGION":                "us-east-1",
		"AWS_ACCESS_KEY_ID":         "emulator", "AWS_SECRET_ACCESS_KEY": "emulator",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "",
	} {
		os.Setenv(name, value)
	}
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

// publish writes an object in Cloud Storage that refuses the leaders of the past.
func publish(ctx context.Context, client *storage.Client, l *core.Leadership, data []byte) error {
	report := gcsdecider.NewFencedObject(client, "my-bucket", "reports/latest", nil)
	err := report.Write(ctx, l.FencingToken(), data)
	if errors.Is(err, gcsdecider.ErrStaleToken) {
		return fmt.Errorf("stop working: %w", err) // the object is as the next leader left it
	}
	return err
}

// publishToS3 writes an object in S3 that refuses the leaders of the past, and reads it.
func publishToS3(ctx context.Context, client *s3.Client, l *core.Leadership, data []byte) ([]byte, error) {
	report := s3decider.NewFencedObject(client, "my-bucket", "reports/latest", nil)
	if err := report.Write(ctx, l.FencingToken(), data); err != nil {
		return nil, err // s3decider.ErrStaleToken: this reign is over
	}
	latest, err := report.Read(ctx) // the bytes under the name itself are a pointer
	if err != nil {
		return nil, err
	}
	return latest.Data, nil
}

// book writes to a table of its own, if the reign is still the current one.
func book(ctx context.Context, client *dynamodb.Client, election *dynamodecider.Decider, l *core.Leadership, page string) error {
	_, err := election.WriteFenced(ctx, client, l, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{{Put: &types.Put{
			TableName: aws.String("ledger"),
			Item:      map[string]types.AttributeValue{"page": &types.AttributeValueMemberS{Value: page}},
		}}},
	})
	if errors.Is(err, core.ErrLeadershipLost) {
		return fmt.Errorf("nothing was written, stop working: %w", err)
	}
	return err
}

// Deciders of the three stores, made with the ordinary credentials. Nothing is sent.
func Example_stores() {
	ctx := context.Background()
	google, err := gcsdecider.NewClient(ctx) // finds what storage.NewClient finds
	if err != nil {
		log.Fatal(err)
	}
	defer google.Close()
	amazon, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, decider := range []core.RaceDecider{
		gcsdecider.NewDecider(google, "my-bucket", "elections/nightly", nil),
		s3decider.NewDecider(s3.NewFromConfig(amazon), "my-bucket", "elections/nightly", nil),
		dynamodecider.NewDecider(dynamodb.NewFromConfig(amazon), "elections", "nightly", nil),
	} {
		fmt.Println(decider)
	}
	// Output:
	// gs://my-bucket/elections/nightly
	// s3://my-bucket/elections/nightly
	// dynamodb://elections/nightly
}

// succeed lets somebody else lead, as when the leader was frozen for a term: nobody
// tells it. The reign that is returned is the next one.
func succeed(ctx context.Context, decider core.RaceDecider) (frozen, next *core.Leadership) {
	frozen, err := core.Config{LeaderID: "ann", Decider: decider, TermLength: time.Hour}.Campaign(ctx)
	if err != nil {
		log.Fatal(err)
	}
	last, err := decider.ReadCurrent(ctx)
	if err != nil {
		log.Fatal(err)
	}
	last.LeaderID, last.Nonce = "", rand.Text()
	last.ElectionNumber++
	if _, err := decider.WriteEntry(ctx, last); err != nil {
		log.Fatal(err)
	}
	next, err = core.Config{LeaderID: "bob", Decider: decider, TermLength: time.Hour}.Campaign(ctx)
	if err != nil {
		log.Fatal(err)
	}
	return frozen, next
}

// What a leader of the past writes is refused, in each of the three stores.
func Example_fenced() {
	ctx := context.Background()
	google, err := gcsdecider.NewClient(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer google.Close()
	amazon, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	bucket := s3.NewFromConfig(amazon, func(o *s3.Options) { o.UsePathStyle = true })
	tables := dynamodb.NewFromConfig(amazon)
	election := dynamodecider.NewDecider(tables, "elections", "nightly", nil)
	frozen, next := succeed(ctx, election)
	defer next.Resign(ctx)

	fmt.Println(publish(ctx, google, next, []byte("new")))
	fmt.Println(errors.Is(publish(ctx, google, frozen, []byte("old")), gcsdecider.ErrStaleToken))

	data, err := publishToS3(ctx, bucket, next, []byte("new"))
	fmt.Println(string(data), err)
	_, err = publishToS3(ctx, bucket, frozen, []byte("old"))
	fmt.Println(errors.Is(err, s3decider.ErrStaleToken))

	fmt.Println(book(ctx, tables, election, next, "1"))
	fmt.Println(errors.Is(book(ctx, tables, election, frozen, "2"), core.ErrLeadershipLost))
	// Output:
	// <nil>
	// true
	// new <nil>
	// true
	// <nil>
	// true
}

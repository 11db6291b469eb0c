// Package s3store keeps an election, and a journal of the slots that were done, in
// two objects of an S3 bucket.
package s3store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/settings"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store"
	"github.com/cloudelect/cloudelect/functions/cmd/internal/store/awsconfig"
	"github.com/cloudelect/cloudelect/s3decider"
)

// Open opens s3://BUCKET/KEY. It sends nothing, unless only EC2's
// metadata service may have credentials.
func Open(ctx context.Context, r *settings.Reader) (*store.Store, error) {
	bucket, key := r.Location(store.Variable, "s3", "BUCKET/KEY")
	endpoint := cmp.Or(r.Text("AWS_ENDPOINT_URL_S3", ""), r.Text("AWS_ENDPOINT_URL", ""))
	if err := r.Err(); err != nil {
		return nil, err
	}
	cfg, err := awsconfig.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("s3store: %w", err)
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = endpoint != "" && !amazon(endpoint) })
	object := s3decider.NewFencedObject(client, bucket, key+store.JournalSuffix, &s3decider.FencedOptions{
		ContentType: "application/jsonl",
		Leftover: func(key string, err error) {
			fmt.Fprintf(os.Stderr, "s3store: %s is left over and may be deleted: %v\n", key, err)
		},
	})
	j := &journal{object}
	return &store.Store{Decider: s3decider.NewDecider(client, bucket, key, nil), Write: j.write, Close: func() error { return nil }}, nil
}

// amazon tells Amazon's own endpoints, where a bucket is a host name, as elect does.
func amazon(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && (strings.HasSuffix(u.Hostname(), ".amazonaws.com") || strings.HasSuffix(u.Hostname(), ".amazonaws.com.cn"))
}

type journal struct{ object *s3decider.FencedObject }

// write appends r. A reign that has ended, by any clock, does not get to the write;
// one that does not know it yet is refused by the token in the object.
func (j *journal) write(ctx context.Context, l *core.Leadership, r store.Record) (bool, error) {
	content, err := j.object.Read(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = new(s3decider.Fenced), nil
	}
	if err != nil {
		return false, fmt.Errorf("s3store: the record of slot %s was not stored: %w", r.Slot, err)
	}
	next, stored, err := store.Append(content.Data, r)
	if err != nil || next == nil {
		return stored, err
	}
	if err := l.Check(); err != nil {
		return false, fmt.Errorf("s3store: the record of slot %s was not stored: %w", r.Slot, err)
	}
	if err := j.object.Write(ctx, l.FencingToken(), next); errors.Is(err, s3decider.ErrStaleToken) {
		return false, fmt.Errorf("s3store: the record of slot %s was not stored: %w: %w", r.Slot, core.ErrLeadershipLost, err)
	} else if err != nil {
		return false, fmt.Errorf("s3store: the record of slot %s may not be stored: %w", r.Slot, err)
	}
	return true, nil
}

package s3decider

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
)

var _ core.Prober = (*Decider)(nil)

// remover is what a client needs besides API to clean up.
type remover interface {
	DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, optFns ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

// Probe finds out on scratch objects beside the election's whether this store, this
// bucket and these credentials honour what WriteEntry relies on: see package
// probe for the checks. It takes about four seconds, or ten with a MinWriteInterval
// of one, and deletes its objects in the end: those called like the election's own
// with ".probe-..." appended. A client without DeleteObject, which *s3.Client has,
// leaves them behind.
//
// An error means that the probe did not come to its end (a timeout, say); what
// the store denies is in the report.
func (d *Decider) Probe(ctx context.Context) (core.ProbeReport, error) {
	if d.invalid != nil {
		return core.ProbeReport{}, d.invalid
	}
	return probe.Run(ctx, probe.Target{Scratch: d.scratch, MinWriteInterval: d.MinWriteInterval()}, nil)
}

// probed is nil unless Options.ProbeFirst says that the store must be probed,
// and it was not found usable.
func (d *Decider) probed(ctx context.Context) error {
	if !d.opts.ProbeFirst {
		return nil
	}
	if err := d.gate.Pass(ctx, d.Probe); err != nil {
		return fmt.Errorf("s3decider: %s: nothing was written (Options.ProbeFirst): %w", d, err)
	}
	return nil
}

// scratch is an object that nobody else uses.
func (d *Decider) scratch(suffix string) probe.Record {
	o := object{d.object.bucket, d.object.key + "." + suffix}
	if keyFault(o.key) != "" { // too long
		o.key = "cloudelect." + suffix
	}
	opts := d.opts
	opts.ProbeFirst = false // it is what is being done
	return probe.Record{
		Name: o.String(),
		Open: func() core.RaceDecider { return NewDecider(d.client, o.bucket, o.key, &opts) },
		Raw: func(ctx context.Context) ([]byte, error) {
			got, err := get(ctx, d.client, o, opts.ExpectedBucketOwner, maxSize)
			if err != nil {
				return nil, o.explain(ctx, read, err)
			}
			return got.body, nil
		},
		Clean: func(ctx context.Context) error {
			client, ok := d.client.(remover)
			if !ok {
				return o.misuse("delete", fmt.Errorf("the client %T has no DeleteObject", d.client))
			}
			return erase(ctx, client, o, opts.ExpectedBucketOwner)
		},
	}
}

// erase deletes an object; that there is none is fine. Nothing deletes an
// election's own.
func erase(ctx context.Context, client remover, o object, owner string) error {
	_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &o.bucket, Key: &o.key, ExpectedBucketOwner: optional(owner)}, gently)
	if err == nil {
		return nil
	}
	if err = o.explain(ctx, remove, err); errors.Is(err, errAbsent) {
		return nil
	}
	return err
}

package gcsdecider

import (
	"context"
	"errors"
	"fmt"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
)

var _ core.Prober = (*Decider)(nil)

// Probe finds out on scratch objects beside the election's whether this bucket
// and these credentials honour what WriteEntry relies on: see package probe for
// the checks. It takes about ten seconds, since it leaves MinWriteInterval between two
// writes to one object, and deletes its objects in the end: those called like
// the election's own with ".probe-..." appended.
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
		return fmt.Errorf("gcsdecider: %s: nothing was written (Options.ProbeFirst): %w", d, err)
	}
	return nil
}

// scratch is an object that nobody else uses.
func (d *Decider) scratch(suffix string) probe.Record {
	name := d.object + "." + suffix
	if objectFault(name) != "" { // too long
		name = "cloudelect." + suffix
	}
	opts := d.opts
	opts.ProbeFirst = false // it is what is being done
	s := NewDecider(d.client, d.bucket, name, &opts)
	return probe.Record{
		Name:  s.String(),
		Open:  func() core.RaceDecider { return NewDecider(d.client, d.bucket, name, &opts) },
		Raw:   s.raw,
		Clean: s.remove,
	}
}

// raw returns the object's bytes.
func (d *Decider) raw(ctx context.Context) ([]byte, error) {
	body, _, err := d.get(ctx)
	if err != nil {
		return nil, d.explain(ctx, read, err)
	}
	return body, nil
}

// remove deletes a scratch object. Nothing deletes an election's own.
func (d *Decider) remove(ctx context.Context) error {
	err := d.handle().Delete(ctx)
	if err == nil || errors.Is(err, storage.ErrObjectNotExist) {
		return nil
	}
	v := d.judge(ctx, overwrite, err)
	e := &storeError{where: d.String(), what: "delete the scratch object", err: err, todo: v.todo}
	if v.outcome == broken {
		e.is = []error{core.ErrBroken}
	}
	return e
}

package gcsdecider

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

var _ core.Prober = (*Decider)(nil)

// Probe tries on a scratch object beside the election's whether this bucket and
// these credentials honour what WriteEntry relies on: conditions, the permission
// to overwrite, no retention. It takes a few seconds, since it writes four times,
// MinWriteInterval apart, and deletes the scratch object in the end.
//
// An error means that the probe did not come to its end (a timeout, say); what
// the store denies is in the report.
func (d *Decider) Probe(ctx context.Context) (core.ProbeReport, error) {
	if d.invalid != nil {
		return core.ProbeReport{}, d.invalid
	}
	name := d.object + ".probe-" + rand.Text()
	if objectFault(name) != "" { // too long
		name = "cloudelect.probe-" + rand.Text()
	}
	p := &probe{d: NewDecider(d.client, d.bucket, name, &d.opts)}
	return p.run(ctx)
}

// cleanTimeout bounds the removal of the scratch object after an interruption.
const cleanTimeout = 10 * time.Second

// probe is one run of Probe.
type probe struct {
	d      *Decider // of the scratch object
	report core.ProbeReport
	number entry.ElectionNumber
}

// step is one check: what it does, and what is wrong; nil when it passes.
type step struct {
	name string
	do   func() error
}

func (p *probe) run(ctx context.Context) (core.ProbeReport, error) {
	var first, second *Token
	refused := func(base *Token) error {
		_, err := p.write(ctx, base)
		var lost core.FailedAcquisitionErr
		switch {
		case err == nil:
			return errors.New("it was stored: this store ignores the condition and cannot carry an election")
		case errors.As(err, &lost):
			return nil
		}
		return err
	}
	steps := []step{
		{"a missing object reads as missing", func() error {
			e, err := p.d.ReadCurrent(ctx)
			if err == nil && !e.Absent() {
				err = errors.New("a new name is taken")
			}
			return err
		}},
		{"an object can be created", func() (err error) { first, err = p.write(ctx, &Token{}); return err }},
		{"a second creation is refused", func() error { return refused(&Token{}) }},
		{"it can be overwritten", func() (err error) { second, err = p.write(ctx, first); return err }},
		{"an overwrite of an old generation is refused", func() error { return refused(first) }},
		{"a read shows the last write", func() error {
			e, err := p.d.ReadCurrent(ctx)
			if err == nil && e.Token.(*Token).generation != second.generation {
				err = fmt.Errorf("generation %v after a write of generation %v", e.Token, second)
			}
			return err
		}},
		{"the scratch object can be deleted", func() error { return p.clean(ctx) }},
	}
	for i, s := range steps {
		err := s.do()
		if ctx.Err() != nil {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
			defer cancel()
			err = errors.Join(err, p.clean(ending))
			return p.report, fmt.Errorf("gcsdecider: %s: the probe did not come to its end: %w", p.d, err)
		}
		p.note(s.name, err)
		if err != nil && i < len(steps)-1 { // what follows builds on it
			p.note(steps[len(steps)-1].name, p.clean(ctx))
			return p.report, nil
		}
	}
	p.report.Usable = true
	return p.report, nil
}

func (p *probe) note(name string, err error) {
	check := core.ProbeCheck{Name: name, Passed: err == nil}
	if err != nil {
		check.Detail = err.Error()
	}
	p.report.Checks = append(p.report.Checks, check)
}

// write leaves the store the time it wants between two writes.
func (p *probe) write(ctx context.Context, base *Token) (*Token, error) {
	if p.number > 0 {
		pause := time.NewTimer(p.d.MinWriteInterval())
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
	t, err := p.d.WriteEntry(ctx, &entry.RaceEntry{
		LeaderID: "probe", TermExpiry: time.Unix(0, 0), TermLength: time.Second,
		ElectionNumber: p.number, Nonce: rand.Text(), Token: base,
	})
	p.number++
	if err != nil {
		return nil, err
	}
	return t.(*Token), nil
}

// clean removes the scratch object, which bears a name that nobody else has.
func (p *probe) clean(ctx context.Context) error {
	if p.number == 0 {
		return nil
	}
	err := p.d.handle().Delete(ctx)
	if errors.Is(err, storage.ErrObjectNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s is left behind, delete it: %w", p.d, err)
	}
	return nil
}

package probe

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// run is one probe.
type run struct {
	target   Target
	opts     Options
	interval time.Duration
	meter    *meter
	list     *checklist
	id       string // in the names of all its scratch records

	mu      sync.Mutex
	opened  []*scratch // that are not cleaned yet
	count   int
	left    map[string]error // why a record could not be deleted
	deleted int
}

// Run probes a store, in about four seconds, or in ten where the store wants
// a pause of a second between two writes. Options may be nil.
//
// The report says what was found out, the denials of the store included. An error
// means that there is no verdict: ctx ended, or the target is not usable
// (core.ErrInvalidConfig). The scratch records are deleted in every case, for which
// Run may take some seconds more after ctx has ended.
func Run(ctx context.Context, target Target, opts *Options) (core.ProbeReport, error) {
	if err := target.validate(); err != nil {
		return core.ProbeReport{}, err
	}
	set := opts.orDefault()
	r := &run{
		target: target, opts: set, interval: target.MinWriteInterval, meter: newMeter(set.Clock),
		list: newChecklist(), id: strings.ToLower(rand.Text()[:12]), left: map[string]error{},
	}
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer set.Clock.AfterFunc(set.Timeout, func() { cancel(errTimeout) }).Stop()

	err := r.probe(bounded)
	r.cleanUp(ctx)
	report := r.report()
	switch {
	case err != nil:
		return report, err
	case ctx.Err() != nil:
		return report, fmt.Errorf("probe: interrupted before there was a verdict: %w", ended(ctx))
	}
	report.Usable = r.list.passed()
	return report, nil
}

// probe fills in the checks. Its error is about the target.
func (r *run) probe(ctx context.Context) error {
	s, err := r.open()
	if err != nil {
		return err
	}
	s.basics(ctx)
	if r.list.passed(CheckRead) {
		s.measure(ctx)
	}
	if !r.list.passed(CheckRead, CheckCreate, CheckOverwrite, CheckReadBack, CheckCreateTwice, CheckOldToken, CheckEqualContent) {
		return nil // whoever cannot do that cannot race
	}
	// Without the permission to delete, few records are better than many.
	return r.races(ctx, r.clean(ctx, s))
}

func (r *run) report() core.ProbeReport {
	var report core.ProbeReport
	r.meter.into(&report)
	r.list.judgeClock(report)
	r.judgeLeftovers(&report)
	report.Checks = r.list.checks
	return report
}

// open opens a fresh scratch record.
func (r *run) open() (*scratch, error) {
	r.mu.Lock()
	r.count++
	n := r.count
	r.mu.Unlock()
	record := r.target.Scratch(fmt.Sprintf("probe-%s-%d", r.id, n))
	if err := record.validate(); err != nil {
		return nil, err
	}
	s := &scratch{Record: record, run: r, a: record.Open(), b: record.Open(), look: record.Open()}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = append(r.opened, s)
	return s, nil
}

// trips is how many reads the round trip is taken from.
const trips = 10

// measure takes the time of reads, one after the other.
func (s *scratch) measure(ctx context.Context) {
	for range trips {
		if ctx.Err() != nil {
			return
		}
		sent := s.opts.Clock.Now()
		if _, err := s.readOnce(ctx, s.look); err == nil {
			s.meter.trip(s.opts.Clock.Now().Sub(sent))
		}
	}
}

package probe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// cleanTimeout bounds the removal of all scratch records in the end.
const cleanTimeout = 10 * time.Second

// clean deletes a scratch record and reports whether it could.
func (r *run) clean(ctx context.Context, s *scratch) bool {
	var err error
	if written := !s.last.IsZero(); written {
		err = s.delete(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return false // cleanUp tries again
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = slices.DeleteFunc(r.opened, func(o *scratch) bool { return o == s })
	switch {
	case err != nil:
		r.left[s.Name] = err
	case !s.last.IsZero():
		r.deleted++
	}
	return err == nil
}

// delete asks until the answer is clear.
func (s *scratch) delete(ctx context.Context) error {
	s.pace(ctx)
	for p := s.patience(); ; {
		reqCtx, cancel := s.request(ctx)
		err := s.Clean(reqCtx)
		cancel()
		if err == nil || errors.Is(err, core.ErrBroken) || !p.pause(ctx) {
			return err
		}
	}
}

// cleanUp deletes what is left, even though ctx may have ended.
func (r *run) cleanUp(ctx context.Context) {
	ctx, cancel := r.opts.Clock.ContextWithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	r.mu.Lock()
	rest := slices.Clone(r.opened)
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range rest {
		wg.Go(func() { r.clean(ctx, s) })
	}
	wg.Wait()
	for _, s := range r.opened {
		r.left[s.Name] = ended(ctx)
	}
}

func (r *run) judgeLeftovers(report *core.ProbeReport) {
	report.LeftBehind = slices.Sorted(maps.Keys(r.left))
	n := len(report.LeftBehind)
	switch {
	case n == 0 && r.deleted == 0:
		return
	case n == 0:
		r.list.pass(CheckDelete, "not needed by elections; the scratch records are gone")
		return
	}
	first := report.LeftBehind[0]
	r.list.fail(CheckDelete, fmt.Errorf("%d left behind, %s first: %w", n, first, r.left[first]))
}

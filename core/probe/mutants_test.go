package probe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/probe"
)

// answered makes a mutant whose writes are answered by f, which gets the
// honest store's answer.
func answered(f func(ctx context.Context, r *record, h *handle, e *entry.RaceEntry, t entry.LeaderToken, err error) (entry.LeaderToken, error)) func(*record, *handle) {
	return func(r *record, h *handle) {
		h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			t, err := h.Decider.WriteEntry(ctx, e)
			return f(ctx, r, h, e, t, err)
		}
	}
}

// racers makes a mutant that misbehaves only while another write to the same
// version is under way. lose decides what the loser is told.
func racers(lose func(ctx context.Context, h *handle, e *entry.RaceEntry) (entry.LeaderToken, error)) func(*record, *handle) {
	return func(r *record, h *handle) {
		h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			key := fmt.Sprint("writers over ", e.Token)
			count := func(n int) [2]int { // under way, begun so far
				r.mu.Lock()
				defer r.mu.Unlock()
				now, _ := r.free[key].([2]int)
				now[0] += n
				now[1] += max(n, 0)
				r.free[key] = now
				return now
			}
			first := count(1)
			time.Sleep(time.Millisecond)
			defer count(-1)
			token, err := h.Decider.WriteEntry(ctx, e)
			overlapping := first[0] > 1 || count(0)[1] > first[1]
			if isLost(err) && overlapping {
				return lose(ctx, h, e)
			}
			return token, err
		}
	}
}

// failing makes every request of a kind fail.
func failing(reads bool, writes func(e *entry.RaceEntry) bool, err error) func(*record, *handle) {
	return func(r *record, h *handle) {
		if reads {
			h.read = func(context.Context) (*entry.RaceEntry, error) { return nil, err }
		}
		h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if writes(e) {
				return nil, err
			}
			return h.Decider.WriteEntry(ctx, e)
		}
	}
}

var (
	errDenied = fmt.Errorf("403: grant the permission: %w", core.ErrBroken)
	errBusy   = errors.New("429 too many requests")
	never     = func(*entry.RaceEntry) bool { return false }
	creates   = isCreation
	updates   = func(e *entry.RaceEntry) bool { return !isCreation(e) }
)

// Each bad store has one mistake, and the checks named for it, and no others, must fail.
var badStores = []struct {
	mistake string
	failed  []string
	open    bool // without a proof
	raw     bool
	change  func(r *record, h *handle)
}{
	{mistake: "the condition on creation is ignored", failed: []string{probe.CheckCreateTwice},
		change: func(r *record, h *handle) {
			h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
				if isCreation(e) {
					return force(ctx, h.Decider, e)
				}
				return h.Decider.WriteEntry(ctx, e)
			}
		}},
	{mistake: "the condition on overwriting is ignored", failed: []string{probe.CheckOldToken, probe.CheckEqualContent},
		change: func(r *record, h *handle) {
			h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
				if !isCreation(e) {
					return force(ctx, h.Decider, e)
				}
				return h.Decider.WriteEntry(ctx, e)
			}
		}},
	{mistake: "an overwrite is answered with yes and dropped", failed: []string{probe.CheckReadBack},
		change: func(r *record, h *handle) {
			h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
				if isCreation(e) {
					return h.Decider.WriteEntry(ctx, e)
				}
				return e.Token, nil
			}
		}},
	{mistake: "a refused write is answered with yes", failed: []string{probe.CheckCreateTwice, probe.CheckOldToken, probe.CheckEqualContent},
		change: answered(func(_ context.Context, _ *record, _ *handle, e *entry.RaceEntry, t entry.LeaderToken, err error) (entry.LeaderToken, error) {
			if isLost(err) {
				return e.Token, nil
			}
			return t, err
		})},
	{mistake: "a refused write is stored", failed: []string{probe.CheckCreateTwice, probe.CheckOldToken, probe.CheckEqualContent},
		change: answered(func(ctx context.Context, _ *record, h *handle, e *entry.RaceEntry, t entry.LeaderToken, err error) (entry.LeaderToken, error) {
			if isLost(err) {
				_, _ = force(ctx, h.Decider, e)
			}
			return t, err
		})},
	{mistake: "a refused overwrite has no clear answer and is stored", failed: []string{probe.CheckOldToken, probe.CheckEqualContent},
		change: answered(func(ctx context.Context, _ *record, h *handle, e *entry.RaceEntry, t entry.LeaderToken, err error) (entry.LeaderToken, error) {
			if isLost(err) && !isCreation(e) {
				_, _ = force(ctx, h.Decider, e)
				return nil, errBusy
			}
			return t, err
		})},
	{mistake: "a refused overwrite changes bytes that no entry shows", failed: []string{probe.CheckOldToken, probe.CheckEqualContent}, raw: true,
		change: answered(func(_ context.Context, r *record, _ *handle, e *entry.RaceEntry, t entry.LeaderToken, err error) (entry.LeaderToken, error) {
			if isLost(err) && !isCreation(e) {
				r.free["raw"] = []byte(e.Nonce)
			}
			return t, err
		})},
	{mistake: "equal content has an equal token", failed: []string{probe.CheckEqualContent},
		change: answered(func(ctx context.Context, _ *record, h *handle, e *entry.RaceEntry, t entry.LeaderToken, err error) (entry.LeaderToken, error) {
			cur, _ := h.Stored()
			if isLost(err) && e.ElectionNumber == cur.ElectionNumber+1 { // the token of an equal version
				return force(ctx, h.Decider, e)
			}
			return t, err
		})},
	{mistake: "every read is cached", failed: []string{probe.CheckReadBack},
		change: func(r *record, h *handle) {
			h.read = func(ctx context.Context) (*entry.RaceEntry, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.free["read"] == nil {
					e, err := h.Decider.ReadCurrent(ctx)
					if err != nil {
						return nil, err
					}
					r.free["read"] = e
				}
				return r.free["read"].(*entry.RaceEntry), nil
			}
		}},
	{mistake: "each connection caches until it writes", failed: []string{probe.CheckReadBack},
		change: func(r *record, h *handle) {
			var cached *entry.RaceEntry
			h.read = func(ctx context.Context) (e *entry.RaceEntry, err error) {
				if cached == nil {
					cached, err = h.Decider.ReadCurrent(ctx)
				}
				return cached, err
			}
			h.write = func(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
				cached = nil
				return h.Decider.WriteEntry(ctx, e)
			}
		}},
	{mistake: "racing writers are both told that they won", failed: []string{probe.CheckRacingCreations},
		change: racers(func(ctx context.Context, h *handle, e *entry.RaceEntry) (entry.LeaderToken, error) {
			return e.Token, nil
		})},
	{mistake: "racing writers both store", failed: []string{probe.CheckRacingCreations},
		change: racers(func(ctx context.Context, h *handle, e *entry.RaceEntry) (entry.LeaderToken, error) {
			return force(ctx, h.Decider, e)
		})},
	{mistake: "racing overwriters both store", failed: []string{probe.CheckRacingWrites},
		change: racers(func(ctx context.Context, h *handle, e *entry.RaceEntry) (entry.LeaderToken, error) {
			if isCreation(e) {
				return nil, &core.LostRaceError{}
			}
			return force(ctx, h.Decider, e)
		})},
	{mistake: "the loser of a race overwrites the winner without a word", failed: []string{probe.CheckRacingCreations},
		change: racers(func(ctx context.Context, h *handle, e *entry.RaceEntry) (entry.LeaderToken, error) {
			_, _ = force(ctx, h.Decider, e)
			return nil, &core.LostRaceError{}
		})},
	{mistake: "the loser of a race is told that it is forbidden", failed: []string{probe.CheckRacingCreations},
		change: racers(func(context.Context, *handle, *entry.RaceEntry) (entry.LeaderToken, error) { return nil, errDenied })},
	{mistake: "a race deletes the record", failed: []string{probe.CheckKept},
		change: racers(func(_ context.Context, h *handle, _ *entry.RaceEntry) (entry.LeaderToken, error) {
			h.Delete()
			return nil, &core.LostRaceError{}
		})},
	{mistake: "reading is denied", failed: []string{probe.CheckRead}, change: failing(true, never, errDenied)},
	{mistake: "creating is denied", failed: []string{probe.CheckCreate}, change: failing(false, creates, errDenied)},
	{mistake: "overwriting is denied", failed: []string{probe.CheckOverwrite}, change: failing(false, updates, errDenied)},
	{mistake: "creating is refused as if it were a lost race", failed: []string{probe.CheckCreate},
		change: failing(false, creates, &core.LostRaceError{})},
	{mistake: "overwriting is refused as if it were a lost race", failed: []string{probe.CheckOverwrite},
		change: failing(false, updates, &core.LostRaceError{})},
	{mistake: "reads are throttled for ever", failed: []string{probe.CheckRead}, open: true, change: failing(true, never, errBusy)},
	{mistake: "creations are throttled for ever", failed: []string{probe.CheckCreate}, open: true, change: failing(false, creates, errBusy)},
	{mistake: "overwrites are throttled for ever", failed: []string{probe.CheckOverwrite}, open: true, change: failing(false, updates, errBusy)},
	{mistake: "an overwrite is stored, and its answer names no version", failed: []string{probe.CheckOverwrite}, open: true,
		change: answered(func(_ context.Context, _ *record, _ *handle, e *entry.RaceEntry, t entry.LeaderToken, err error) (entry.LeaderToken, error) {
			if err == nil {
				return nil, errors.New("the answer has no ETag")
			}
			return t, err
		})},
	{mistake: "losers of races never get an answer", open: true,
		failed: []string{probe.CheckRacingCreations, probe.CheckRacingWrites, probe.CheckKept},
		change: racers(func(context.Context, *handle, *entry.RaceEntry) (entry.LeaderToken, error) { return nil, errBusy })},
}

func TestBadStores(t *testing.T) {
	for _, b := range badStores {
		t.Run(b.mistake, func(t *testing.T) {
			s := &store{change: b.change, raw: b.raw}
			report, took := run(t, s, nil)
			if report.Usable {
				t.Fatalf("usable: %+v", report)
			}
			failed, open := refusals(report)
			if b.open {
				failed, open = open, failed
			}
			if !slices.Equal(failed, b.failed) || len(open) > 0 {
				t.Errorf("failed %q, want %q; otherwise %q", failed, b.failed, open)
			}
			err := probe.Verdict(report)
			if err == nil || errors.Is(err, core.ErrBroken) == b.open {
				t.Errorf("verdict: %v", err)
			}
			if n := s.kept(); n > 0 {
				t.Errorf("%d scratch records are left", n)
			}
			if took > time.Minute {
				t.Errorf("it took %v", took)
			}
			t.Logf("%v: %v", took, err)
		})
	}
}

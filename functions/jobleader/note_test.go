package jobleader_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/jobleader"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// hangs is a store that takes requests and never answers.
type hangs struct{}

func (hangs) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangs) WriteEntry(ctx context.Context, _ *entry.RaceEntry) (entry.LeaderToken, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A store that was never reached is 69, and never "somebody else leads": not with a
// slot, not after a wait, not quietly, and not so that the rest is done.
func TestStoreNeverReachedIsUnavailable(t *testing.T) {
	rest := func(context.Context) error { return errors.New("the rest was done") }
	for _, c := range []struct {
		name  string
		setup func(k *task)
	}{
		{"", func(*task) {}},
		{"quietly", func(k *task) { k.LeaveQuietly = true }},
		{"with a rest", func(k *task) { k.Rest = rest }},
		{"with a rest, quietly", func(k *task) { k.Rest, k.LeaveQuietly = rest, true }},
	} {
		for _, slot := range []schedule.Slot{{}, schedule.Named("x"), schedule.Every(time.Hour, nil)} {
			for _, policy := range []schedule.Policy{schedule.Retry, schedule.Skip} {
				for _, hang := range []bool{false, true} {
					t.Run(c.name+" "+slot.String(), func(t *testing.T) {
						bubble(t, func(t *testing.T, store *memory.Decider) {
							k := newTask(store, "a")
							if k.Election.WaitAtMost, k.Slot = 20*time.Second, slot; !slot.IsZero() {
								k.OnFailure = policy
							}
							c.setup(k)
							says := errNet.Error()
							if k.store.FailNext(1000, errNet); hang {
								k.Election.Decider, says = hangs{}, "no answer"
							}
							k.start(returns(errors.New("the work was done"))).want(t, 69, says)
						})
					})
				}
			}
		}
	}
}

// Quiet is only for a leader that was seen.
func TestQuietOnlyBesideALeader(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(k *task)
		code  int
		says  string
	}{
		{"somebody leads", func(k *task) { k.store.Lead("other", time.Hour) }, 0, `"other"`},
		{"somebody leads, and then nothing is answered", func(k *task) {
			k.store.Lead("other", time.Hour)
			time.AfterFunc(time.Second, func() { k.store.FailNext(1000, errNet) })
		}, 0, `"other"`},
		{"no entry", func(k *task) { k.store.PlantRaw([]byte("hello")) }, 78, "bad entry"},
		{"no entry, and then nothing is answered", func(k *task) {
			k.store.PlantRaw([]byte("hello"))
			time.AfterFunc(time.Second, func() { k.store.FailNext(1000, errNet) })
		}, 78, "bad entry"},
		{"deleted, maybe under a leader", func(k *task) {
			k.store.Lead("other", time.Hour)
			time.AfterFunc(time.Second, k.store.Delete)
		}, 75, ""},
	} {
		for _, slot := range []schedule.Slot{{}, schedule.Named("x")} {
			t.Run(c.name+" "+slot.String(), func(t *testing.T) {
				bubble(t, func(t *testing.T, store *memory.Decider) {
					k := newTask(store, "a")
					k.Election.WaitAtMost, k.Slot, k.LeaveQuietly = 20*time.Second, slot, true
					c.setup(k)
					k.start(returns(errors.New("the work was done")))
					says := c.says
					if says == "" {
						says = "not free yet"
					}
					k.want(t, c.code, says)
				})
			})
		}
	}
}

// A slot of an empty name or the zero time is a mistake, and not a task without a slot,
// of which every one would work.
func TestInvalidSlotIsAConfigError(t *testing.T) {
	for _, slot := range []schedule.Slot{
		schedule.Named(""), schedule.At(time.Time{}), schedule.Every(0, nil), schedule.Named("\xff"),
	} {
		bubble(t, func(t *testing.T, store *memory.Decider) {
			k := newTask(store, "a")
			k.Slot = slot
			k.start(returns(errors.New("the work was done"))).want(t, 64, "slot")
		})
	}
}

// Whoever leaves with 0 without having worked says so, and warns where the slot is not
// known to be done.
func TestNotRunSaysWhy(t *testing.T) {
	fails := returns(errors.New("no paper"))
	for _, c := range []struct {
		name  string
		setup func(k *task)
		work  jobleader.Work // of the task before
		level string
		says  string
	}{
		{"done", func(k *task) {}, returns(nil), "INFO", "slot execution-1 was done before"},
		{"begun", func(k *task) { k.OnFailure = schedule.Skip }, fails, "WARN", "slot execution-1 was begun before"},
		{"begun, with a rest", func(k *task) {
			k.OnFailure, k.Rest = schedule.Skip, func(context.Context) error { return nil }
		}, fails, "WARN", "slot execution-1 was begun before"},
		{"begun, waited for", func(k *task) {
			k.OnFailure, k.Rest, k.LeaveQuietly = schedule.Skip, func(context.Context) error { return nil }, true
			k.Election.WaitAtMost = time.Minute
		}, fails, "WARN", "slot execution-1 was begun before"},
		{"stale", func(k *task) { k.Slot = schedule.At(time.Now().Add(-time.Hour)) }, returns(nil), "WARN", "is stale"},
		{"quietly", func(k *task) {
			k.Once, k.LeaveQuietly = true, true
			k.store.Lead("other", time.Hour)
		}, returns(nil), "INFO", `"other" leads`},
	} {
		for _, logger := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, store *memory.Decider) {
					first, k := newTask(store, "first"), newTask(store, "a")
					k.Slot = schedule.Named("execution-1")
					c.setup(k)
					first.Slot, first.OnFailure = k.Slot, k.OnFailure
					if c.name == "stale" {
						first.Slot = schedule.At(time.Now())
					}
					if c.name != "quietly" {
						<-first.start(c.work).done
					}
					var log bytes.Buffer
					if logger {
						k.Election.Logger = slog.New(slog.NewTextHandler(&log, nil))
						k.start(returns(errors.New("the work was done"))).want(t, 0, "")
						line := ""
						for l := range strings.Lines(log.String()) {
							if strings.Contains(l, "jobleader: not run") {
								line += l
							}
						}
						if strings.Count(line, "\n") != 1 || !strings.Contains(line, "level="+c.level) || !strings.Contains(line, strings.ReplaceAll(c.says, `"`, `\"`)) {
							t.Errorf("logged %q, want one line at %s with %q", line, c.level, c.says)
						}
						return
					}
					k.start(returns(errors.New("the work was done"))).want(t, 0, c.says)
					if out := k.stderr.String(); strings.Count(out, "\n") != 1 || strings.Contains(out, "warning: ") != (c.level == "WARN") {
						t.Errorf("printed %q, want one line", out)
					}
				})
			})
		}
	}
}

var _ core.RaceDecider = hangs{}

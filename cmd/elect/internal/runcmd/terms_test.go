package runcmd

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/memory"
)

// slow is a store whose clocks the test reads while a write is under way.
type slow struct {
	core.RaceDecider
	during func(e *entry.RaceEntry)
}

func (s slow) WriteEntry(ctx context.Context, e *entry.RaceEntry) (entry.LeaderToken, error) {
	s.during(e)
	return s.RaceDecider.WriteEntry(ctx, e)
}

// A term counts from before its write was sent, or it would end after the
// leadership that it stands for.
func TestTermsCountFromBeforeTheWrite(t *testing.T) {
	var d *dated
	noted := false
	d = &dated{RaceDecider: slow{memory.NewDecider(), func(e *entry.RaceEntry) { _, noted = d.when(e.Nonce) }}}
	l, err := core.Config{LeaderID: "x", Decider: d.decider()}.TryAcquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !noted {
		t.Error("nothing was noted when the write was sent")
	}
	if _, ok := d.when(l.Entry().Nonce); !ok {
		t.Error("the confirmed write's nonce is not known")
	}
	if err := l.Resign(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestDatedRemembersTheLatest(t *testing.T) {
	d := &dated{}
	for i := range 10 * keep {
		d.note(fmt.Sprint(i))
	}
	if _, ok := d.when(fmt.Sprint(10*keep - keep)); !ok || len(d.sent) != keep {
		t.Errorf("%d are remembered, want the last %d", len(d.sent), keep)
	}
}

func TestDatedKeepsTheLimit(t *testing.T) {
	limit := (&dated{RaceDecider: memory.NewDecider().Limited(time.Second)}).decider()
	if l, ok := limit.(core.WriteLimiter); !ok || l.MinWriteInterval() != time.Second {
		t.Error("the store's limit is hidden")
	}
	if _, ok := (&dated{RaceDecider: memory.NewDecider()}).decider().(core.WriteLimiter); ok {
		t.Error("a limit was made up")
	}
}

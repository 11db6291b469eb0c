package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cloudelect/cloudelect/functions/cmd/internal/rig"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// Lambda is the play of two sandboxes of one function.
type Lambda struct {
	Stores   *rig.Stores
	Emulator string // path of the runtime interface emulator
	Worker   string // path of the function
	Dir      string // for what the sandboxes need
	Election string // the variable STORE
	Say      func(format string, args ...any)
	// Term is the variable TERM_LENGTH: how long the play waits for it to be over, and
	// how long a machine may stand still at a bad moment; 0: 3 s.
	Term time.Duration

	names     map[string]string // LeaderID of a sandbox -> its name in this play
	slots     []string          // that must have a record by now
	sandboxes []*rig.Sandbox
}

// How long the work takes. Who is killed or frozen at work is at it for longer than
// the machine can need to do that: no play is won by being fast.
const (
	short   = 400 * time.Millisecond
	long    = 15 * time.Minute
	timeout = 10 * time.Minute // of the function
	margin  = time.Minute      // half of it is for the resignation
)

// Play runs all of it. An error says what was not as promised.
func (p *Lambda) Play(ctx context.Context) (err error) {
	p.names = map[string]string{}
	defer func() {
		for _, s := range p.sandboxes {
			s.Close()
			if err != nil {
				err = fmt.Errorf("%w\nsandbox %s printed %q", err, s.Name, s.Lines())
			}
		}
	}()
	a, err := p.sandbox(ctx, "A", short)
	if err != nil {
		return err
	}
	b, err := p.sandbox(ctx, "B", short)
	if err != nil {
		return err
	}
	// Slots of the past, so that no clock decides which one it is.
	first := time.Now().UTC().Truncate(time.Minute).Add(-10 * time.Minute)
	slot := func(n int) time.Time { return first.Add(time.Duration(n) * time.Minute) }

	if err := p.together(ctx, a, b, slot(0)); err != nil {
		return err
	}
	if err := p.duplicates(ctx, a, b, slot(0)); err != nil {
		return err
	}
	c, err := p.sandbox(ctx, "C", long)
	if err != nil {
		return err
	}
	if err := p.killed(ctx, c, b, slot(1)); err != nil {
		return err
	}
	d, err := p.sandbox(ctx, "D", long)
	if err != nil {
		return err
	}
	if err := p.frozen(ctx, d, b, slot(2), slot(3)); err != nil {
		return err
	}
	return p.late(ctx, d, slot(0))
}

// sandbox is a new one, whose work takes so long.
func (p *Lambda) sandbox(ctx context.Context, name string, work time.Duration) (*rig.Sandbox, error) {
	s, err := rig.StartSandbox(ctx, p.Emulator, p.Dir, name, p.Worker, timeout, append(slices.Clone(p.Stores.Env),
		"STORE="+p.Election, "TERM_LENGTH="+cmp.Or(p.Term, 3*time.Second).String(), "MARGIN="+margin.String(), "WORK_TIME="+work.String())...)
	if err == nil {
		p.sandboxes = append(p.sandboxes, s)
	}
	return s, err
}

// event is what EventBridge sends: the time is the schedule's, however late it comes.
func event(slot time.Time) string {
	return fmt.Sprintf(`{"source": "aws.events", "detail-type": "Scheduled Event", "time": %q}`, slot.Format(time.RFC3339))
}

type answered struct {
	rig.Answer
	err error
}

// invoke begins an invocation and returns where its answer will be.
func (p *Lambda) invoke(ctx context.Context, s *rig.Sandbox, slot time.Time) <-chan answered {
	ch := make(chan answered, 1)
	go func() {
		a, err := s.Invoke(ctx, event(slot))
		ch <- answered{a, err}
	}()
	return ch
}

// together: one slot, two sandboxes, at the same time.
func (p *Lambda) together(ctx context.Context, a, b *rig.Sandbox, slot time.Time) error {
	p.Say("the slot of %s is triggered twice, in sandboxes A and B at the same moment", clock(slot))
	one, two := p.invoke(ctx, a, slot), p.invoke(ctx, b, slot)
	ran := 0
	for _, s := range []struct {
		name string
		ch   <-chan answered
	}{{"A", one}, {"B", two}} {
		got := <-s.ch
		if got.err != nil {
			return got.err
		}
		p.names[got.By] = s.name
		p.Say("  %s: %s", s.name, p.told(got.Answer))
		if got.Outcome == "ran" {
			ran++
		}
	}
	if ran != 1 {
		return fmt.Errorf("stage: %d sandboxes say that they did the slot, want one", ran)
	}
	return p.judge(ctx, slot, "")
}

// duplicates: the same event again, at once.
func (p *Lambda) duplicates(ctx context.Context, a, b *rig.Sandbox, slot time.Time) error {
	p.Say("the same event comes again a millisecond later, in both")
	for name, s := range map[string]*rig.Sandbox{"A": a, "B": b} {
		time.Sleep(time.Millisecond)
		got, err := s.Invoke(ctx, event(slot))
		if err != nil {
			return err
		}
		p.Say("  %s: %s", name, p.told(got))
		if got.Outcome != schedule.Done.String() {
			return fmt.Errorf("stage: a duplicate in %s was answered with %s, want done", name, got.Text)
		}
	}
	return p.judge(ctx, time.Time{}, "")
}

// killed: the sandbox that works dies, and the other does the slot.
func (p *Lambda) killed(ctx context.Context, c, b *rig.Sandbox, slot time.Time) error {
	p.Say("the slot of %s is triggered in a new sandbox C, which is killed with SIGKILL at work", clock(slot))
	if _, err := p.begin(ctx, c, "C", slot); err != nil {
		return err
	}
	if err := c.Kill(); err != nil {
		return err
	}
	p.Say("  C is gone, the scheduler tries again in B")
	return p.takeOver(ctx, b, slot)
}

// frozen: the sandbox that works is frozen, and thaws when the other has done the
// next slot. Nobody else has done its own: only that it knows better, or the fence, can
// keep the record of it out.
func (p *Lambda) frozen(ctx context.Context, d, b *rig.Sandbox, slot, next time.Time) error {
	p.Say("the slot of %s is triggered in a new sandbox D, which is frozen with SIGSTOP at work", clock(slot))
	answer, err := p.begin(ctx, d, "D", slot)
	if err != nil {
		return err
	}
	if err := d.Freeze(); err != nil {
		return err
	}
	p.Say("  D stands still past its term; the next slot, %s, is triggered in B", clock(next))
	if err := p.takeOver(ctx, b, next); err != nil {
		return errors.Join(err, d.Thaw())
	}
	if err := d.Thaw(); err != nil {
		return err
	}
	got := <-answer
	if got.err != nil {
		return got.err
	}
	p.Say("  D thaws, and its invocation ends: %s", p.told(got.Answer))
	if got.Outcome == "ran" {
		return fmt.Errorf("stage: a sandbox that was frozen past its term says that it did the slot")
	}
	if err := p.judge(ctx, time.Time{}, ""); err != nil { // whatever it says: this is what counts
		return err
	}
	p.Say("  stored: nothing of %s, and nothing else has changed", clock(slot))
	return nil
}

// late: an event of the first slot that was under way for minutes.
func (p *Lambda) late(ctx context.Context, d *rig.Sandbox, slot time.Time) error {
	p.Say("an event of the slot of %s comes minutes late", clock(slot))
	got, err := d.Invoke(ctx, event(slot))
	if err != nil {
		return err
	}
	p.Say("  D: %s", p.told(got))
	if got.Outcome != schedule.Stale.String() {
		return fmt.Errorf("stage: a duplicate that comes after later slots was answered with %s, want stale", got.Text)
	}
	return p.judge(ctx, time.Time{}, "")
}

// begin triggers the slot in s and returns when s leads, which its entry says.
func (p *Lambda) begin(ctx context.Context, s *rig.Sandbox, name string, slot time.Time) (<-chan answered, error) {
	answer := p.invoke(ctx, s, slot)
	for { // whoever led before has resigned, or is known

		leader, err := p.Stores.Leader(ctx, p.Election)
		if err != nil {
			return nil, err
		}
		if leader != "" {
			p.names[leader] = name
			return answer, nil
		}
		select {
		case got := <-answer:
			return nil, errors.Join(fmt.Errorf("stage: %s was done with the slot before anything could happen to it: %s", name, got.Text), got.err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// takeOver triggers the slot in s until it is settled, as a scheduler does that
// tries again.
func (p *Lambda) takeOver(ctx context.Context, s *rig.Sandbox, slot time.Time) error {
	began, said := time.Now(), false
	for {
		got, err := s.Invoke(ctx, event(slot))
		if err != nil {
			return err
		}
		switch {
		case got.Outcome == "ran":
			p.names[got.By] = "B"
			p.Say("  B, %.1f s later: %s", time.Since(began).Seconds(), p.told(got))
			return p.judge(ctx, slot, got.By)
		case got.Outcome != schedule.Running.String():
			return fmt.Errorf("stage: B answered %s, want running until the term is over, then ran", got.Text)
		case !said:
			p.Say("  B: %s", p.told(got))
			said = true
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("stage: B does not get its turn: %w", context.Cause(ctx))
		}
	}
}

// judge looks at all records. slot is one that has been done since the last look,
// by is who must have done it, where that is certain.
func (p *Lambda) judge(ctx context.Context, slot time.Time, by string) error {
	if !slot.IsZero() {
		p.slots = append(p.slots, slot.Format(time.RFC3339Nano))
	}
	records, err := p.Stores.Records(ctx, p.Election)
	if err != nil {
		return err
	}
	var done []string
	last := int64(0)
	for _, r := range records {
		done = append(done, r.Slot)
		if r.FencingToken <= last {
			return fmt.Errorf("stage: fencing token %d was used twice: %+v", last, records)
		}
		last = r.FencingToken
	}
	if !slices.Equal(done, p.slots) {
		return fmt.Errorf("stage: there are records of the slots %q, want %q", done, p.slots)
	}
	if newest := records[len(records)-1]; by != "" && newest.LeaderID != by {
		return fmt.Errorf("stage: %s has the record of %s, want %s", newest.LeaderID, newest.Slot, by)
	}
	if !slot.IsZero() {
		newest := records[len(records)-1]
		p.Say("  stored: %s was done once, by %s, fencing token %d", clock(slot), p.name(newest.LeaderID), newest.FencingToken)
	}
	return nil
}

func (p *Lambda) name(leader string) string {
	if n := p.names[leader]; n != "" {
		return n
	}
	return leader
}

// told is an answer in words.
func (p *Lambda) told(a rig.Answer) string {
	switch a.Outcome {
	case "":
		return a.Text
	case schedule.Running.String():
		return fmt.Sprintf("%s (%s leads; ask again in %s)", a.Outcome, p.name(a.Leader), a.RetryAfter)
	}
	return a.Outcome
}

func clock(slot time.Time) string { return slot.Format("15:04") }

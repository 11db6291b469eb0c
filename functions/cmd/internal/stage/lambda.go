package stage

import (
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

	names map[string]string // LeaderID of a sandbox -> its name in this play
	slots []string          // that must have a record by now
}

// How long things take. Whatever waits for a term waits for its end, on any machine.
const (
	term     = 3 * time.Second
	workTime = 400 * time.Millisecond
	timeout  = 60 * time.Second
)

// Play runs all of it. An error says what was not as promised.
func (p *Lambda) Play(ctx context.Context) (err error) {
	p.names = map[string]string{}
	a, err := p.sandbox(ctx, "A")
	if err != nil {
		return err
	}
	defer func() { a.Close() }()
	b, err := p.sandbox(ctx, "B")
	if err != nil {
		return err
	}
	defer b.Close()
	// Slots of the past, so that no clock decides which one it is.
	first := time.Now().UTC().Truncate(time.Minute).Add(-10 * time.Minute)
	slot := func(n int) time.Time { return first.Add(time.Duration(n) * time.Minute) }
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nsandbox A printed %q\nsandbox B printed %q", err, a.Lines(), b.Lines())
		}
	}()

	if err := p.together(ctx, a, b, slot(0)); err != nil {
		return err
	}
	if err := p.duplicates(ctx, a, b, slot(0)); err != nil {
		return err
	}
	if err := p.killed(ctx, a, b, slot(1)); err != nil {
		return err
	}
	if a, err = p.sandbox(ctx, "C"); err != nil {
		return err
	}
	if err := p.frozen(ctx, a, b, slot(2), slot(3)); err != nil {
		return err
	}
	return p.late(ctx, a, slot(0))
}

func (p *Lambda) sandbox(ctx context.Context, name string) (*rig.Sandbox, error) {
	return rig.StartSandbox(ctx, p.Emulator, p.Dir, name, p.Worker, timeout, append(slices.Clone(p.Stores.Env),
		"STORE="+p.Election, "TERM_LENGTH="+term.String(), "WORK_TIME="+workTime.String())...)
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
func (p *Lambda) killed(ctx context.Context, a, b *rig.Sandbox, slot time.Time) error {
	p.Say("the slot of %s is triggered in A, which is killed with SIGKILL at work", clock(slot))
	if _, err := p.begin(ctx, a, "A", slot); err != nil {
		return err
	}
	if err := a.Kill(); err != nil {
		return err
	}
	p.Say("  A is gone, the scheduler tries again in B")
	return p.takeOver(ctx, b, slot)
}

// frozen: the sandbox that works is frozen, and thaws when the other has done the
// next slot. Nothing but the fence can then keep the first one's record out: nobody
// else has done that slot.
func (p *Lambda) frozen(ctx context.Context, c, b *rig.Sandbox, slot, next time.Time) error {
	p.Say("the slot of %s is triggered in a new sandbox C, which is frozen with SIGSTOP at work", clock(slot))
	answer, err := p.begin(ctx, c, "C", slot)
	if err != nil {
		return err
	}
	if err := c.Freeze(); err != nil {
		return err
	}
	p.Say("  C stands still past its term; the next slot, %s, is triggered in B", clock(next))
	if err := p.takeOver(ctx, b, next); err != nil {
		return errors.Join(err, c.Thaw())
	}
	if err := c.Thaw(); err != nil {
		return err
	}
	got := <-answer
	if got.err != nil {
		return got.err
	}
	p.Say("  C thaws, and its invocation ends: %s", p.told(got.Answer))
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
func (p *Lambda) late(ctx context.Context, c *rig.Sandbox, slot time.Time) error {
	p.Say("an event of the slot of %s comes minutes late", clock(slot))
	got, err := c.Invoke(ctx, event(slot))
	if err != nil {
		return err
	}
	p.Say("  C: %s", p.told(got))
	if got.Outcome != schedule.Stale.String() {
		return fmt.Errorf("stage: a duplicate that comes after later slots was answered with %s, want stale", got.Text)
	}
	return p.judge(ctx, time.Time{}, "")
}

// begin triggers the slot in s and returns when s leads, which its entry says.
func (p *Lambda) begin(ctx context.Context, s *rig.Sandbox, name string, slot time.Time) (<-chan answered, error) {
	answer := p.invoke(ctx, s, slot)
	before := ""
	for {
		leader, err := p.Stores.Leader(ctx, p.Election)
		if err != nil {
			return nil, err
		}
		if leader != "" && leader != before {
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

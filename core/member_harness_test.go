package core_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
	"github.com/cloudelect/cloudelect/core/skewclock"
)

// member is a host that takes part in an election by RunElection, and keeps the
// story of its callbacks.
type member struct {
	host   *host
	config core.LeaderElectionConfig
	work   func(ctx context.Context) // what it does while it leads; nil: wait for ctx

	mu      sync.Mutex
	stopped func() // in OnStoppedLeading; nil: nothing
	story   []string
	cause   error // why the context of its work ended
}

func (w *world) member(id string, opts *skewclock.Options) *member {
	h := w.host(id, opts)
	m := &member{host: h}
	m.config = core.LeaderElectionConfig{
		Name: "nightly", MemberID: id, LeaseDurationSeconds: int64(term / time.Second),
		HostPort: []string{id + ".example:7000"}, Clock: h.clock, OnEvent: h.note,
		Open: func(context.Context, string) (core.RaceDecider, error) { return h.door, nil },
		Callbacks: core.LeaderCallbacks{
			OnStartedLeading: m.started,
			OnStoppedLeading: m.stop,
			OnNewLeader:      func(id string) { m.tell("leader " + id) },
		},
	}
	return m
}

func (m *member) started(ctx context.Context) {
	m.tell("started")
	if m.work != nil {
		m.work(ctx)
		return
	}
	<-ctx.Done()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cause = context.Cause(ctx)
}

func (m *member) stop() {
	m.mu.Lock()
	stopped := m.stopped
	m.mu.Unlock()
	if stopped != nil {
		stopped()
	}
	m.tell("stopped")
}

func (m *member) tell(s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.story = append(m.story, s)
}

// heard is the story so far without the news of leaders; news is that alone.
func (m *member) heard() string { return m.tales(false) }
func (m *member) news() string  { return m.tales(true) }

func (m *member) tales(news bool) string {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []string
	for _, s := range m.story {
		if id, ok := strings.CutPrefix(s, "leader "); ok == news {
			found = append(found, strings.TrimPrefix(id, "leader "))
		}
	}
	return strings.Join(found, " ")
}

// wantStory fails the test unless the callbacks of leading were these.
func (m *member) wantStory(t *testing.T, want string) {
	t.Helper()
	if got := m.heard(); got != want {
		t.Errorf("%s heard %q, want %q", m.config.MemberID, got, want)
	}
}

func (m *member) wantNews(t *testing.T, want string) {
	t.Helper()
	if got := m.news(); got != want {
		t.Errorf("%s was told of the leaders %q, want %q", m.config.MemberID, got, want)
	}
}

// elect runs the election in the background, and fails the test if a callback
// runs after it has returned.
func (w *world) elect(t *testing.T, ctx context.Context, m *member) *election {
	e := &election{returned: make(chan struct{})}
	w.run(func() {
		e.err = core.RunElection(ctx, &m.config)
		e.at = time.Now()
		m.mu.Lock()
		told := len(m.story)
		m.mu.Unlock()
		close(e.returned)
		time.Sleep(10 * term)
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.story) != told {
			t.Errorf("%s: callbacks after RunElection has returned: %q", m.config.MemberID, m.story[told:])
		}
	})
	return e
}

// election is a RunElection under way.
type election struct {
	returned chan struct{}
	err      error
	at       time.Time
}

func (e *election) wait() error {
	<-e.returned
	return e.err
}

// running fails the test if RunElection has returned.
func (e *election) running(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case <-e.returned:
		t.Fatalf("RunElection returned %v", e.err)
	default:
	}
}

// wantOnly fails the test unless err Is all of want, and none of the other reasons.
func wantOnly(t *testing.T, err error, want ...error) {
	t.Helper()
	for _, reason := range []error{core.ErrLeadershipLost, core.ErrTermExpired, core.ErrNotResigned, core.ErrDuplicateMember,
		core.ErrBroken, core.ErrInvalidConfig, core.ErrBadEntry, core.ErrHeld, core.ErrResigned, context.Canceled} {
		if wanted := slices.Contains(want, reason); errors.Is(err, reason) != wanted {
			t.Errorf("the error is %v; that it is %q: %v, want %v", err, reason, !wanted, wanted)
		}
	}
	if err != nil && !strings.Contains(err.Error(), `election "nightly", member "`) {
		t.Errorf("%v does not name the election and the member", err)
	}
}

// prolong plants the next version of what is stored, as its leader would renew it.
func (w *world) prolong(t *testing.T, nonce string) entry.RaceEntry {
	e := w.stored(t)
	e.ElectionNumber++
	e.Nonce = nonce
	e.TermExpiry = time.Now().Add(e.TermLength)
	w.store.Plant(e)
	return e
}

package lambdaleader

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// Everything that is wrong is in one error, and nothing was sent.
func TestNewRefuses(t *testing.T) {
	store := memory.NewDecider()
	tests := map[string]struct {
		config core.Config
		opts   *Options
		says   []string
	}{
		"nothing":        {core.Config{}, nil, []string{"Decider"}},
		"core's faults":  {core.Config{Decider: store, TermLength: -1, LeaderID: "\xff"}, nil, []string{"TermLength", "LeaderID"}},
		"WaitAtMost":     {core.Config{Decider: store, WaitAtMost: time.Second}, nil, []string{"Options.Wait"}},
		"callbacks":      {core.Config{Decider: store, OnOusting: func(context.Context) {}}, nil, []string{"OnElected"}},
		"negative times": {core.Config{Decider: store, WaitAtMost: 1}, &Options{Margin: -1}, []string{"Margin", "Options.Wait"}},
		"no time left":   {core.Config{Decider: store}, &Options{Margin: 5 * time.Hour}, []string{"Margin is 5h0m0s", "15 min"}},
		"a little left":  {core.Config{Decider: store}, &Options{Margin: 5*time.Minute + 1}, []string{"Margin", "15 min"}},
	}
	for name, tt := range tests {
		l, err := New(tt.config, tt.opts)
		if l != nil || !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("%s: New = %v, %v", name, l, err)
			continue
		}
		for _, word := range tt.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not tell about %s", name, err, word)
			}
		}
	}
	if _, err := New(core.Config{Decider: store}, &Options{Margin: 5 * time.Minute}); err != nil {
		t.Errorf("a margin that can be met: %v", err)
	}
	if r, w := store.Requests(); r+w != 0 {
		t.Errorf("New sent %d requests", r+w)
	}
}

func TestWrapWithNothing(t *testing.T) {
	l, err := New(core.Config{Decider: memory.NewDecider()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	handle := func(context.Context, *core.Leadership, string) (string, error) { return "", nil }
	for _, wrapped := range []func(context.Context, string) (string, error){Wrap[string, string](l, nil), Wrap(nil, handle)} {
		if _, err := wrapped(context.Background(), ""); !errors.Is(err, core.ErrInvalidConfig) {
			t.Errorf("the error is %v", err)
		}
	}
}

// A snapshot that is taken after the initialisation holds no name: every sandbox
// that is started from it draws its own.
func TestNameIsDrawnInTheFirstInvocation(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("", settings{})
		if a.leader.id != "" {
			t.Fatalf("New has drawn the name %q", a.leader.id)
		}
		var first string
		a.handle = func(_ context.Context, l *core.Leadership, _ string) (string, error) {
			if first == "" {
				first = l.Entry().LeaderID
			}
			if id := l.Entry().LeaderID; id != first || id != a.leader.LeaderID() || id == "" {
				t.Errorf("leads as %q, then as %q", first, id)
			}
			return "done", nil
		}
		a.works()
		a.works()
	})
}

// What one invocation saw helps the next: a leader that crashed is found out by a
// warm sandbox although no clock but its own is believed.
func TestMemoryOutlivesTheInvocation(t *testing.T) {
	bubble(t, func(w *world) {
		w.store.Lead("crashed", 15*time.Second)
		warm := w.sandbox("warm", settings{config: core.Config{NoClockProof: true}})
		cold := w.sandbox("cold", settings{config: core.Config{NoClockProof: true}})
		warm.skips()
		warm.clock.FreezeMono()
		time.Sleep(time.Minute)
		warm.clock.ThawMono(false)
		warm.skips() // a frozen sandbox has not observed a whole term
		time.Sleep(16 * time.Second)
		cold.skips()
		warm.handle = func(_ context.Context, l *core.Leadership, _ string) (string, error) {
			if l.Proof() != core.ProofObserved {
				t.Errorf("elected by %v", l.Proof())
			}
			return "done", nil
		}
		w.costs("a warm take-over", 1, 2, warm.works)
	})
}

// A win whose answer was lost is found by reading back.
func TestWinWithALostAnswer(t *testing.T) {
	bubble(t, func(w *world) {
		a := w.sandbox("a", settings{faults: "write lose times=1"})
		w.costs("a win whose answer was lost", 2, 2, a.works)
	})
}

// The runtime takes what Wrap returns, and names FollowerError by its type.
func TestRuntimeTakesIt(t *testing.T) {
	type event struct{ Slot int }
	store := memory.NewDecider()
	l, err := New(core.Config{Decider: store}, &Options{FailFollowers: true})
	if err != nil {
		t.Fatal(err)
	}
	handler := lambda.NewHandler(Wrap(l, func(_ context.Context, _ *core.Leadership, in event) (map[string]int, error) {
		return map[string]int{"worked": in.Slot}, nil
	}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := handler.Invoke(ctx, []byte(`{"Slot": 7}`))
	var answer map[string]int
	if err != nil || json.Unmarshal(out, &answer) != nil || answer["worked"] != 7 {
		t.Errorf("Invoke = %s, %v", out, err)
	}
	store.Lead("somebody", time.Minute)
	if _, err = handler.Invoke(ctx, []byte(`{}`)); err == nil || reflect.TypeOf(err).Elem().Name() != "FollowerError" {
		t.Errorf("a follower's error is a %T", err)
	}
}

// A real SIGTERM, through the runtime's own option.
func TestSIGTERM(t *testing.T) {
	t.Setenv("AWS_LAMBDA_RUNTIME_API", "")
	defer signal.Reset(syscall.SIGTERM)
	store, resigned := memory.NewDecider(), make(chan struct{})
	l, err := New(core.Config{Decider: store, OnEvent: func(e core.Event) {
		if e.Kind == core.EventResigned {
			close(resigned)
		}
	}}, &Options{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	handler := lambda.NewHandlerWithOptions(Wrap(l, func(context.Context, *core.Leadership, string) (string, error) {
		return "", nil
	}), l.SIGTERM())
	if _, err := handler.Invoke(context.Background(), []byte(`"event"`)); err != nil {
		t.Fatal(err)
	}
	if e, _ := store.Stored(); e.Vacant() {
		t.Fatal("the leadership was not kept")
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-resigned
	if e, _ := store.Stored(); !e.Vacant() {
		t.Errorf("stored after SIGTERM: %+v", e)
	}
}

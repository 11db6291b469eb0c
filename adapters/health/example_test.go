package health_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/cloudelect/cloudelect/adapters/health"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
)

// A worker with probes: /livez for a restart that helps, /readyz for people.
func Example() {
	h, err := health.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/livez", h.LiveHandler())
	mux.Handle("/readyz", h.ReadyHandler())
	probe := func(path string) { // the platform does, of http.ListenAndServe
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Print(path, " ", answer.Code, " ", answer.Body)
	}
	probe("/livez")
	probe("/readyz")

	cfg := core.Config{LeaderID: "worker-1", Decider: memory.NewDecider(), OnEvent: h.OnEvent}
	err = cfg.RunAsLeader(context.Background(), func(ctx context.Context, l *core.Leadership) error {
		if err := l.Settle(ctx); err != nil { // until the events so far were heard
			return err
		}
		probe("/readyz")
		return nil
	})
	fmt.Println(err)
	// Output:
	// /livez 200 ok: starting
	// /readyz 503 starting: the store has not answered yet
	// /readyz 200 ok: leading
	// <nil>
}

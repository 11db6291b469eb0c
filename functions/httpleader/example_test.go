package httpleader_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/httpleader"
)

// A service whose replicas pass requests on to the leader.
func ExampleElection() {
	ctx, stop := context.WithCancel(context.Background()) // signal.NotifyContext in main
	defer stop()
	elected := make(chan struct{})
	e, err := httpleader.New(core.Config{
		LeaderID:  "replica-1",
		HostPort:  []string{"10.0.0.1:8080"}, // core.SelfHostPorts finds it
		Decider:   memory.NewDecider(),       // in production: s3decider.NewDecider
		OnElected: func(context.Context, *core.TimeView) { close(elected) },
	}, &httpleader.Options{Forward: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/", e.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l, _ := core.FromContext(r.Context())
		fmt.Fprintf(w, "served with fencing token %d\n", l.FencingToken())
	})))
	mux.Handle("/election", e.StateHandler())
	mux.Handle("/healthz", e.HealthHandler())

	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	<-elected
	for _, path := range []string{"/orders", "/healthz"} { // http.ListenAndServe in main
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		fmt.Print(answer.Code, " ", answer.Body)
	}
	stop()
	fmt.Println(<-done) // it has resigned
	// Output:
	// 200 served with fencing token 1
	// 200 ok: leading
	// context canceled
}

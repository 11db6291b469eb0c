package schedule_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/vimeo/go-clocks"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// A slot runs once, although it is triggered twice.
func ExampleConfig_Run() {
	slot, err := schedule.EventBridge([]byte(`{"time": "2026-03-01T03:00:00Z"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	nightly := schedule.Config{Election: core.Config{
		LeaderID: "worker-1",
		Decider:  memory.NewDecider(), // in production: dynamodecider.NewDecider
	}}
	for range 2 {
		res, err := nightly.Run(context.Background(), slot, func(ctx context.Context, r *schedule.Run) error {
			fmt.Println("the report of", r.Slot())
			return nil
		})
		fmt.Println(res.Outcome, err)
	}
	// Output:
	// the report of 2026-03-01T03:00:00Z
	// ran <nil>
	// done <nil>
}

// A service that Cloud Scheduler triggers.
func ExampleConfig_Handler() {
	nightly := schedule.Config{
		Election:  core.Config{LeaderID: "worker-1", Decider: memory.NewDecider()},
		OnFailure: schedule.Skip, // an e-mail: rather none than two
	}
	handler := nightly.Handler(func(r *http.Request) (schedule.Slot, error) {
		return schedule.CloudScheduler(r.Header)
	}, func(ctx context.Context, r *schedule.Run) error {
		fmt.Println("e-mail sent")
		return nil
	})

	for range 2 {
		trigger := httptest.NewRequest("POST", "/nightly", nil)
		trigger.Header.Set("X-CloudScheduler-ScheduleTime", "2026-03-01T03:00:00Z")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, trigger)
		fmt.Print(answer.Code, " ", answer.Body)
	}
	// Output:
	// e-mail sent
	// 200 slot 2026-03-01T03:00:00Z ran
	// 200 slot 2026-03-01T03:00:00Z was done before
}

// Without a slot in the trigger, the store's clock says which period it is.
func ExampleEvery() {
	store := memory.NewDecider()
	store.SetClock(clocks.DefaultClock()) // other deciders' stores have one
	daily := schedule.Config{Election: core.Config{LeaderID: "worker-1", Decider: store}}
	day := schedule.Every(24*time.Hour, nil)
	res, err := daily.Run(context.Background(), day, func(ctx context.Context, r *schedule.Run) error {
		last, done := r.Last()
		fmt.Println("the first time:", last.IsZero() && !done)
		return r.SetState([]byte("cursor"))
	})
	fmt.Println(res.Outcome, err)
	// Output:
	// the first time: true
	// ran <nil>
}

package jobleader_test

import (
	"context"
	"fmt"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/jobleader"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// The main function of a job that one process at a time may run.
func ExampleRun() {
	cfg := jobleader.Config{Election: core.Config{
		LeaderID: "job-1",
		Decider:  memory.NewDecider(), // in production: gcsdecider.NewDecider
	}}
	code := jobleader.Run(context.Background(), cfg, func(ctx context.Context, l *core.Leadership) error {
		fmt.Println("working with fencing token", l.FencingToken())
		return nil
	})
	fmt.Println("exit code", code) // in main: os.Exit(code)
	// Output:
	// working with fencing token 1
	// exit code 0
}

// Of the tasks of a job one prepares, and all of them do their share.
func ExampleRun_oneTaskOfMany() {
	store := memory.NewDecider()
	for task := range 3 { // on Cloud Run: at the same time, each in a container
		cfg := jobleader.Config{
			Election: core.Config{LeaderID: fmt.Sprint("task-", task), Decider: store},
			Slot:     schedule.Named("report-x7kq2"), // os.Getenv("CLOUD_RUN_EXECUTION")
			Rest: func(ctx context.Context) error {
				fmt.Println("share", task)
				return nil
			},
		}
		code := jobleader.Run(context.Background(), cfg, func(ctx context.Context, l *core.Leadership) error {
			fmt.Println("prepared by task", task)
			return nil
		})
		if code != 0 {
			fmt.Println("exit code", code)
		}
	}
	// Output:
	// prepared by task 0
	// share 0
	// share 1
	// share 2
}

package gocronleader_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/vimeo/go-clocks/fake"

	"github.com/cloudelect/cloudelect/adapters/gocronleader"
	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/schedule"
)

// Two instances, one job, and one run per hour.
func ExampleLocker() {
	store := memory.NewDecider()
	store.SetClock(fake.NewClock(time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC))) // other deciders' stores have a clock
	done := make(chan bool, 2)
	for _, name := range []string{"instance-1", "instance-2"} {
		locker, err := gocronleader.NewLocker(gocronleader.LockerConfig{
			Election: core.Config{LeaderID: name},
			// In production: gcsdecider.NewDecider(client, "my-bucket", "jobs/"+job, nil)
			Decider: func(job string) core.RaceDecider { return store.Handle() },
			Slot:    schedule.Every(time.Hour, nil),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		s, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer s.Shutdown()
		_, err = s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()), // CronJob("0 * * * *", false)
			locker.Task("report", func(ctx context.Context, r *schedule.Run) error {
				fmt.Println("the report is written")
				return nil
			}),
			gocron.WithName("report"),
			gocron.WithEventListeners(
				gocron.AfterJobRuns(func(uuid.UUID, string) { done <- true }),
				gocron.AfterLockError(func(uuid.UUID, string, error) { done <- false }),
			))
		if err != nil {
			fmt.Println(err)
			return
		}
		s.Start()
	}
	if first, second := <-done, <-done; first != second {
		fmt.Println("once")
	}
	// Output:
	// the report is written
	// once
}

// All jobs of the instance that leads.
func ExampleElector() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	elected := make(chan struct{})
	elector, err := gocronleader.NewElector(core.Config{
		LeaderID:  "instance-1",
		Decider:   memory.NewDecider(), // in production: s3decider.NewDecider
		OnElected: func(context.Context, *core.TimeView) { close(elected) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	go func() { done <- elector.Run(ctx) }()
	<-elected

	s, err := gocron.NewScheduler(gocron.WithDistributedElector(elector))
	if err != nil {
		fmt.Println(err)
		return
	}
	ran := make(chan string)
	_, err = s.NewJob(gocron.OneTimeJob(gocron.OneTimeJobStartImmediately()),
		gocron.NewTask(func() { ran <- "the leader's job" }))
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Start()
	fmt.Println(<-ran)
	fmt.Println(s.Shutdown()) // first the jobs,
	cancel()                  // then the leadership
	fmt.Println(<-done)
	// Output:
	// the leader's job
	// <nil>
	// context canceled
}

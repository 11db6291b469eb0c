package k8slock_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"github.com/cloudelect/cloudelect/adapters/k8slock"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/gcsdecider"
)

// A program for client-go keeps everything but its lock.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctx = klog.NewContext(ctx, klog.Logger{}) // no log lines here

	// In production: gcsdecider.NewDecider(client, "my-bucket", "elections/nightly", nil)
	lock, err := k8slock.New(memory.NewDecider(), "pod-7f9c", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:            lock,
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				fmt.Println("leading with fencing token", lock.FencingToken())
				cancel() // the work is done: release the lease
			},
			OnStoppedLeading: func() { fmt.Println("stopped") },
		},
	})
	// Output:
	// leading with fencing token 1
	// stopped
}

// The whole program, over a bucket. Interrupted or terminated, it finishes the step that
// it is at, releases the lease and ends with the exit code 0.
func Example_cloudStorage() {
	// The first signal ends the work, and its end the election.
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := gcsdecider.NewClient(context.Background()) // the release needs it after the signal
	if err != nil {
		log.Fatal(err)
	}
	identity, err := os.Hostname() // a pod's name; on other hosts append something random
	if err != nil {
		log.Fatal(err)
	}
	lock, err := k8slock.New(gcsdecider.NewDecider(client, "my-bucket", "elections/nightly", nil), identity, nil)
	if err != nil {
		log.Fatal(err)
	}

	election, leave := context.WithCancel(context.Background())
	defer leave()
	var working sync.Mutex // held by the work
	context.AfterFunc(signals, func() {
		stop()         // a second signal kills
		working.Lock() // once the work is over; none begins after it
		leave()
	})
	leaderelection.RunOrDie(election, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true, // the next one leads at once: the work has to be over before leave is called
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				working.Lock()
				defer working.Unlock()
				token := lock.FencingToken()
				for signals.Err() == nil && leading.Err() == nil && lock.Check() == nil {
					log.Println("leading with fencing token", token) // one step of the work
					select {
					case <-signals.Done():
					case <-leading.Done():
					case <-time.After(time.Second):
					}
				}
			},
			OnStoppedLeading: func() { log.Println("stopped") }, // also where this one never led
			OnNewLeader:      func(identity string) { log.Println("the leader is", identity) },
		},
	})
	if signals.Err() == nil {
		log.Fatal("the lease was lost: start again")
	}
}

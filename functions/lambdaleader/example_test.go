package lambdaleader_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/memory"
	"github.com/cloudelect/cloudelect/functions/lambdaleader"
)

// What a user writes. In a function the last lines are one:
// lambda.Start(handler).
func Example() {
	store := memory.NewDecider() // in production: dynamodecider.NewDecider

	leader, err := lambdaleader.New(core.Config{Decider: store}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := lambdaleader.Wrap(leader, func(ctx context.Context, l *core.Leadership, night string) (string, error) {
		return fmt.Sprintf("report for %s, fencing token %d", night, l.FencingToken()), nil
	})

	fmt.Println(handler(context.Background(), "Monday"))
	store.Lead("another sandbox", time.Minute)
	out, err := handler(context.Background(), "Tuesday")
	fmt.Printf("%q %v\n", out, err) // skipped
	// Output:
	// report for Monday, fencing token 1 <nil>
	// "" <nil>
}

// The leadership stays with the sandbox: a warm invocation sends nothing.
func ExampleOptions_keep() {
	store := memory.NewDecider()

	leader, err := lambdaleader.New(core.Config{Decider: store}, &lambdaleader.Options{Keep: true})
	if err != nil {
		log.Fatal(err)
	}
	handler := lambdaleader.Wrap(leader, func(ctx context.Context, l *core.Leadership, in string) (string, error) {
		return in, l.Check()
	})
	// lambda.StartWithOptions(handler, leader.SIGTERM())

	for _, call := range []string{"cold", "warm", "warm"} {
		out, err := handler(context.Background(), call)
		reads, writes := store.Requests()
		fmt.Println(out, err, "requests so far:", reads+writes)
	}
	fmt.Println(leader.Shutdown(context.Background())) // what SIGTERM does
	// Output:
	// cold <nil> requests so far: 2
	// warm <nil> requests so far: 2
	// warm <nil> requests so far: 2
	// <nil>
}

// A follower answers for itself: here it says who leads.
func ExampleWrapOr() {
	store := memory.NewDecider()
	store.Lead("another sandbox", time.Minute)

	leader, err := lambdaleader.New(core.Config{Decider: store}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := lambdaleader.WrapOr(leader,
		func(ctx context.Context, l *core.Leadership, in string) (string, error) { return "done", nil },
		func(ctx context.Context, in string, held *core.HeldError) (string, error) {
			return "led by " + held.Current.LeaderID, nil
		})
	fmt.Println(handler(context.Background(), "Monday"))
	// Output: led by another sandbox <nil>
}

// Package lambdaleader lets an AWS Lambda handler run only while its sandbox
// leads an election, so that of all sandboxes one does the work.
//
//	leader, err := lambdaleader.New(core.Config{Decider: store}, nil)
//	if err != nil {
//		log.Fatal(err)
//	}
//	lambda.Start(lambdaleader.Wrap(leader, func(ctx context.Context, l *core.Leadership, in Event) (Result, error) {
//		return work(ctx, l.FencingToken(), in)
//	}))
//
// Make one Leader per election, outside of the handler: it keeps what one
// invocation saw of the election (core.Memory) for the next. It may be shared
// by several handlers and by invocations that run at the same time; one of them
// at a time leads, the others are followers, as those in other sandboxes are.
//
// # An invocation
//
// It makes one attempt to be elected (one read, and one write where the election
// is free), or waits for its turn (Options.Wait). Then the handler runs, with the
// Leadership and with a context that ends with the leadership, and Options.Margin
// before the deadline of the invocation. When it has returned the leadership is
// resigned (one write). A follower's invocation is skipped or fails, as
// Options.FailFollowers says. A store that does not answer is an error, never a
// reason to skip.
//
// The term is chosen so that it ends at most Margin after the invocation's
// deadline, renewals included: a sandbox that is killed does not keep the others
// waiting. It is renewed, on a goroutine that ends before the handler's result
// is returned, only if it does not last until the handler has to be done.
//
// Nothing of this package runs between invocations: no goroutine, no timer, no
// request. The exception is what others wrote: a store call that ignores its
// context, and a hook of Config's (Logger, OnEvent, LeaderChanged) that is slow. The
// resignation waits for hooks, for up to a second; where a leadership is kept
// nobody does.
//
// # Keeping the leadership
//
// With Options.Keep the leadership stays with the sandbox. A warm invocation then
// costs no request, or one write if a third of the term has passed since the
// last one. Between invocations core's timer is pending, and that is all. A
// frozen sandbox does not renew: one that thaws after its term has ended finds
// out by both of its clocks, before the handler runs, and makes a new attempt.
// The price: a sandbox that is not called again leads until its term is over,
// and the rule about the deadline does not hold.
//
// # What the platform does
//
// A handler that ignores its context cannot be stopped. This package does not
// return while it runs; when the term is over the Leadership's Check and context
// say so; at the deadline Lambda ends the process, and the next leader waits for
// the end of the term. Let whatever the handler changes check the fencing
// token: core.Leadership.FencingToken.
//
// A handler that panics resigns, and goes on panicking: the runtime reports it
// and ends the process.
//
// Lambda ends an idle sandbox without a word, unless an extension is registered.
// Leader.SIGTERM is the option that does that, and resigns what is kept.
package lambdaleader

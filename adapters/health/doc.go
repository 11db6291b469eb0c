// Package health tells probes how a candidate of plain core is doing: one that
// campaigns with Campaign, Acquire, RunAsLeader or RunElection. A service that
// functions/httpleader serves has its own.
//
//	h, err := health.New(&health.Options{Term: cfg.TermLength})
//	...
//	cfg.OnEvent = h.OnEvent
//	mux.Handle("/readyz", h.ReadyHandler())
//	mux.Handle("/livez", h.LiveHandler())
//
// It asks no store: it keeps the book of what the election tells.
//
// # Ready and live
//
// Ready says whether the candidate can do its part: 200 on the leader that renews
// and on followers that hear from the store, alike. 503
//
//   - starting: before the store's first answer;
//   - leading, but the last confirmed renewal is older than Options.RenewTolerance:
//     somebody should look, while the leadership still lasts;
//   - without an answer from the store for longer than Options.Tolerance.
//
// Content in the store that is not an entry blocks every candidate and is no one's
// fault: all stay ready. The log and the metrics tell of it.
//
// Live says whether a restart could help. It fails only
//
//   - for a leader by its own book, whose term has been over for longer than Tolerance
//     and who was not told so: core's watchdog did not run;
//   - when a campaign has made no request, not even one that failed, for longer
//     than Tolerance after it should have: it hangs, or has returned.
//
// An outage of the store is no reason to restart: every candidate would, at the same
// time, and a leader would give its term away. So it is Ready that fails then, not Live.
//
// On Kubernetes give LiveHandler to livenessProbe and ReadyHandler to readinessProbe,
// or to an alert. A readinessProbe that fails takes the pod out of its Services; where
// followers serve too, and the work goes on without the store, probe something else.
// Do not give ReadyHandler to a livenessProbe or a startupProbe. On Cloud Run the
// startup probe must succeed before an instance gets requests: give it LiveHandler,
// and the liveness probe too. Route by who leads with httpleader or a gRPC resolver,
// never with readiness: a follower that is not ready is not there when it is elected.
//
// # For users of client-go
//
// Check and Name make a Health a HealthChecker of k8s.io/apiserver, as
// leaderelection.HealthzAdaptor is; Check is a Checker of controller-runtime
// (mgr.AddHealthzCheck("election", h.Check)). It is Live, as HealthzAdaptor's is:
// that one fails when the lease has been over for longer than its timeout, which
// here is Tolerance, and says nothing about followers; Live also finds a
// campaign that hangs. For AddReadyzCheck wrap Ready in a func(*http.Request) error.
package health

// Package httpleader serves HTTP from the leader only, behind a load balancer that
// knows nothing of elections.
//
// An Election is a candidate. Handler wraps what only the leader may serve:
// on the leader requests reach it, with a context that ends with the reign;
// elsewhere they are answered with 503 and the leader's address, or, with
// Options.Forward, passed on to the leader. StateHandler shows the election as
// JSON. HealthHandler is for probes that restart what is stuck.
//
// On the way out the order is kept: when a reign ends, requests under way have
// their contexts ended and are waited for, and only then is the election given
// up in the store. A handler that ignores its context holds that up, and the
// health check fails after a while.
//
// A request that was served while the reign ended may have been done beside the next
// leader's first ones: whatever must not happen twice is preceded by Leadership.Check
// or carries the fencing token (core.FromContext finds the Leadership).
package httpleader

// Package legrpc lets gRPC clients follow the leader of an election, and lets gRPC
// servers refuse calls while they do not lead.
//
// A client dials leaderelection:///NAME with a resolver from NewBuilder. What the
// election's store says is what its channel does:
//
//	the store says                        | the channel
//	--------------------------------------+------------------------------------------------
//	somebody leads                        | goes to the leader's HostPort: the addresses of
//	                                      | one endpoint, tried in their order
//	another leader, or another HostPort   | goes there, one poll later at most
//	a renewal                             | stays as it is
//	ConnectionParams are a service config | uses it (retries, timeouts, balancing)
//	ConnectionParams are anything else    | has its default service config; it is logged
//	nobody leads: vacant, held, deleted   | has no address; calls fail with "nobody leads".
//	                                      | The entry's service config is used, or the last
//	                                      | one stays, so a retry policy goes on
//	the term is over on the store's clock | the same, with "the term ... is over"
//	the leader's HostPort is of no use    | the same, with what is wrong with it
//	an error, or what is not an entry     | stays as it is until the term last seen is
//	                                      | over; then the same, with the error, until a
//	                                      | read works again
//	no new version for the whole term     | the same, with "... and nobody has followed"
//	no answer when the term is over       | the same, with "... and who leads now is not
//	                                      | known: no answer yet"
//
// NAME is percent-decoded: write %3F for a question mark, %23 for #, %25 for %, and
// %20 for a space (url.PathEscape does).
//
// The term of a version is over TermLength and a twentieth after the answer that
// first showed it, by the sum of the larger steps of this process's two clocks; or
// earlier, if that answer's Date says that part of the term had passed. The
// twentieth is the same as in core's proofs. The local wall clock alone ends
// nothing: a client whose clock is wrong still finds its leader.
//
// A call that fails because nobody leads has the code Unavailable. With
// waitForReady in the service config calls wait for the next leader instead, until
// their deadline; with a retryPolicy on UNAVAILABLE they survive a server's
// refusal. DefaultServiceConfig has both. A client gets it from the store, and so not
// before anybody has led: give it to clients as well, with
// grpc.WithDefaultServiceConfig(legrpc.DefaultServiceConfig), or their calls fail at once
// while nothing is stored.
//
// The errors above are those of calls under pick_first, which is the default,
// round_robin and least_request. Other balancing policies have texts of their own while
// there is no address ("no children to pick from"); the log has the reason.
//
// A call that has been sent stays with its server. Where that hangs, or its host is
// frozen or cut off, the channel goes on to the next leader but the call does not
// end before its own deadline: give every call one, and the channel
// grpc.WithKeepaliveParams (a Time of 10 s, as far as the servers' EnforcementPolicy
// lets it), which finds dead connections.
//
// A channel reads its election once per PollInterval, and once more when gRPC asks
// for it because a connection has broken: at most once per 100 ms. While somebody
// leads, a longer PollInterval is no reason to leave: a read is also due when half of the
// term has passed without one, and at each quarter after that; and when the host has
// slept for longer than the term. A channel that is idle (by default 30 minutes after
// its last call) reads nothing.
//
// # Servers
//
// An ex-leader that still runs is told of its loss by its own clocks, before anybody
// else can win, while clients may need a poll to see it. So the servers refuse
// by themselves: UnaryServerInterceptor and StreamServerInterceptor ask the
// Leadership before each call. A refusal has the code Unavailable and a detail that
// NotLeader finds: nothing was run, and the call may be sent again. The context of a
// call that was let in ends with the leadership, and a stream ends with it. That costs
// a few microseconds per call or message, a copy of what a stream sends, and no request.
//
// What such a call ends with is up to its handler. If that returns the context's error, its
// cause, or a status Canceled (wrapped or not), the client gets Aborted and
// LeadershipLost finds it. Any other error is the handler's own. A handler that returns
// nil after the loss has succeeded, as far as its client can tell: return
// context.Cause(ctx), or core.FromContext's Check, where that would be untrue.
//
// A check before a call cannot stop what the call does when the host is frozen in the
// middle of it. Pass the fencing token on to what the call writes to:
// core.FromContext finds the Leadership in the handler's context.
//
// # TLS
//
// The server's name that a channel verifies is the election's, not the host's: the
// host comes from the store, and whoever may write there must not choose which
// certificate is good. Give the candidates a certificate for a common name, and the
// channel that name with grpc.WithAuthority.
package legrpc

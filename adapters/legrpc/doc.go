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
//	                                      | The last service config stays, so a retry
//	                                      | policy goes on
//	the term is over on the store's clock | the same, with "the term ... is over"
//	the leader's HostPort is of no use    | the same, with what is wrong with it
//	an error, or what is not an entry     | stays as it is until the term last seen is
//	                                      | over; then the same, with the error
//	no new version for the whole term     | the same, with "the term ... is over"
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
// refusal. DefaultServiceConfig has both.
//
// A channel reads its election once per PollInterval, and once more when gRPC asks
// for it because a connection has broken: at most once per 100 ms. A channel that
// is idle (by default 30 minutes after its last call) reads nothing.
//
// # Servers
//
// An ex-leader that still runs is told of its loss by its own clocks, before anybody
// else can win, while clients may need a poll to see it. So the servers refuse
// by themselves: UnaryServerInterceptor and StreamServerInterceptor ask the
// Leadership before each call. A refusal has the code Unavailable and a detail that
// NotLeader finds: nothing was run, and the call may be sent again. The context of a
// call that was let in ends with the leadership, and a stream ends with it. That costs
// a few microseconds per call or message, and no request.
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

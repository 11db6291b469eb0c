// Package netfault does to HTTP requests what networks and services do on a bad
// day. It stands between a client and a store in one of two ways:
//
//	proxy, err := netfault.Listen(server.URL(), nil)          // a reverse proxy on a loopback port
//	transport, err := netfault.NewTransport(nil, nil)         // an http.RoundTripper in the client
//
// Both are an [Injector], which is told what to do and keeps count:
//
//	proxy.Inject(netfault.Fault{Kind: netfault.LoseAnswer, WritesOnly: true, Count: 1})
//	...
//	proxy.Requests() // every request since the start: what it met and what came of it
//
// For a random but repeatable mixture give it a [Schedule], which prints itself
// as one line that [Parse] reads back.
//
// A store whose own clock is wrong, or jumps, is not a fault of single requests: see
// [Injector.SetClock].
//
// What looks at AWS signatures before a service does is an [AWSGate]: it has a clock of its
// own, refuses requests whose signature is more than five minutes off it, or whose
// credentials have expired, and dates every answer. It goes below a [Transport].
//
// # What a fault means
//
// The faults that matter most come after the server has applied the request:
// [LoseAnswer], [StatusAfter], [HangAfter] and [DelayAfter] hold back or replace
// an answer that the server has given in full. [Status], [Reset] and [Hang] are
// for requests that the server never sees.
//
// A request that is on its way stays on its way: when a client gives up during
// [Delay], the request still reaches the server when the delay is over, as a
// packet in a slow network would. Only closing the injector stops it.
//
// Bodies are read in full, in both directions, before anything is passed on.
// Stores of small records do not notice; streams would.
//
// Go's HTTP client repeats a GET by itself when a connection that it has used
// before is cut without an answer. Such a repetition is a request like any other
// and is counted; writes with POST or PUT are not repeated.
package netfault

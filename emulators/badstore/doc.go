// Package badstore makes a good store bad: a reverse proxy in front of an
// emulator that breaks one promise and keeps the others. It shows whether a
// probe of a store can tell.
//
//	proxy, err := badstore.Listen(server.URL(), badstore.S3, badstore.IgnoreOverwrite)
//	...
//	defer proxy.Close()
//	// a client whose endpoint is proxy.URL(), and then
//	proxy.Requests() // what was asked for
//
// Each [Mistake] was seen in a real store, or in what people put before one.
// A proxy speaks one [Dialect]; requests that it does not understand pass as they
// are. Signatures are not renewed, so the store behind must not check them.
package badstore

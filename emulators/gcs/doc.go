// Package gcs runs Google Cloud Storage inside a test or a demo: the in-memory
// server of github.com/fsouza/fake-gcs-server on a loopback port.
//
//	server, err := gcs.Start(&gcs.Options{Buckets: []string{"elections"}})
//	...
//	defer server.Close()
//	client, err := storage.NewClient(ctx,
//		option.WithEndpoint(server.ClientEndpoint()), option.WithoutAuthentication())
//
// or, for a program that takes its endpoint from the environment, set
// STORAGE_EMULATOR_HOST to [Server.Endpoint].
//
// # What is added to the fake
//
//   - A listener of its own, so that answers carry a Date header as the
//     service's do, and so that reads through the XML API (the Go client's
//     default) find their bucket, whatever host name a proxy in front was called by.
//   - Writes, one at a time, never two in the same microsecond. The fake tests
//     a generation condition and stores the object under one lock, which is
//     right; but it takes the generation from the clock, and an overwrite
//     within the microsecond of the version it replaces keeps the number: a
//     second writer's condition on the old version would then hold as well. A clock
//     that was set back would bring old numbers back in the same way.
//   - Answers for what is missing that name what is missing, in the
//     service's words: a bucket ("The specified bucket does not exist.") or an
//     object ("No such object: bucket/object").
//
// # How it differs from the service
//
//   - Generation conditions are honoured on uploads only. Reads, deletes and
//     metadata updates ignore theirs.
//   - Nothing is denied, held, retained or throttled: no 401, 403 or 429, and no
//     limit of one write per second and object. Package netfault can answer
//     those.
//   - A failed condition has status 412 and reason "conditionNotMet" as it
//     should, but a message of the fake's.
//   - Generations follow this machine's clock, which must therefore be a real one:
//     not usable inside a testing/synctest bubble.
package gcs

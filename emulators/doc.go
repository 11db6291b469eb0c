// Package emulators is the root of the local stand-ins for the storage
// services: everything that tests and the demo need to run an election without
// an account, a network or a container.
//
//   - gcs, s3 and dynamodb are Google Cloud Storage, Amazon S3 and Amazon DynamoDB in
//     this process, behind loopback listeners.
//   - netfault stands between a client and any HTTP service and does what
//     services and networks do on a bad day: delays, throttling, lost answers,
//     wrong dates, signatures that are refused.
//   - badstore stands before one of the stores and breaks one promise of it, to
//     show that a probe can tell.
//
// Each store has a folder of its own beside these, and one call that starts it.
// None of them imports an election, a decider or an entry: a reading of a store
// that is wrong on both sides of the wire would cancel out and pass every test.
//
// Use them for tests and demonstrations only. They keep everything in memory,
// check no credentials and listen on loopback addresses only.
package emulators

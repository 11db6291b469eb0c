// Package worker is the Lambda function that the programs in functions/cmd/lambda-worker
// are: they differ in their store only.
//
// With MODE=slot, the default, an event runs once per slot: package schedule asks
// the store. With MODE=lead the sandbox that leads handles every event and keeps its
// leadership from one to the next: package lambdaleader. The work is to write a
// record of who did it, which a leader of the past cannot write: that is the place
// for your own work.
package worker

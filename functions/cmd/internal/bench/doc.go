// Package bench compares how long lambda-worker takes from the start of its process
// to the decision with a function that sends the same requests with nothing but the
// SDK: the programs in dynamodb and s3.
//
//	go test -run '^$' -bench Start -benchtime 1x ./functions/cmd/internal/bench
//
// The decision is the answer to the write that wins. What a function is told by
// comes from a Runtime API of the benchmark's own, which costs both the same.
package bench

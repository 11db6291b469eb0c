// Package bench compares what an election in S3 costs with what its requests cost:
// the program in decide takes an election with core and s3decider, the one in bare
// sends the same requests with nothing but the SDK.
//
//	go test -bench . -benchtime 1x ./s3decider/internal/bench
package bench

// Package bench compares what an election in DynamoDB costs with what its requests
// cost: the program in decide takes an election with core and dynamodecider, the
// one in bare sends the same requests with nothing but the SDK.
//
//	go test -bench . -benchtime 1x ./dynamodecider/internal/bench
//
// What a renewal costs in processor time is BenchmarkRenew of package dynamodecider.
package bench

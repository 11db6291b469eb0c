// Package mutants shows that the tests of the election can fail. It holds
// deliberate faults in the engine: each is a small patch of the shipped source,
// says what would go wrong in the world, and names what catches it: a number of
// simulated runs, a directed test, or both. The program in cmd compiles the tests
// with one patch at a time and demands that they fail for the stated reason, and
// that the same tests and the same seeds pass with the engine as it is.
//
// A patch is never applied to the tree. It goes into a copy of the one file, and
// the go command is told to read that copy instead (-overlay). Nothing that is
// built without that flag can contain one.
//
// The faults are the files testdata/*.mutant:
//
//	why: what goes wrong, in a sentence
//	test: core TestName
//	says: what the failed test's output must match (a regular expression)
//	sim: profile 200
//	says: two leaders
//
//	--- core/proof.go
//	text that is in that file exactly once
//	+++
//	what stands there instead
//
// A mutant has one or more of test and sim, each followed by its says, and every
// one of them has to catch it. sim is a profile of core/internal/sim and the
// number of seeds within which it must fail. There may be several patches, also of
// one file.
package mutants

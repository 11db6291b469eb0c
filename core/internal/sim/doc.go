// Package sim plays fleets of candidates against a store that does everything
// a store, a network and a host may do, and judges in true time whether what the
// election promises was kept (docs/SAFETY.md). It is a test that happens to need
// more than one file: nothing but tests uses it.
//
// One run is one seed. A seed and a profile make a Plan, which is a pure value
// (plan.go): who lives when, with which settings, on which clocks, and what goes
// wrong. The plan is played in a testing/synctest bubble (world.go), where hours
// take milliseconds. Whatever happens in a run happens at a nanosecond of its
// own (lane.go), so that a seed repeats exactly.
//
// The bubble's clock is the true time. Only the judge looks at it: candidates
// have skewclocks, and see nothing else.
package sim

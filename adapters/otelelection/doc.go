// Package otelelection turns the events of an election into OpenTelemetry metrics
// and spans. Give each candidate of each election a Recorder, and its OnEvent to
// core.Config.OnEvent:
//
//	r, err := otelelection.New(&otelelection.Options{Election: "nightly"})
//	...
//	defer r.Close()
//	cfg.OnEvent = r.OnEvent
//
// It uses OpenTelemetry's API only. Which SDK and exporter carry the data is the
// program's choice; without any, nothing is recorded.
//
// # Metrics
//
// All have the attribute election.name, election.candidate if Options has it, and
// those of Options.Attributes. No attribute holds what others wrote (names of other
// leaders, nonces, error texts), so their number is bounded.
//
//	name                         kind       unit           further attributes               meaning
//	election.leading             gauge      {leader}                                        1 while this candidate leads, otherwise 0
//	election.term.time_left      gauge      s                                               what is left of the term; 0 when not leading
//	election.term.length         gauge      s                                               the term of the latest reign; not reported before the first
//	election.clock.offset        gauge      s                                               by how much the wall clock is proved to be ahead of the store's (negative: behind)
//	election.reign.begun         counter    {reign}        election.proof                   wins
//	election.reign.ended         counter    {reign}        election.end_reason              ends of reigns: expired, lost, resigned, stopped (its context ended)
//	election.renewals            counter    {renewal}                                       confirmed renewals
//	election.request.duration    histogram  s              election.op, election.outcome    requests to the store, until their answer or until they were given up
//	election.request.failures    counter    {request}      election.op, election.outcome    requests that went wrong: see below
//	election.resignation.failures counter   {resignation}                                   resignations that the store did not confirm
//	election.entry.deletions     counter    {deletion}                                      an entry that was seen was gone
//	election.events.missed       counter    {event}                                         events that OnEvent was too slow for
//
// election.op is read, acquire, renew or resign; election.outcome is stored, lost,
// broken, unknown, read or bad-entry (core.Outcome); election.proof is vacant,
// reclaimed, store-time, observed or clock (core.Proof). A failure is every outcome
// but read and stored, and but lost of an acquire: to come second is no fault.
//
// Counters that have an alert begin at 0, so that their first increase shows as one:
// one candidate that wins and never fails has about 70 series in Prometheus, most of
// them of the histogram. An SDK merges what is beyond its limit, by default 2000 sets of
// attributes for each instrument: hundreds of elections in one process need
// sdk/metric.WithCardinalityLimit.
//
// The gauges are worked out when they are collected. The time left falls between
// renewals, from the sending of the last write that the store confirmed, by the wall
// clock or the monotonic one, whichever has moved further: as core reckons it, up to
// how often it looks. At 0 election.leading is 0 too, told or not. They show; they
// decide nothing: before whatever only a leader may do, ask core.Leadership.Check.
// A store that tells no time shows an offset of 0.
//
// OnEvent is as quick as the SDK. Metrics wait for nothing: exporters collect them. Spans
// do with an exporter in sdk/trace.WithSyncer, or sdk/trace.WithBlocking: use
// WithBatcher without it. Core calls OnEvent beside the election, so even one that
// blocks delays no renewal; after 1024 events that wait, later ones are missed.
//
// # Alerts
//
//	election.leading             the sum over all candidates is 0 for longer than two terms: nobody leads.
//	                             It is 2 for a moment where one process is scraped before and another after a change; for two scrapes in a row it is a fault
//	election.term.time_left      below a third of election.term.length while leading: two renewals are missing
//	election.clock.offset        beyond MaxClockSkew, either way
//	election.reign.begun         more than a few per hour: leadership wanders
//	election.reign.ended         expired or lost: each of them was an interruption
//	election.renewals            no increase for half a term while leading
//	election.request.duration    the 99th percentile of renew is above an eighth of the term: a request is given up at a quarter
//	election.request.failures    broken: only a person can help. bad-entry: the election is blocked. unknown: if it goes on for a term
//	election.resignation.failures if every deployment has one: the next leader waits a term each time
//	election.entry.deletions     any: a deleted entry can let a second leader in
//	election.events.missed       any: what the other metrics say is incomplete
//
// Prometheus has underscores for dots, and suffixes for units and counters:
// election_term_time_left_seconds, election_reign_begun_total. docs/grafana has a
// dashboard on these names.
//
// # Spans
//
// One for each request to the store, named after what it was for ("election renew"),
// of kind client, from its sending to its answer by the local wall clock, with
// election.name, election.candidate, election.op, election.outcome and, from a
// candidate's first win on, election.fencing_token: the latest one of its own. A
// failure has the status Error with the error's text, and error.type is the
// outcome. They have no parent: an election belongs to no request. A waiting candidate reads once per
// PollInterval, so a sampler may want to drop spans whose election.op is read; all
// attributes but the last are there when it is asked. For no spans at all set
// Options.TracerProvider to that of go.opentelemetry.io/otel/trace/noop.
package otelelection

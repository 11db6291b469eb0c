// Package gcsdecider keeps an election in one object of Google Cloud Storage.
//
//	client, err := gcsdecider.NewClient(ctx)
//	...
//	decider := gcsdecider.NewDecider(client, "my-bucket", "elections/nightly", nil)
//
// The object is JSON a person can read. It is created on the condition that it
// does not exist, and overwritten on the condition that its generation is still
// the one that was read; both conditions and reads after writes hold globally,
// in every kind of location ("Cloud Storage consistency", "Request preconditions").
//
// # What the bucket needs
//
//   - The permissions storage.objects.get, .create and .delete (an overwrite
//     deletes what was there), and .list, without which a missing object is
//     answered with 403 instead of 404: the role Storage Object User.
//     ("IAM permissions for JSON methods".)
//   - No retention policy, no object hold and no default event-based hold: they
//     forbid overwriting.
//   - Where object versioning or soft delete is on, every renewal leaves a
//     version behind: add a lifecycle rule that deletes noncurrent versions, and
//     set the soft delete duration to 0.
//   - Preferably no public access. Cloud Storage caches public objects; ours are
//     written with Cache-Control: no-store, which prevents it.
//
// [Decider.Probe] tries all of it on a scratch object.
//
// # Limits
//
// Cloud Storage accepts one write per second to one object name and answers
// more with 429 ("Quotas & limits", maximum rate of writes to the same object
// name). [Decider.MinWriteInterval] tells the election, which does not renew more often.
//
// # What an answer means
//
// After "HTTP status and error codes for JSON" in the Cloud Storage
// documentation. Unknown is everything that is not proved: the write may have
// been stored, a read has told nothing.
//
//	answer                                 read           create     overwrite
//	2xx                                    the entry      stored     stored
//	2xx without a generation               unknown        unknown    unknown
//	400 invalid, cloudKms..., UserProject  broken         broken     broken
//	400 about a checksum                   unknown        unknown    unknown
//	401 Anonymous caller, required         broken         broken     broken
//	401 authError                          unknown        unknown    unknown
//	403 forbidden, insufficientPermissions broken         broken     broken
//	403 retentionPolicyNotMet,
//	    objectUnderActiveHold              broken         broken     broken
//	403 accountDisabled, accessNotConfigured,
//	    VPC service controls               broken         broken     broken
//	403 rateLimitExceeded, quotaExceeded   unknown        unknown    unknown
//	404 the bucket                         broken         broken     broken
//	404 notFound, No such object           nothing there  broken     lost
//	404 without a word                     unknown        broken     unknown
//	405, 411, 413, 501                     broken         broken     broken
//	409                                    unknown        unknown    unknown
//	412 conditionNotMet                    unknown        lost       lost
//	412 by an organisation policy          broken         broken     broken
//	408, 429, 5xx, anything else           unknown        unknown    unknown
//	an HTML page in place of an answer     unknown        unknown    unknown
//	no answer: timeout, reset, DNS, TLS,
//	    no access token                    unknown        unknown    unknown
//
// The 412 of an organisation policy has the reason conditionNotMet too; only
// its message, "Request violates constraint", tells it from a lost race. A 401
// for a token that has expired passes when the token is renewed.
// The HTML page is somebody else's: a proxy, a captive portal, the wrong endpoint.
//
// The client must be one for HTTP: NewClient's, or storage.NewClient's. The
// latter reads through the XML API unless it was made with
// storage.WithJSONReads, and then keeps nothing of a 404: a missing bucket reads as
// a missing object, and the first write tells. Through a client of
// storage.NewGRPCClient every failure would be unknown.
//
// # Coming from vimeo/leaderelection
//
// That library keeps its elections in an object as well, as a protobuf message. A
// Decider reads such an entry, always: it respects the term in it, and proves it over
// only by what that library's own rules allow (observed and clock: see
// docs/adr/0018-vimeo-form.md). With Options.VimeoForm it also writes that message,
// with our own entry in a field that the library skips, so that candidates of
// both kinds can share one election. To replace one by the other without a stop:
//
//  1. Deploy ours with VimeoForm, on the same bucket and object, with the same
//     MaxClockSkew and a TermLength that is not shorter. Hosts can be replaced one
//     by one, in any order, and back again.
//  2. When none of the old ones is left, deploy ours without VimeoForm, again one by
//     one. From the first JSON entry on an old candidate that starts fails with an
//     error: it cannot lead beside ours, and it cannot lead at all.
//
// While both are there, clocks have to agree within MaxClockSkew, as that library
// demands. Its reigns have no fencing token and drop our Checkpoint.
package gcsdecider

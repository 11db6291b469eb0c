// Package s3decider keeps an election in one object of Amazon S3, or of a store
// that speaks its protocol and honours its conditions.
//
//	cfg, err := config.LoadDefaultConfig(ctx)
//	...
//	decider := s3decider.NewDecider(s3.NewFromConfig(cfg), "my-bucket", "elections/nightly", nil)
//
// The object is JSON a person can read. It is created with If-None-Match: *, and
// overwritten with If-Match and the ETag that was read, which is passed on as it came
// ("How to prevent object overwrites with conditional writes"). Reads follow writes
// ("Amazon S3 data consistency model").
//
// Not every store that calls itself S3 honours those conditions: some take them and
// store all the same, and then everybody leads. docs/PROVIDERS.md has a table; Probe
// finds out.
//
// # What the bucket needs
//
//   - The permissions s3:GetObject and s3:PutObject on the object, and s3:ListBucket
//     on the bucket, without which a missing object is answered with 403 in place of
//     404 ("GetObject", permissions). With a KMS key kms:GenerateDataKey and
//     kms:Decrypt; with Options.Tags s3:PutObjectTagging; to probe and to clean up
//     fenced objects s3:DeleteObject.
//   - Where versioning is on, every renewal leaves a version behind: add a lifecycle
//     rule that expires noncurrent versions.
//   - No default retention (Object Lock): it keeps every version of every renewal.
//     Such a bucket demands a checksum: Options.ChecksumAlgorithm.
//   - No cache before it. Objects are written with Cache-Control: no-store.
//
// # What an answer means
//
// After "Error responses" and "Add preconditions to S3 operations with conditional
// requests" in the Amazon S3 documentation. Unknown is everything that is not
// proved: the write may have been stored, a read has told nothing.
//
//	answer                                    read           create     overwrite
//	200                                       the entry      stored     stored
//	200 without an ETag                       broken [1]     unknown    unknown
//	301 PermanentRedirect,
//	    400 AuthorizationHeaderMalformed [2]  broken         broken     broken
//	400 ExpiredToken, TokenRefreshRequired    unknown        unknown    unknown
//	400 RequestTimeout, IncompleteBody,
//	    BadDigest, ...SHA256Mismatch          unknown        unknown    unknown
//	400 any other                             broken         broken     broken
//	401 with a code                           broken         broken     broken
//	403 RequestTimeTooSkewed, RequestExpired  unknown        unknown    unknown
//	403 SignatureDoesNotMatch, by a clock
//	    more than four minutes off [3]        unknown        unknown    unknown
//	403 any other [4]                         broken         broken     broken
//	404 NoSuchBucket                          broken         broken     broken
//	404 NoSuchKey                             nothing there  unknown    lost
//	404 with x-amz-delete-marker              nothing there
//	404 without a word                        unknown        broken     unknown
//	405, 411, 413, 501 NotImplemented         broken         broken     broken
//	409 ConditionalRequestConflict,
//	    OperationAborted                      unknown        unknown    unknown
//	412 PreconditionFailed                    unknown        lost       lost
//	429, 503 SlowDown, any status with a
//	    code of throttling or a rate limit    unknown        unknown    unknown
//	408, 5xx, anything else                   unknown        unknown    unknown
//	an HTML page in place of an answer        unknown        unknown    unknown
//	no answer: timeout, reset, DNS, TLS,
//	    no credentials                        unknown        unknown    unknown
//	not sent: no region, bad endpoint         broken         broken     broken
//
// [1] Unknown when the content is no entry: then it may be anybody's page.
// [2] The wrong region; the error names the right one where the answer does.
// [3] The SDK compares the answer's Date with its clock, remembers the difference
// for the client's next request, and marks the error: see its Clock Skew Correction.
// [4] Denied is never "nothing there": without s3:ListBucket a missing object is a 403.
//
// If-Match on a missing key is 404 on AWS and 412 elsewhere; both are lost. A
// delete marker counts as absent, for reads and for conditions.
//
// A 409 says that another request on the key was under way, not which of the two was
// stored. "Too skewed" and "expired" pass by themselves: the SDK signs the next
// request by the store's clock, and renews its credentials.
//
// Some stores accept one write per second to one key (R2): Options.MinWriteInterval.
//
// Writes are sent once, whatever the client's retry settings are. Towards endpoints
// other than AWS no checksum is added that the operation does not require.
//
// # Fenced objects
//
// [FencedObject] is content that a leader writes and that a leader of the past, which
// was frozen and thaws, cannot overwrite.
package s3decider

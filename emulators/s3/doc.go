// Package s3 runs Amazon S3 inside a test or a demo: the in-memory server of
// github.com/johannesboyne/gofakes3 on a loopback port.
//
//	server, err := s3.Start(&s3.Options{Buckets: []string{"elections"}})
//	...
//	defer server.Close()
//	client := s3.New(s3.Options{ // of the AWS SDK
//		BaseEndpoint: aws.String(server.URL()), UsePathStyle: true,
//		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
//	})
//
// or, for a program that takes its settings from the environment, set
// AWS_ENDPOINT_URL_S3 to [Server.URL]. Only path-style addresses work; a bucket is no host name here.
//
// # What is added to the fake
//
//   - A listener of its own, so that answers carry a Date header as the
//     service's do.
//   - Writes, one at a time. The fake tests a condition and stores the object
//     under one lock, which is right; what is tested in front of it must be under
//     the same lock.
//   - If-Match on a key that is not there is answered with 404 NoSuchKey, as the
//     service does ("Add preconditions to S3 operations with conditional
//     requests"); the fake says 412.
//
// # How it differs from the service
//
//   - Conditions are honoured on uploads only. Conditional reads and deletes are not:
//     a DELETE with If-Match deletes.
//   - Never a 409: writes that meet wait for each other.
//   - Plain HTTP only. An SDK that talks TLS sends its checksum as a trailer, and
//     the fake stores the trailer as content.
//   - ETags are the MD5 of the content, as of the service's unencrypted objects:
//     equal content has an equal ETag, and a stale If-Match can match again.
//   - Nothing is denied, throttled or signed wrongly: no 403, 429 or 503. Package
//     netfault can answer those.
//   - Server-side encryption, checksums, tags and storage classes are accepted and
//     nothing comes of them. Their headers are kept as metadata, and handed on to
//     the next version if that has none of its own.
package s3

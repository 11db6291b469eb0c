package s3decider

import (
	"context"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
)

// maxSize bounds an entry, in bytes, in both directions: what is larger is not
// written, and not read either. Entries have one or two thousand.
const maxSize = 256 << 10

// API is the part of *s3.Client that a Decider uses. Whatever implements it must
// heed the option functions: they switch the client's retries off for writes.
type API interface {
	GetObject(ctx context.Context, in *s3.GetObjectInput, optFns ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(ctx context.Context, in *s3.PutObjectInput, optFns ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Options are what may be chosen about a Decider. Nil, or the zero value, is
// right for most buckets. Where the store is, and whether it wants path-style
// addresses, are settings of the client (s3.Options.BaseEndpoint and UsePathStyle).
type Options struct {
	// KMSKeyID is the KMS key that encrypts the entry (SSE-KMS): a key ID, an
	// alias or an ARN. "": the bucket's default encryption. Writers need
	// kms:GenerateDataKey and kms:Decrypt on it, readers kms:Decrypt.
	KMSKeyID string
	// BucketKey asks for an S3 Bucket Key, so that not every renewal is a request
	// to KMS. It goes with KMSKeyID.
	BucketKey bool
	// StorageClass of the object; "": STANDARD, or the only one of a directory
	// bucket. A class with a minimum storage duration bills it for every renewal.
	StorageClass types.StorageClass
	// Tags are stored with every version. Writers then need s3:PutObjectTagging.
	Tags map[string]string
	// ExpectedBucketOwner is the account that must own the bucket; requests to
	// anybody else's are refused with 403. "": any.
	ExpectedBucketOwner string
	// ChecksumAlgorithm is sent with every write. "": the SDK's choice for AWS,
	// none for other endpoints, many of which refuse it. Buckets with Object Lock
	// demand one.
	ChecksumAlgorithm types.ChecksumAlgorithm
	// MinWriteInterval is what the method of this name returns: the time that the
	// store wants between two writes to one key. Cloudflare R2 wants a second
	// ("R2 limits"). 0: none, as with AWS. Negative is as good as 0.
	MinWriteInterval time.Duration
	// ProbeFirst makes the first WriteEntry probe the store (Probe) and refuse,
	// with an error that Is core.ErrBroken, to write to one that cannot carry an
	// election. Every write waits until there is a verdict, which takes longer than a
	// request may: it is for services, not for workers that live for seconds.
	ProbeFirst bool
}

// Decider is a core.RaceDecider on one object of S3 or of a store that speaks its
// protocol. It is safe for concurrent use and changes nothing about its client.
// Get one from NewDecider.
type Decider struct {
	client  API
	object  object
	opts    Options
	invalid error // what is wrong with the above: the answer to everything
	gate    probe.Gate
}

var (
	_ core.RaceDecider  = (*Decider)(nil)
	_ core.WriteLimiter = (*Decider)(nil)
)

// NewDecider returns a decider that keeps its election in s3://bucket/key. The
// bucket must exist, the object need not. An access point's ARN or alias serves as
// bucket. Options may be nil. It sends nothing; a parameter that cannot be right is
// reported by each method, as an error that Is core.ErrBroken and
// core.ErrInvalidConfig.
//
// Whether a store that only calls itself S3 honours conditions is not known until it
// was tried: see Probe, Options.ProbeFirst and docs/PROVIDERS.md.
func NewDecider(client API, bucket, key string, opts *Options) *Decider {
	d := &Decider{client: client, object: object{bucket, key}}
	if opts != nil {
		d.opts = *opts
		d.opts.Tags = maps.Clone(opts.Tags)
	}
	if err := validate(client, bucket, key, d.opts); err != nil {
		d.invalid = d.object.misuse("set up", err)
	}
	return d
}

// MinWriteInterval is the time to leave between two writes: what Options say, and
// never negative.
func (d *Decider) MinWriteInterval() time.Duration { return max(0, d.opts.MinWriteInterval) }

// String is the object's address, s3://bucket/key.
func (d *Decider) String() string { return d.object.String() }

// object is an address.
type object struct{ bucket, key string }

func (o object) String() string { return "s3://" + o.bucket + "/" + o.key }

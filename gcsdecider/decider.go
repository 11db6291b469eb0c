package gcsdecider

import (
	"maps"
	"time"

	"cloud.google.com/go/storage"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
)

// writeInterval is the time that Cloud Storage wants between two writes to the
// same object name: "one write per second", and 429 beyond ("Quotas & limits",
// https://cloud.google.com/storage/quotas#objects).
const writeInterval = time.Second

// maxSize bounds an entry, in bytes, in both directions: what is larger is not
// written, and not read either. Entries have one or two thousand.
const maxSize = 256 << 10

// Options are what may be chosen about a Decider. Nil, or the zero value, is
// right for most buckets.
type Options struct {
	// UserProject is the project that is billed for the requests; a
	// bucket with "requester pays" demands it. "": the bucket's own.
	UserProject string
	// KMSKeyName is the Cloud KMS key that encrypts the entry:
	// projects/P/locations/L/keyRings/R/cryptoKeys/K. "": the bucket's default.
	KMSKeyName string
	// StorageClass of the object; "": the bucket's default. "STANDARD" avoids
	// the early deletion fee for every renewal in a bucket of a colder class.
	StorageClass string
	// Metadata is stored with every version, for people and their tools.
	Metadata map[string]string
	// MinWriteInterval is what the method of this name returns. 0: the
	// second that Cloud Storage demands. Negative: none, for an emulator.
	MinWriteInterval time.Duration
	// ProbeFirst makes the first WriteEntry probe the store (Probe) and refuse,
	// with an error that Is core.ErrBroken, to write to one that cannot carry an
	// election. Every write waits until there is a verdict, which takes longer than a
	// request may: it is for services, not for workers that live for seconds.
	ProbeFirst bool
	// VimeoForm writes entries in the form of vimeo/leaderelection, which that
	// library's candidates understand, with all of our own in a field that they
	// skip. It is for the time of a migration only, when candidates of both kinds
	// are in one election: see the package comment. That library's candidates take
	// over up to half a term later than ours would.
	VimeoForm bool
}

// Decider is a core.RaceDecider on one object of Cloud Storage. It is safe for
// concurrent use and changes nothing about its client. Get one from NewDecider.
type Decider struct {
	client  *storage.Client
	bucket  string
	object  string
	opts    Options
	invalid error // what is wrong with the above: the answer to everything
	gate    probe.Gate
}

var (
	_ core.RaceDecider  = (*Decider)(nil)
	_ core.WriteLimiter = (*Decider)(nil)
)

// NewDecider returns a decider that keeps its election in gs://bucket/object.
// The bucket must exist, the object need not. Options may be nil. It sends
// nothing; a parameter that cannot be right is reported by each method, as an
// error that Is core.ErrBroken and core.ErrInvalidConfig.
//
// A client from NewClient lets the election judge terms by the store's own
// clock. With any other client, entry tokens have no StoreDate.
func NewDecider(client *storage.Client, bucket, object string, opts *Options) *Decider {
	d := &Decider{client: client, bucket: bucket, object: object}
	if opts != nil {
		d.opts = *opts
		d.opts.Metadata = maps.Clone(opts.Metadata)
	}
	if err := validate(client, bucket, object); err != nil {
		d.invalid = d.misuse("set up", err)
	}
	return d
}

// MinWriteInterval is the time to leave between two writes: one second, or what
// Options say; never negative.
func (d *Decider) MinWriteInterval() time.Duration {
	switch i := d.opts.MinWriteInterval; {
	case i == 0:
		return writeInterval
	case i < 0:
		return 0
	default:
		return i
	}
}

// String is the object's address, gs://bucket/object.
func (d *Decider) String() string { return "gs://" + d.bucket + "/" + d.object }

// handle returns a handle of its own for every call: an ObjectHandle's Retryer
// changes the handle it was called on as well.
func (d *Decider) handle() *storage.ObjectHandle {
	b := d.client.Bucket(d.bucket)
	if d.opts.UserProject != "" {
		b = b.UserProject(d.opts.UserProject)
	}
	return b.Object(d.object)
}

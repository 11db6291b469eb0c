package badstore

import "fmt"

// Mistake is the promise that is broken.
type Mistake int

// The mistakes.
const (
	// None passes everything on: the proxy keeps a record of it.
	None Mistake = iota
	// IgnoreCreate stores a creation whether or not something is there.
	IgnoreCreate
	// IgnoreOverwrite stores an overwrite whatever version is there.
	IgnoreOverwrite
	// KeepOld answers an overwrite with yes, and keeps what was there.
	KeepOld
	// DenyOverwrite forbids overwriting, and nothing else.
	DenyOverwrite
	// OmitVersion leaves out of every answer what versions are told apart by: ETags,
	// generations, all attributes but the key.
	OmitVersion
	// CacheReads answers every read as the first one of its record was answered.
	CacheReads
	// RacersWin is right as long as writers come one after the other. Of those that meet,
	// each is told that it has won, and the last one's bytes stay.
	RacersWin
)

var mistakeNames = [...]string{
	None: "none", IgnoreCreate: "ignore-create", IgnoreOverwrite: "ignore-overwrite", KeepOld: "keep-old", DenyOverwrite: "deny-overwrite",
	OmitVersion: "omit-version", CacheReads: "cache-reads", RacersWin: "racers-win",
}

// String is the mistake's name.
func (m Mistake) String() string {
	if !m.valid() {
		return fmt.Sprintf("mistake(%d)", int(m))
	}
	return mistakeNames[m]
}

func (m Mistake) valid() bool { return m >= None && m <= RacersWin }

// Mistakes are all of them but None.
func Mistakes() []Mistake {
	var all []Mistake
	for m := IgnoreCreate; m.valid(); m++ {
		all = append(all, m)
	}
	return all
}

// Dialect is what a store speaks.
type Dialect int

// The dialects.
const (
	// GCS is the JSON API of Google Cloud Storage, with ifGenerationMatch.
	GCS Dialect = iota + 1
	// S3 is Amazon's, with If-Match and If-None-Match, in path style.
	S3
	// DynamoDB is Amazon's JSON 1.0, with ConditionExpression on PutItem and UpdateItem.
	DynamoDB
)

// String is the dialect's name.
func (d Dialect) String() string {
	if d < GCS || d > DynamoDB {
		return fmt.Sprintf("dialect(%d)", int(d))
	}
	return [...]string{GCS: "gcs", S3: "s3", DynamoDB: "dynamodb"}[d]
}

// speech is what a dialect's words mean.
type speech interface {
	// understand says what a request is about.
	understand(m *message) call
	// unconditional takes the condition out of a write.
	unconditional(m *message)
	// refused reports whether an answer says that the condition did not hold.
	refused(a *answer) bool
	// yes is the answer to an overwrite that was stored.
	yes(c call, m *message) *answer
	// forbidden is the answer to one that is denied.
	forbidden(c call) *answer
	// omit takes the version out of an answer.
	omit(c call, a *answer)
}

func (d Dialect) speech() speech {
	switch d {
	case GCS:
		return gcs{}
	case S3:
		return s3{}
	case DynamoDB:
		return &dynamodb{}
	}
	return nil
}

// Kind is what a request does.
type Kind string

// The kinds of requests.
const (
	Read      Kind = "read"
	Create    Kind = "create"    // on the condition that nothing is there
	Overwrite Kind = "overwrite" // on the condition that a version is there
	Delete    Kind = "delete"
	Other     Kind = "other"
)

// call is a request as it is meant.
type call struct {
	kind Kind
	key  string // the object's name, the value of the partition key; "" if there is none
	when string // the condition of a write: racing ones have the same
}

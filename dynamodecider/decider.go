package dynamodecider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/probe"
)

// API is what a Decider asks of DynamoDB; *dynamodb.Client has it. The option
// functions must be passed on: the decider asks for a single attempt through them.
//
// Entries are written with UpdateItem and not with PutItem, which would throw
// away the attributes that others have put on the item.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Options are what may be chosen about a Decider. Nil, or the zero value, is right.
type Options struct {
	// ProbeFirst makes the first WriteEntry probe the store (Probe) and refuse,
	// with an error that Is core.ErrBroken, to write to one that cannot carry an
	// election. Every write waits until there is a verdict, which takes longer than a
	// request may: it is for services, not for workers that live for seconds.
	ProbeFirst bool
}

// Decider is a core.RaceDecider on one item of a DynamoDB table. It is safe for
// concurrent use and changes nothing about its client. Get one from NewDecider.
type Decider struct {
	client  API
	table   string
	name    string
	region  string // for messages; "" where the client does not tell
	opts    Options
	key     map[string]types.AttributeValue // shared by all requests, never changed
	invalid error                           // what is wrong with the above: the answer to everything
	gate    probe.Gate
}

var _ core.RaceDecider = (*Decider)(nil)

// NewDecider returns a decider that keeps the election of that name in a table,
// which CreateTable makes: its name, or its ARN. Any number of elections share
// a table. Options may be nil. NewDecider sends nothing; a parameter that cannot be
// right is reported by each method, as an error that Is core.ErrBroken and
// core.ErrInvalidConfig.
func NewDecider(client API, table, name string, opts *Options) *Decider {
	d := &Decider{client: client, table: table, name: name, key: keyOf(name)}
	if opts != nil {
		d.opts = *opts
	}
	if err := validate(client, table, name); err != nil {
		d.invalid = d.misuse("set up", err)
		return d
	}
	if c, ok := client.(*dynamodb.Client); ok {
		d.region = c.Options().Region
	}
	return d
}

// String is the election's address, dynamodb://table/name.
func (d *Decider) String() string { return "dynamodb://" + d.table + "/" + d.name }

// beside returns a decider for a record beside the election, for a probe. Its
// name is the election's followed by suffix.
func (d *Decider) beside(suffix string) *Decider {
	name := d.name + suffix
	if nameFault(name) != "" { // too long
		name = "cloudelect.scratch" + suffix
	}
	return NewDecider(d.client, d.table, name, nil)
}

// once keeps a call to one attempt, whatever the client's own policy is. A
// retry after a lost answer would turn our own success into a lost race.
func once(o *dynamodb.Options) { o.RetryMaxAttempts, o.Retryer = 1, unlimited{o.Retryer} }

// unlimited is a client's retryer without its limit on attempts: in adaptive mode
// that lets renewals wait for whatever else the client is used for.
type unlimited struct{ aws.Retryer }

// GetAttemptToken gives leave at once.
func (unlimited) GetAttemptToken(context.Context) (func(error) error, error) {
	return func(error) error { return nil }, nil
}

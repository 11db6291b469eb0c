package dynamodecider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
	"github.com/cloudelect/cloudelect/core/entry"
)

// ReadCurrent reads the item, consistently; see core.RaceDecider. The client
// repeats a request that failed for the moment, as its retry policy says. An
// item that is no entry is an error that Is core.ErrBadEntry and names the
// version for the operator who breaks it.
func (d *Decider) ReadCurrent(ctx context.Context) (*entry.RaceEntry, error) {
	if d.invalid != nil {
		return nil, d.invalid
	}
	if ctx.Err() != nil {
		return nil, d.ended(ctx, opRead, nil)
	}
	roomy()
	out, err := d.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &d.table,
		Key:            d.key,
		ConsistentRead: aws.Bool(true), // an older version would elect a second leader
	})
	if err == nil && out == nil {
		err = errNoAnswer
	}
	if err != nil {
		return nil, d.explain(ctx, opRead, err)
	}
	date, err := success(out.ResultMetadata)
	if err != nil {
		return nil, d.explain(ctx, opRead, err)
	}
	if len(out.Item) == 0 {
		return &entry.RaceEntry{ElectionNumber: entry.NoElections, Token: absentToken(date)}, nil
	}
	e, err := decode(out.Item)
	if err != nil {
		t := badToken(out.Item, date)
		return &entry.RaceEntry{Token: t}, d.bad(t, err)
	}
	e.Token = nonceToken(e.Nonce, date)
	return e, nil
}

// bad says that the stored item is no entry, and what to do about it.
func (d *Decider) bad(t *Token, err error) error {
	return &storeError{
		where: d.String(), what: "the item is not an entry", err: err,
		todo: adviceFor(d, t, err),
		is:   []error{core.ErrBadEntry},
	}
}

// adviceFor says what to do about content that is no entry. One of a newer format may
// be somebody's reign, so nothing is said there that would end it.
func adviceFor(d *Decider, t *Token, err error) string {
	if errors.Is(err, entry.ErrNewer) {
		return "update this program, and do not break the entry: a newer one has written it, and somebody may lead by it"
	}
	return fmt.Sprintf("look at it, and if nobody needs it: elect break --store %s --corrupt --version %s",
		shellWord(d.String()), shellWord(t.String()))
}

// shellWord is what a shell takes for this one word.
func shellWord(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

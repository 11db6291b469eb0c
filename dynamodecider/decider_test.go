package dynamodecider

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/cloudelect/cloudelect/core"
)

func TestNewDeciderFaults(t *testing.T) {
	var none *dynamodb.Client
	for _, c := range []struct {
		name        string
		client      API
		table, elec string
		says        []string
	}{
		{"nil client", nil, testTable, testName, []string{"there is no client"}},
		{"nil pointer", none, testTable, testName, []string{"there is no client"}},
		{"empty client", &dynamodb.Client{}, testTable, testName, []string{"there is no client"}},
		{"everything", nil, "", "", []string{"there is no client", `table name "" is empty`, `election name "" is empty`}},
		{"short table", silent{}, "ab", testName, []string{"3 to 255"}},
		{"long table", silent{}, strings.Repeat("a", 256), testName, []string{"3 to 255"}},
		{"odd table", silent{}, "my table", testName, []string{"letters, digits"}},
		{"a URL", silent{}, "dynamodb://table", testName, []string{"letters, digits"}},
		{"another ARN", silent{}, "arn:aws:s3:::bucket", testName, []string{"not a table's ARN"}},
		{"long name", silent{}, testTable, strings.Repeat("a", 2049), []string{"shorten it to 2048"}},
		{"name of bytes", silent{}, testTable, "\xff", []string{"not UTF-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := NewDecider(c.client, c.table, c.elec, nil)
			_, readErr := d.ReadCurrent(context.Background())
			_, writeErr := d.WriteEntry(context.Background(), sampleEntry(nil))
			_, fencedErr := d.WriteFenced(context.Background(), nil, nil, nil)
			for _, err := range []error{readErr, writeErr, fencedErr} {
				if !errors.Is(err, core.ErrBroken) || !errors.Is(err, core.ErrInvalidConfig) {
					t.Errorf("%v is not broken and a misuse", err)
				}
				for _, says := range c.says {
					if err != nil && !strings.Contains(err.Error(), says) {
						t.Errorf("%v does not mention %q", err, says)
					}
				}
			}
		})
	}
}

func TestGoodNames(t *testing.T) {
	for _, table := range []string{"abc", "A.b_c-9", "arn:aws:dynamodb:eu-west-1:123456789012:table/elections"} {
		for _, name := range []string{"x", "a/b c", "élection", strings.Repeat("a", 2048)} {
			if d := NewDecider(silent{}, table, name, &Options{}); d.invalid != nil {
				t.Errorf("%s, %.20s: %v", table, name, d.invalid)
			}
		}
	}
}

func TestBeside(t *testing.T) {
	s := newEmulator(t)
	ctx := context.Background()
	for _, name := range []string{testName, strings.Repeat("a", 2048)} {
		d := NewDecider(s.Client(s.client(t)), testTable, name, nil)
		scratch := d.beside(".probe-1")
		if scratch.name == d.name || !strings.HasSuffix(scratch.String(), ".probe-1") {
			t.Errorf("%.80s", scratch)
		}
		e, err := scratch.ReadCurrent(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scratch.WriteEntry(ctx, sampleEntry(e.Token)); err != nil {
			t.Error(err)
		}
		if e, err := d.ReadCurrent(ctx); err != nil || !e.Absent() {
			t.Errorf("the election itself: %+v, %v", e, err)
		}
	}
}

package stores_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
)

// FuzzParse: whatever is typed, Parse returns a location whose String means the same and
// can be pasted, or nothing and an error on one line that Is ErrURL.
func FuzzParse(f *testing.F) {
	for _, raw := range []string{"gs://bucket/object", "mem://x", "s3://b/k", "gs://bucket/o?x", "://", "GS://b/o", "gs://\xff/\n",
		"s3://bkt/k?region=a&endpoint=http://h:1&path-style=true", "s3://arn:aws:s3:r:1:accesspoint/x/k", "dynamodb://tab/e?endpoint=http%3A%2F%2Fh",
		"dynamodb://arn:aws:dynamodb:r:1:table/t/e"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		loc, err := stores.Parse(raw)
		if err != nil {
			if !errors.Is(err, stores.ErrURL) || strings.ContainsFunc(err.Error(), cannotPrint) || len(err.Error()) > 1500 {
				t.Errorf("Parse(%q): error %q is not one short line that a terminal shows", raw, err)
			}
			if loc != (stores.Location{}) {
				t.Errorf("Parse(%q) = %+v and an error", raw, loc)
			}
			return
		}
		again, err := stores.Parse(loc.String())
		if err != nil || again != loc {
			t.Errorf("Parse(%q) = %+v, but of its String %q Parse makes %+v, %v", raw, loc, loc, again, err)
		}
		if !strings.Contains(raw, "?") && loc.String() != raw {
			t.Errorf("Parse(%q) = %+v, which is %q", raw, loc, loc)
		}
		if strings.ContainsFunc(loc.String(), func(r rune) bool { return unicode.IsSpace(r) || cannotPrint(r) }) {
			t.Errorf("Parse(%q) is %q, which cannot be typed", raw, loc)
		}
		if loc.Name == "" || loc.Bucket == "" && loc.Table == "" && loc.Scheme != stores.SchemeMemory {
			t.Errorf("Parse(%q) = %+v", raw, loc)
		}
	})
}

func cannotPrint(r rune) bool { return !unicode.IsPrint(r) }

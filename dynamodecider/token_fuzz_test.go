package dynamodecider

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
)

// FuzzTokenFor: what an operator types is the name of one version, which the token
// bears as well, or an error on one line that Is ErrInvalidConfig.
func FuzzTokenFor(f *testing.F) {
	for _, version := range []string{"0", "nonce:n", "nonce:", "item:00", "", "nonce:0", "nonce:\xff"} {
		f.Add(version)
	}
	d := NewDecider(nil, "table", "election", nil)
	f.Fuzz(func(t *testing.T, version string) {
		token, err := d.TokenFor(version)
		if err != nil {
			if token != nil || !errors.Is(err, core.ErrInvalidConfig) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("TokenFor(%q) = %v, %v", version, token, err)
			}
			return
		}
		tok := token.(*Token)
		if again, err := d.TokenFor(tok.String()); err != nil || tok.String() != version || again.(*Token).condition != tok.condition || !reflect.DeepEqual(again.(*Token).values, tok.values) {
			t.Fatalf("TokenFor(%q) is %+v, whose name makes %+v, %v", version, tok, again, err)
		}
	})
}

package s3decider

import (
	"errors"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
)

// FuzzTokenFor: what an operator types is the name of one version, which the token
// bears as well, or an error on one line that Is ErrInvalidConfig.
func FuzzTokenFor(f *testing.F) {
	for _, version := range []string{"none", `"9a0364b9"`, `W/"1"`, "*", `"*"`, "", " ", "a\r\nX-Other: 1", "\"\x00\"", "ä"} {
		f.Add(version)
	}
	d := NewDecider(nil, "bucket", "key", nil)
	f.Fuzz(func(t *testing.T, version string) {
		token, err := d.TokenFor(version)
		if err != nil {
			if token != nil || !errors.Is(err, core.ErrInvalidConfig) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("TokenFor(%q) = %v, %v", version, token, err)
			}
			return
		}
		if again, err := d.TokenFor(token.(*Token).String()); err != nil || again.(*Token).ETag() != token.(*Token).ETag() {
			t.Fatalf("TokenFor(%q) is %q, whose name makes %v, %v", version, token, again, err)
		}
		if etag := token.(*Token).ETag(); etag != "" && (etag != version || etag == "*" || strings.ContainsAny(etag, "\r\n\x00")) {
			t.Fatalf("TokenFor(%q) has the ETag %q, which is another or no header's value", version, etag)
		}
	})
}

package gcsdecider

import (
	"errors"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/core"
)

// FuzzTokenFor: what an operator types is the name of one version, which the token
// bears as well, or an error on one line that Is ErrInvalidConfig.
func FuzzTokenFor(f *testing.F) {
	for _, version := range []string{"0", "12", "-1", "007", "9223372036854775807", "9223372036854775808", "+1", "1e3", " 1", "0x10", "1_000"} {
		f.Add(version)
	}
	d := NewDecider(nil, "bucket", "object", nil)
	f.Fuzz(func(t *testing.T, version string) {
		token, err := d.TokenFor(version)
		if err != nil {
			if token != nil || !errors.Is(err, core.ErrInvalidConfig) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("TokenFor(%q) = %v, %v", version, token, err)
			}
			return
		}
		g := token.(*Token).Generation()
		if again, err := d.TokenFor(token.(*Token).String()); err != nil || g < 0 || again.(*Token).Generation() != g {
			t.Fatalf("TokenFor(%q) is generation %d, whose name makes %v, %v", version, g, again, err)
		}
	})
}

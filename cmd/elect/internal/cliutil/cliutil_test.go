package cliutil_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/stores"
	"github.com/cloudelect/cloudelect/core"
)

// Scripts depend on these numbers.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		got, want int
	}{
		{cliutil.ExitOK, 0}, {cliutil.ExitFailed, 1}, {cliutil.ExitUsage, 64}, {cliutil.ExitUnavailable, 69},
		{cliutil.ExitInternal, 70}, {cliutil.ExitNotElected, 75}, {cliutil.ExitLost, 76}, {cliutil.ExitBroken, 78},
		{cliutil.ExitNotRunnable, 126}, {cliutil.ExitNotFound, 127}, {cliutil.ExitSignal, 128},
	} {
		if c.got != c.want {
			t.Errorf("exit code %d, want %d", c.got, c.want)
		}
		if c.want > 1 && !strings.Contains(cliutil.ExitCodes, fmt.Sprint("\n  ", c.want)) {
			t.Errorf("the help text does not tell of exit code %d", c.want)
		}
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{cliutil.Usage("x"), 64},
		{fmt.Errorf("around: %w", cliutil.Exit(70, "x")), 70},
		{&cliutil.ExitError{Code: 3}, 3},
		{fmt.Errorf("x: %w", stores.ErrURL), 64},
		{fmt.Errorf("x: %w", core.ErrInvalidConfig), 64},
		{errors.Join(core.ErrBroken, core.ErrInvalidConfig), 64},
		{core.ErrBroken, 78},
		{core.ErrBadEntry, 78},
		{&core.HeldError{}, 75},
		{core.ErrLeadershipLost, 76},
		{core.ErrTermExpired, 76},
		{context.Canceled, 130},
		{errors.New("503"), 69},
	} {
		if got := cliutil.CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestMessageIsOneLine(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{&cliutil.ExitError{Code: 3}, ""},
		{errors.Join(errors.New("a"), errors.New("b\r\n c")), "a; b; c"},
		{errors.New("a\tb \x1b[31mred\x07 \u202e \u009b ä"), `a b \x1b[31mred\a \u202e \u009b ä`},
	} {
		if got := cliutil.Message(c.err); got != c.want {
			t.Errorf("Message(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestName(t *testing.T) {
	long := strings.Repeat("ä", 81)
	for id, want := range map[string]string{
		"x": `"x"`, "": `""`, "\x1b[31mred\nx": `"\x1b[31mred\nx"`,
		long[2:]: `"` + long[2:] + `"`, long: `"` + long[2:] + `"...`,
	} {
		if got := cliutil.Name(id); got != want {
			t.Errorf("Name(%q) = %s, want %s", id, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	if v := cliutil.Version(); v == "" || strings.ContainsAny(v, " \n") {
		t.Errorf("version %q", v)
	}
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := cliutil.WriteJSON(&b, map[string]int{"a": 1}); err != nil || b.String() != "{\"a\":1}\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := cliutil.WriteJSON(&b, func() {}); err == nil {
		t.Error("a function is no JSON")
	}
}

func TestOpen(t *testing.T) {
	env := &cliutil.Env{Stores: new(stores.Opener)}
	for url, want := range map[string]int{"": 64, "gs://": 64, "mem://x": 0} {
		if _, err := env.Open(t.Context(), url); cliutil.CodeOf(err) != want {
			t.Errorf("Open(%q): %v, want exit code %d", url, err, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"gs://b/o": "gs://b/o", "": "''", "s3://b/k?region=x&endpoint=http://h": "'s3://b/k?region=x&endpoint=http://h'",
		`"9a0364b9"`: `'"9a0364b9"'`, "it's": `'it'\''s'`, "ä": "'ä'", "$(x)": "'$(x)'",
	} {
		if got := cliutil.ShellWord(text); got != want {
			t.Errorf("ShellWord(%q) = %s, want %s", text, got, want)
		}
	}
}

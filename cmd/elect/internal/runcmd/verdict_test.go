package runcmd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
	"github.com/cloudelect/cloudelect/core"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		out  outcome
		lost error
		want int
		says string
	}{
		{"done", outcome{}, nil, 0, ""},
		{"own status", outcome{status: 3}, nil, 3, ""},
		{"asked to end", outcome{status: 143, why: guard.ReasonAsked}, nil, 143, ""},
		{"asked, and lost meanwhile", outcome{status: 143, why: guard.ReasonAsked}, core.ErrLeadershipLost, 76, "lost"},
		{"lost", outcome{status: 143, why: guard.ReasonLost}, core.ErrLeadershipLost, 76, "gone before the term"},
		{"done after the loss", outcome{}, core.ErrLeadershipLost, 76, "lost"},
		{"done after the term", outcome{over: true}, core.ErrTermExpired, 76, "beside the next leader"},
		{"late", outcome{status: 137, why: guard.ReasonLate}, nil, 76, "gone before the term"},
		{"too late", outcome{status: 137, why: guard.ReasonLate, over: true}, nil, 76, "beside the next leader"},
		{"guard killed", outcome{status: 137, guard: true}, nil, 70, "guard"},
		{"not started", outcome{failed: &guard.Failure{Message: "exec format error"}}, nil, 126, "exec format error"},
		{"vanished", outcome{failed: &guard.Failure{Message: "no such file", Missing: true}}, nil, 127, "no such file"},
	} {
		err := c.out.verdict(c.lost, reasons{})
		if got := cliutil.CodeOf(err); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.want)
		}
		if msg := cliutil.Message(err); !strings.Contains(msg, c.says) || (c.says == "") != (msg == "") {
			t.Errorf("%s: %q, want something about %q", c.name, msg, c.says)
		}
	}
}

func TestExplain(t *testing.T) {
	var held core.HeldError
	held.Current.Nonce, held.Current.LeaderID = "n", "somebody"
	for _, c := range []struct {
		err  error
		want int
		says string
	}{
		{&held, 75, `"somebody" leads`},
		{fmt.Errorf("%w; the store's last answer: %w", &held, errors.New("503")), 75, `"somebody" leads`},
		{fmt.Errorf("%w; the store's last answer: %w", &core.HeldError{}, errors.New("no route")), 69, "no route"},
		{fmt.Errorf("%w; the store's last answer: %w", &core.HeldError{}, core.ErrBadEntry), 78, "bad entry"},
		{core.ErrBadEntry, 78, "bad entry"},
		{core.ErrBroken, 78, ""},
		{fmt.Errorf("%w: TermLength 1s is wrong", core.ErrInvalidConfig), 64, "--term 1s is wrong"},
		{errors.New("reset"), 69, "reset"},
	} {
		err := explain(c.err, nil)
		if got := cliutil.CodeOf(err); got != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: exit code %d, %v; want %d and %q", c.err, got, err, c.want, c.says)
		}
	}
}

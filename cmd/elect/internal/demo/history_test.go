package demo

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/fencedlog"
)

// checks are reports of Checks that passed, each in the time from - to.
func checks(h *history, w *process, token int64, fromTo ...int64) {
	for i := 0; i < len(fromTo); i += 2 {
		h.add(report{w, message{Kind: kindPassed, Token: token, Before: fromTo[i], After: fromTo[i+1]}})
	}
}

// Only what is proved by the samples counts as two leaders.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []int64
		want int
	}{
		{"one after the other", []int64{10, 11, 20, 21}, []int64{30, 31, 40, 41}, 0},
		{"two at once", []int64{10, 11, 30, 31}, []int64{20, 21, 40, 41}, 1},
		{"one inside the other", []int64{10, 11, 40, 41}, []int64{20, 21, 30, 31}, 1},
		{"a single check in between", []int64{10, 11, 30, 31}, []int64{20, 21}, 1},
		{"a late check of the first", []int64{10, 11, 20, 21, 45, 46}, []int64{30, 31, 60, 61}, 1},
		{"a check that took long may have passed before", []int64{10, 11, 20, 35}, []int64{30, 31, 40, 41}, 0},
		{"a check that took long may have passed after", []int64{10, 11, 20, 21}, []int64{15, 31, 40, 41}, 0},
		{"at the same reading", []int64{10, 11, 20, 21}, []int64{19, 20, 40, 41}, 0},
		{"two single checks prove nothing", []int64{10, 20}, []int64{11, 12}, 0},
		{"samples out of order", []int64{30, 31, 10, 11}, []int64{20, 21}, 1},
		{"no check has passed", nil, []int64{20, 21, 40, 41}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, two := new(process), new(process)
			for _, swap := range []bool{false, true} {
				var h history
				h.add(report{one, message{Kind: kindElected, Token: 1, At: 1}})
				h.add(report{two, message{Kind: kindElected, Token: 2, At: 2}})
				a, b := c.a, c.b
				if swap {
					a, b = b, a
				}
				checks(&h, one, 1, a...)
				checks(&h, two, 2, b...)
				if got := h.overlaps(); got != c.want {
					t.Errorf("swapped %v: %d overlaps, want %d", swap, got, c.want)
				}
			}
		})
	}
}

func TestTokensInTheOrderOfTheirReigns(t *testing.T) {
	for _, c := range []struct {
		tokens []int64 // in order
		rising bool
	}{
		{nil, true},
		{[]int64{5}, true},
		{[]int64{5, 6, 9}, true},
		{[]int64{5, 7, 6}, false},
		{[]int64{5, 5}, false},
	} {
		var h history
		for i := len(c.tokens) - 1; i >= 0; i-- { // reports of several processes come in any order
			h.add(report{new(process), message{Kind: kindElected, Token: c.tokens[i], At: int64(i + 1)}})
		}
		tokens, rising := h.tokens()
		if fmt.Sprint(tokens) != fmt.Sprint(c.tokens) || rising != c.rising {
			t.Errorf("tokens() = %v, %v; want %v, %v", tokens, rising, c.tokens, c.rising)
		}
	}
}

// Each of the three faults alone makes a demo fail.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		second int64 // the fencing token of the second reign
		at     int64 // when its checks passed
		lines  string
		sound  bool
	}{
		{"all is well", 2, 50, "1 1 2", true},
		{"an overlap", 2, 15, "1 1 2", false},
		{"a token that fell", 0, 50, "1 1", false},
		{"a late line that was accepted", 2, 50, "1 2 1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h history
			one, two := new(process), new(process)
			h.add(report{one, message{Kind: kindElected, Token: 1, At: 9}})
			checks(&h, one, 1, 10, 11, 20, 21)
			h.add(report{two, message{Kind: kindElected, Token: c.second, At: c.at}})
			checks(&h, two, c.second, c.at, c.at+1, c.at+10, c.at+11)
			r, sound, err := verdict(&h, plantedLog(t, c.lines), failover{1, 2, 3})
			if err != nil || sound != c.sound {
				t.Errorf("verdict: %+v, sound %v, %v; want sound %v", r, sound, err, c.sound)
			}
		})
	}
}

// What the workers tell and what the files show must not contradict each other.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		name  string
		told  kind
		lines string // of the log, in which nothing is refused
		says  string // "": no error
	}{
		{"a line that is there", kindWrote, "1", ""},
		{"a line that nobody told of", kindWrote, "1 1", ""},
		{"a line that is not there", kindWrote, "", "1 lines were written to the log, and it has only 0"},
		{"a refusal that was not noted", kindRefused, "1", "1 late lines were refused, and only 0 were noted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h history
			h.add(report{new(process), message{Kind: c.told, Token: 1}})
			_, _, err := verdict(&h, plantedLog(t, c.lines), failover{})
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("verdict: %v, want %q", err, c.says)
			}
		})
	}
}

// plantedLog is a log with lines that no fence has looked at.
func plantedLog(t *testing.T, tokens string) *fencedlog.Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	var text string
	var token string
	for rest := tokens; rest != ""; {
		token, rest, _ = cut(rest)
		text += time.Unix(0, 0).UTC().Format(time.RFC3339Nano) + " w " + token + "\n"
	}
	write(t, path, text)
	return fencedlog.New(path)
}

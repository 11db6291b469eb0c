package faultdecider_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/faultdecider"
)

func TestAPrintedPlanCanBePastedBack(t *testing.T) {
	plan := faultdecider.Plan{Seed: 1<<64 - 1, Faults: []faultdecider.Fault{
		{Op: faultdecider.Write, Kind: faultdecider.Lose, After: 1, Times: 2},
		{Op: faultdecider.Any, Kind: faultdecider.Delay, Probability: 0.1, For: 2*time.Second + 1},
		{Op: faultdecider.Read, Kind: faultdecider.Hang, Probability: math.Nextafter(0.3, 1)},
	}}
	const want = "seed=18446744073709551615; write lose after=1 times=2; any delay p=0.1 for=2.000000001s; read hang p=0.30000000000000004"
	if got := plan.String(); got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	got, err := faultdecider.Parse(plan.String())
	if err != nil || !reflect.DeepEqual(got, plan) {
		t.Errorf("Parse(%q) = %+v, %v", plan, got, err)
	}
	for _, empty := range []string{"", "seed=0", " seed=0 ; "} {
		if got, err := faultdecider.Parse(empty); err != nil || got.String() != "seed=0" {
			t.Errorf("Parse(%q) = %q, %v", empty, got, err)
		}
	}
}

func TestBadPlansAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"seed=-1":                   "not a number",
		"write":                     "no fault",
		"erase fail":                "none of any, read, write",
		"write explode":             "is unknown",
		"write fail maybe":          "want after=",
		"write fail after=x":        "cannot be read",
		"write fail after=-1":       "negative",
		"write fail p=1.1":          "from 0 to 1",
		"write fail p=NaN":          "from 0 to 1",
		"write delay":               "needs a time",
		"write late for=-1s":        "needs a time",
		"write fail for=1s":         "takes no time",
		"write fail; seed=2":        "no fault",
		"any hang times=1; x=3 y=4": "none of any",
	} {
		if _, err := faultdecider.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("seed=7; write lose after=1 times=2; any delay p=0.1 for=2s")
	f.Add("read hang")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := faultdecider.Parse(text)
		if err != nil {
			return
		}
		again, err := faultdecider.Parse(plan.String())
		if err != nil || again.String() != plan.String() {
			t.Errorf("%q prints as %q and is read back as %q, %v", text, plan, again, err)
		}
	})
}

package netfault_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/emulators/netfault"
)

func chances() []netfault.Chance {
	return []netfault.Chance{
		{P: 0.3, Fault: netfault.Fault{Kind: netfault.ShiftDate, For: -time.Second, PathContains: `/a "b;c" \`}},
		{P: 0.2, Fault: netfault.Fault{Kind: netfault.Status, Status: 503, WritesOnly: true}},
		{P: 1.0 / 3, Fault: netfault.Fault{Kind: netfault.LoseAnswer, Method: "PUT", PathContains: "/o", WritesOnly: true}},
		{P: 0.25, Fault: netfault.Fault{Kind: netfault.Duplicate}},
	}
}

func TestScheduleIsOneLineThatParses(t *testing.T) {
	s := &netfault.Schedule{Seed: math.MaxUint64, Chances: chances()}
	for k := netfault.Delay; k <= netfault.HangAfter; k++ {
		f := netfault.Fault{Kind: k}
		switch k {
		case netfault.Delay, netfault.DelayAfter, netfault.ShiftDate, netfault.AddAge:
			f.For = 1500 * time.Millisecond
		case netfault.Status, netfault.StatusAfter:
			f.Status = 429
		}
		s.Chances = append(s.Chances, netfault.Chance{P: 1e-7, Fault: f})
	}
	line := s.String()
	if strings.ContainsRune(line, '\n') {
		t.Errorf("more than one line: %q", line)
	}
	back, err := netfault.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if !reflect.DeepEqual(s, back) {
		t.Errorf("%s\nreads back as\n%s", line, back)
	}
	if _, err := netfault.Parse(`seed=7; 0.1 delay 250ms; 0.05 status 503 writes; 0.02 lose-answer method="POST" path="/o/"`); err != nil {
		t.Errorf("the documented line: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, line := range []string{
		"", "x", "seed=-1", "seed=1 2", "seed=1; 0.5", "seed=1; x reset", "seed=1; 0.5 nothing", "seed=1; 2 reset", "seed=1; NaN reset",
		"seed=1; 0.5 delay", "seed=1; 0.5 delay x", "seed=1; 0.5 status 700", "seed=1; 0.5 reset 5", "seed=1; 0.5 reset path=/o", `seed=1; 0.5 reset path="`,
		"seed=1; 0.5 reset times=3", "seed=1; 0.5 reset match=func",
	} {
		if s, err := netfault.Parse(line); err == nil {
			t.Errorf("%q was read as %s", line, s)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add((&netfault.Schedule{Seed: 7, Chances: chances()}).String())
	f.Add(`seed=1; 0.5 reset path="\`)
	f.Fuzz(func(t *testing.T, line string) {
		s, err := netfault.Parse(line)
		if err != nil {
			return
		}
		back, err := netfault.Parse(s.String())
		if err != nil || back.String() != s.String() {
			t.Errorf("%q prints as %q, which reads back as %v, %v", line, s, back, err)
		}
	})
}

// play sends the same 60 requests and tells what each met.
func play(t *testing.T, g *rig, s *netfault.Schedule) (met []string) {
	t.Helper()
	g.Reset()
	if err := g.SetSchedule(s); err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		g.put(fmt.Sprint(n))
	}
	for _, r := range g.Requests() {
		met = append(met, r.Fault)
	}
	return met
}

func TestSameSeedSameFaults(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		seven := &netfault.Schedule{Seed: 7, Chances: chances()}
		first := play(t, g, seven)
		pasted, err := netfault.Parse(seven.String())
		if err != nil {
			t.Fatal(err)
		}
		if again := play(t, g, pasted); !reflect.DeepEqual(first, again) {
			t.Errorf("%s\nmet %q\nand %q", seven, first, again)
		}
		if other := play(t, g, &netfault.Schedule{Seed: 8, Chances: chances()}); reflect.DeepEqual(first, other) {
			t.Error("another seed met the same faults")
		}
		all := strings.Join(first, ", ")
		for _, want := range []string{"status 503", "lose-answer", "duplicate"} {
			if !strings.Contains(all, want) {
				t.Errorf("60 requests met no %s: %s", want, all)
			}
		}
		if strings.Contains(all, "shift-date") {
			t.Errorf("a fault for another path was met: %s", all)
		}
		if none := play(t, g, nil); strings.Join(none, "") != "" {
			t.Errorf("without a schedule: %q", none)
		}
	})
}

// What the n-th request meets is its own: a fault that does not match some requests, or is
// injected beside the schedule, does not move the others.
func TestDrawsAreIndependent(t *testing.T) {
	both(t, func(t *testing.T, g *rig) {
		first := play(t, g, &netfault.Schedule{Seed: 7, Chances: chances()})
		less := chances()
		less[1].Fault.PathContains = "/elsewhere"
		second := play(t, g, &netfault.Schedule{Seed: 7, Chances: less})
		for n := range first {
			if strings.Contains(first[n], "duplicate") != strings.Contains(second[n], "duplicate") {
				t.Errorf("request %d met %q, then %q", n, first[n], second[n])
			}
		}
	})
}

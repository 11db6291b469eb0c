package sim

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudelect/cloudelect/core/timeline"
)

// drawing is what -sim.timeline does with a run.
func drawing(t *testing.T, profiles []Profile) func(*Result, Plan) error {
	t.Helper()
	if *drawTo == "" {
		return func(*Result, Plan) error { return nil }
	}
	path := *drawTo
	from, until, err := parseCut(*cut)
	switch ext := filepath.Ext(path); {
	case *oneSeed == 0 || len(profiles) != 1:
		t.Fatal("sim: -sim.timeline draws one run: give -sim.seed and one -sim.profile as well")
	case ext != ".svg" && ext != ".html":
		t.Fatalf("sim: -sim.timeline %s: give a file that ends in .svg or .html", path)
	case !filepath.IsAbs(path):
		t.Fatalf("sim: -sim.timeline %s: give an absolute path, like $PWD/%s: go test runs this in the folder of the package", path, path)
	case err != nil:
		t.Fatal(err)
	}
	if old, err := os.ReadFile(path); err == nil && len(old) > 0 && !timeline.IsPicture(old[:min(len(old), 4096)]) {
		t.Fatalf("sim: -sim.timeline %s: it is there and is no timeline: choose another name", path)
	}
	return func(r *Result, p Plan) error {
		c := r.Chart(p)
		switch {
		case until > 0:
			c.From, c.Until = from, until
		case len(r.Violations) > 0:
			at := r.Violations[0].At
			c.From, c.Until = max(at-4*p.Longest, 0), at+p.Longest
		}
		var b bytes.Buffer
		write := c.WriteSVG
		if strings.HasSuffix(path, ".html") {
			write = c.WriteHTML
		}
		if err := write(&b); err != nil {
			return err
		}
		t.Logf("drawn to %s", path)
		return os.WriteFile(path, b.Bytes(), 0o666)
	}
}

func parseCut(text string) (from, until time.Duration, err error) {
	if text == "" {
		return 0, 0, nil
	}
	a, b, _ := strings.Cut(text, ":")
	if from, err = time.ParseDuration(a); err == nil {
		until, err = time.ParseDuration(b)
	}
	if err != nil || from < 0 || until <= from {
		return 0, 0, fmt.Errorf("sim: -sim.cut %q: say from when until when, like 20s:65s", text)
	}
	return from, until, nil
}

// Every run can be drawn, and the picture has its reigns, proofs and faults.
func TestChart(t *testing.T) {
	for _, p := range Profiles() {
		plan := NewPlan(p, 3)
		r := play(t, plan)
		c := r.Chart(plan)
		var b bytes.Buffer
		if err := c.WriteSVG(&b); err != nil {
			t.Fatalf("profile %s: %v", p.Name, err)
		}
		if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
			t.Errorf("profile %s: %v", p.Name, err)
		}
		reigns, proofs, expired := 0, map[string]int{}, 0
		for _, row := range c.Rows {
			for _, g := range row.Reigns {
				reigns++
				proofs["proof "+g.Proof.String()]++
				if g.End == timeline.EndExpired {
					expired++
				}
			}
		}
		if reigns != r.Counts["reign"] || expired != r.Counts["end expired"] {
			t.Errorf("profile %s: %d reigns are drawn, %d expired, and there were %d and %d", p.Name, reigns, expired, r.Counts["reign"], r.Counts["end expired"])
		}
		for proof, n := range proofs {
			if n != r.Counts[proof] {
				t.Errorf("profile %s: %d times %s is drawn, and there were %d", p.Name, n, proof, r.Counts[proof])
			}
		}
	}
}

func TestParseCut(t *testing.T) {
	for _, bad := range []string{"x", "20s", "20s:", ":20s", "20s:10s", "-1s:2s", "1s:1s", "1:2"} {
		if _, _, err := parseCut(bad); err == nil {
			t.Errorf("-sim.cut %q is taken", bad)
		}
	}
	if from, until, err := parseCut("20s:1m5s"); from != 20*time.Second || until != 65*time.Second || err != nil {
		t.Errorf("%v, %v, %v", from, until, err)
	}
}

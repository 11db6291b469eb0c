package otelelection_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// dashboard is what matters here of Grafana's form.
type dashboard struct {
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Definition string }
	}
	Panels []struct {
		ID      int
		Title   string
		Type    string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ Expr, LegendFormat string }
	}
}

// names are the names that Prometheus has for what is recorded: those that a query
// may ask for, each with the metric that it belongs to, and the labels.
type names struct {
	metric map[string]string
	labels map[string]bool
}

// prometheusNames translates as OpenTelemetry's specification of the compatibility
// with Prometheus has it: underscores for dots, a suffix for the unit but not for one
// in braces, _total for counters, three names for a histogram.
func prometheusNames(t *testing.T) names {
	n := names{map[string]string{}, map[string]bool{"le": true, "instance": true}}
	for _, m := range everything(t) {
		name := strings.ReplaceAll(m.Name, ".", "_")
		switch {
		case m.Unit == "s":
			name += "_seconds"
		case !strings.HasPrefix(m.Unit, "{"):
			t.Errorf("%s: no rule for the unit %q", m.Name, m.Unit)
		}
		switch d := m.Data.(type) {
		case metricdata.Gauge[int64]:
			n.add(name, d.DataPoints[0].Attributes)
		case metricdata.Gauge[float64]:
			n.add(name, d.DataPoints[0].Attributes)
		case metricdata.Sum[int64]:
			n.add(name+"_total", d.DataPoints[0].Attributes)
		case metricdata.Histogram[float64]:
			n.add(name, d.DataPoints[0].Attributes, "_bucket", "_sum", "_count")
		}
	}
	return n
}

func (n *names) add(metric string, attrs attribute.Set, suffixes ...string) {
	if len(suffixes) == 0 {
		n.metric[metric] = metric
	}
	for _, s := range suffixes {
		n.metric[metric+s] = metric
	}
	for _, a := range attrs.ToSlice() {
		n.labels[strings.ReplaceAll(string(a.Key), ".", "_")] = true
	}
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"`)
	ours     = regexp.MustCompile(`\b(?:election_[a-z_]+|le|instance)\b`)
	selector = regexp.MustCompile(`(\w+)\{([^}]*)\}`)
	grouping = regexp.MustCompile(`(?:by|on) \(([^)]*)\)`)
	compared = regexp.MustCompile(`(\w+) *(?:=~|!=|=)`)
	shown    = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// check finds what a query asks for, and complains of what nobody records.
func (n *names) check(t *testing.T, where, query string) (metrics []string) {
	t.Helper()
	if strings.Count(query, "(") != strings.Count(query, ")") {
		t.Errorf("%s: parentheses of %s", where, query)
	}
	query = quoted.ReplaceAllString(query, `""`)
	var labels []string
	for _, m := range selector.FindAllStringSubmatch(query, -1) {
		if _, there := n.metric[m[1]]; !there {
			t.Errorf("%s asks for %s, which nobody records", where, m[1])
		}
		for _, c := range compared.FindAllStringSubmatch(m[2], -1) {
			labels = append(labels, c[1])
		}
	}
	for _, m := range grouping.FindAllStringSubmatch(query, -1) {
		labels = append(labels, strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")...)
	}
	for _, l := range labels {
		if !n.labels[l] {
			t.Errorf("%s uses the label %s, which nothing has", where, l)
		}
	}
	for _, w := range ours.FindAllString(query, -1) {
		if m, there := n.metric[w]; there {
			metrics = append(metrics, m)
		} else if !n.labels[w] {
			t.Errorf("%s names %s, which is no metric and no label", where, w)
		}
	}
	if len(metrics) == 0 {
		t.Errorf("%s asks for nothing: %s", where, query)
	}
	return metrics
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "grafana", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDashboard: the dashboard asks for what there is, and shows all of it.
func TestDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal(read(t, "election.json"), &d); err != nil {
		t.Fatal(err)
	}
	n := prometheusNames(t)
	missing := map[string]bool{}
	for _, m := range n.metric {
		missing[m] = true
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if v.Definition != "" {
			n.check(t, "the variable "+v.Name, v.Definition)
		}
	}
	if !slices.Equal(variables, []string{"datasource", "election"}) || d.SchemaVersion == 0 {
		t.Errorf("variables %q, schema version %d", variables, d.SchemaVersion)
	}
	ids := map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" || p.Type == "" || len(p.Targets) == 0 || p.GridPos.W == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q is not whole, or its number is taken", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, q := range p.Targets {
			for _, m := range n.check(t, p.Title, q.Expr) {
				delete(missing, m)
			}
			for _, l := range shown.FindAllStringSubmatch(q.LegendFormat, -1) {
				if !n.labels[l[1]] || !strings.Contains(q.Expr, l[1]) && strings.Contains(q.Expr, "by (") {
					t.Errorf("%s: the legend shows %s, which the answer does not have", p.Title, l[1])
				}
			}
			if !strings.Contains(q.Expr, `election_name=~"$election"`) {
				t.Errorf("%s heeds no choice of election: %s", p.Title, q.Expr)
			}
		}
	}
	for _, m := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no panel shows %s", m)
	}
}

// TestAlerts: those in the README ask for what there is, and there is one for each
// line of the package's documentation.
func TestAlerts(t *testing.T) {
	_, text, _ := strings.Cut(string(read(t, "README.md")), "```promql\n")
	text, _, _ = strings.Cut(text, "```")
	n := prometheusNames(t)
	missing := map[string]bool{}
	for _, m := range n.metric {
		missing[m] = true
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, m := range n.check(t, "an alert", line) {
			delete(missing, m)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no alert on %s", m)
	}
}

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table prints all results: what was expected, what was found, and how large the search was.
func table(out io.Writer, results []result, markdown bool) {
	fmt.Fprintln(out)
	head := []string{"run", "what", "expected", "result", "states", "depth", "MB", "seconds"}
	if markdown {
		fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
		for _, r := range results {
			fmt.Fprintf(out, "| %s |\n", strings.Join(row(r), " | "))
		}
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, r := range results {
		fmt.Fprintln(w, strings.Join(row(r), "\t"))
	}
	w.Flush()
}

func row(r result) []string {
	expected, result := "holds", "holds"
	if !r.passes() {
		expected, result = r.finds, "as expected"
	}
	if s := r.surprise(); s != "" {
		result, _, _ = strings.Cut("SURPRISE: "+s, "\n")
	}
	return []string{r.name, r.what, expected, result, fmt.Sprint(r.states), fmt.Sprint(r.depth),
		fmt.Sprintf("%.0f", r.megabytes), fmt.Sprintf("%.1f", r.seconds)}
}

// verdict is nil if nothing is a surprise.
func verdict(results []result) error {
	var bad []string
	for _, r := range results {
		if s := r.surprise(); s != "" {
			bad = append(bad, "model: "+r.name+": "+s)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s\nmodel: %d of %d runs are not as expected", strings.Join(bad, "\n"), len(bad), len(results))
	}
	return nil
}

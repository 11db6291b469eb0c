// Mutants breaks the engine on purpose, one fault at a time, and shows that the
// tests notice:
//
//	go run ./core/internal/mutants/cmd [-only NAMES] [-p N] [-v]
//
// It ends with 1 if a fault survives, does not build, or is noticed for another
// reason than the one stated. Run it inside the repository; it changes nothing there.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/cloudelect/cloudelect/core/internal/mutants"
)

func main() {
	only := flag.String("only", "", "try these mutants only (names with commas between them)")
	parallel := flag.Int("p", 2, "try this many at a time")
	verbose := flag.Bool("v", false, "print what the failed tests said")
	list := flag.Bool("list", false, "print the mutants as a Markdown table and try none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	chosen, err := choose(*only)
	switch {
	case err != nil:
	case *list:
		printList(chosen)
	default:
		err = try(ctx, chosen, max(*parallel, 1), *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// choose returns the mutants with these names; all for none.
func choose(only string) ([]mutants.Mutant, error) {
	all, err := mutants.All()
	if err != nil || only == "" {
		return all, err
	}
	var chosen []mutants.Mutant
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("mutants: there is no mutant %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// try shows first that the engine as it is passes, then that no mutant does.
func try(ctx context.Context, chosen []mutants.Mutant, parallel int, verbose bool) error {
	root, err := mutants.Root(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bench := &mutants.Bench{Root: root, Dir: dir}
	began := time.Now()
	if err := bench.Unchanged(ctx, chosen); err != nil {
		return err
	}
	fmt.Printf("the unchanged engine passes all of the tests and seeds below (%v)\n\n", time.Since(began).Round(100*time.Millisecond))

	results := make([]chan []mutants.Finding, len(chosen))
	slots := make(chan struct{}, parallel)
	for i := range chosen {
		results[i] = make(chan []mutants.Finding, 1)
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] <- bench.Try(ctx, chosen[i])
		}()
	}
	failed := 0
	fmt.Printf("%-35s %-44s %-17s %s\n", "mutant", "caught by", "within", "time")
	for i, m := range chosen {
		if !report(m, <-results[i], verbose) {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("mutants: %d of %d were not caught as stated", failed, len(chosen))
	}
	fmt.Printf("\n%d mutants, all caught, in %v\n", len(chosen), time.Since(began).Round(100*time.Millisecond))
	return nil
}

func report(m mutants.Mutant, found []mutants.Finding, verbose bool) (caught bool) {
	caught = true
	name := m.Name
	for _, f := range found {
		within := "one test"
		if f.Seeds > 0 {
			within = fmt.Sprintf("seed %d of %d", f.Seed, f.Seeds)
		}
		if f.Err != nil {
			caught = false
			within = "NOT CAUGHT"
		}
		fmt.Printf("%-35s %-44s %-17s %.1fs\n", name, f.Witness, within, f.Took.Seconds())
		if f.Err != nil {
			fmt.Printf("\t%v\n", f.Err)
		}
		if verbose || f.Err != nil {
			fmt.Printf("%s\n", strings.TrimRight(lastLines(f.Out, 40), "\n"))
		}
		name = ""
	}
	return caught
}

func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

// printList prints what docs/TESTING.md has about the mutants.
func printList(chosen []mutants.Mutant) {
	fmt.Println("| mutant | what goes wrong | caught by | within |\n|---|---|---|---|")
	for _, m := range chosen {
		var by, within []string
		for _, w := range m.Witnesses {
			if w.Seeds > 0 {
				by, within = append(by, w.String()), append(within, fmt.Sprintf("%d seeds", w.Seeds))
			} else {
				by, within = append(by, "`"+w.Test+"`"), append(within, "one test")
			}
		}
		fmt.Printf("| %s | %s | %s | %s |\n", m.Name, m.Why, strings.Join(by, ", "), strings.Join(within, ", "))
	}
}

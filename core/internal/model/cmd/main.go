// Command cmd checks the model of the election, ../election.pml, with spin: that the
// protocol keeps its claims in every state that the bounds allow, that each mutant of it
// breaks the claim that it should, and that nothing the claims are about is out of reach.
//
//	go run ./core/internal/model/cmd           # everything, some minutes
//	go run ./core/internal/model/cmd -quick    # what CI runs
//	go run ./core/internal/model/cmd -trail resign-before-end
//
// It needs spin and a C compiler. Any result that is not the expected one, a search
// that did not get to its end among them, makes it exit with 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := check(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	model    string
	quick    bool
	require  bool
	markdown bool
	only     string
	trail    string
	jobs     int
}

func check(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("model", flag.ContinueOnError)
	flags.StringVar(&o.model, "model", "core/internal/model/election.pml", "the model, relative to the current folder")
	flags.BoolVar(&o.quick, "quick", false, "leave out the searches that take more than a quarter of a minute")
	flags.BoolVar(&o.require, "require", false, "fail where spin or a C compiler is missing, instead of skipping")
	flags.BoolVar(&o.markdown, "markdown", false, "print the table in Markdown")
	flags.StringVar(&o.only, "only", "", "run only what has this in its name")
	flags.StringVar(&o.trail, "trail", "", "print the steps to the violation that the run of this name finds")
	flags.IntVar(&o.jobs, "j", runtime.NumCPU(), "how many searches at a time; each may take 6 GB")
	if err := flags.Parse(args); err != nil {
		return err
	}
	tools, err := findTools()
	if err != nil && !o.require {
		fmt.Fprintf(out, "model: skipped: %v\n", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	source, err := os.ReadFile(o.model)
	if err != nil {
		return fmt.Errorf("model: cannot read the model (run this from the top of the repository, or say -model): %w", err)
	}
	if o.trail != "" {
		return trail(ctx, tools, source, o.trail, out)
	}
	chosen := choose(runs(), o)
	if len(chosen) == 0 {
		return fmt.Errorf("model: no run has %q in its name; they are: %s", o.only, names(runs()))
	}
	results, err := runAll(ctx, tools, source, chosen, max(o.jobs, 1), out)
	if err != nil {
		return err
	}
	table(out, results, o.markdown)
	return verdict(results)
}

// findTools looks for spin and a C compiler.
func findTools() (tools, error) {
	spin, err := exec.LookPath("spin")
	if err != nil {
		return tools{}, errors.New("spin is missing; Debian and Ubuntu have it: apt-get install spin gcc libc6-dev")
	}
	for _, name := range []string{"cc", "gcc", "clang"} {
		if cc, err := exec.LookPath(name); err == nil {
			return tools{spin: spin, cc: cc}, nil
		}
	}
	return tools{}, errors.New("a C compiler is missing, spin needs one; Debian and Ubuntu: apt-get install gcc libc6-dev")
}

// choose returns the runs that the options ask for.
func choose(all []run, o options) []run {
	var chosen []run
	for _, r := range all {
		if (!r.long || !o.quick) && strings.Contains(r.name, o.only) {
			chosen = append(chosen, r)
		}
	}
	return chosen
}

// runAll runs them, the long ones first, and tells of each as it ends.
func runAll(ctx context.Context, t tools, source []byte, chosen []run, jobs int, out io.Writer) ([]result, error) {
	results := make([]result, len(chosen))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range jobs {
		wg.Go(func() {
			for i := range next {
				began := time.Now()
				results[i] = t.run(ctx, source, chosen[i])
				results[i].took = time.Since(began)
				mu.Lock()
				fmt.Fprintf(out, "model: %-28s %s\n", chosen[i].name, results[i].says())
				mu.Unlock()
			}
		})
	}
	for i := range chosen {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return results, ctx.Err()
}

// trail prints how a violation, or what a trap says cannot be reached, comes about.
func trail(ctx context.Context, t tools, source []byte, name string, out io.Writer) error {
	for _, r := range runs() {
		if r.name != name {
			continue
		}
		res := t.run(ctx, source, r)
		if res.fault != nil {
			return res.fault
		}
		if len(res.steps) == 0 {
			return fmt.Errorf("model: %s has no trail: the search found nothing", name)
		}
		fmt.Fprintf(out, "%s: %s\n\n", name, r.what)
		printSteps(out, res.steps)
		return nil
	}
	return fmt.Errorf("model: there is no run %q; those with a trail are: %s", name, names(runs()))
}

func names(all []run) string {
	var b []string
	for _, r := range all {
		b = append(b, r.name)
	}
	return strings.Join(b, " ")
}

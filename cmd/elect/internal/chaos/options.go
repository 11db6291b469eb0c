package chaos

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Options are what may be chosen about a run. The zero value of a number means its
// default.
type Options struct {
	// Elect is the program under test and its first arguments; Worker the program that
	// calls Worker with what is appended. Both are paths, not looked up.
	Elect, Worker []string
	// RightClocks: Elect was built without the tag chaos, so its clock cannot be wrong.
	RightClocks bool
	// Env is added to the environment of both.
	Env []string

	Seed       uint64
	For        time.Duration // how long things happen; 0: 20 min
	Elections  int           // dealt to the stores in turns; 0: 11
	Candidates int           // of each election; 0: 3
	Term       time.Duration // 0: 2 s
	Goals      Goals

	// Keep is a folder for what happened and what the processes said; "": one that is removed.
	Keep string
	// Progress gets a line every few seconds; nil: nobody wants to know.
	Progress io.Writer
}

// Goals are what must have been met for a run to count.
type Goals struct {
	Reigns   int  // seen
	EachEnds int  // reigns ended by each kind of ending
	EachAct  bool // every kind of fault was met
}

// UsualGoals are those that fit a run of that length.
func UsualGoals(d time.Duration) Goals {
	switch {
	case d >= 20*time.Minute:
		return Goals{Reigns: 2000, EachEnds: 200, EachAct: true}
	case d >= time.Minute:
		return Goals{Reigns: 20, EachEnds: 1, EachAct: true}
	}
	return Goals{}
}

func (o *Options) complete() error {
	defaults := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	defaults(&o.Elections, 11)
	defaults(&o.Candidates, 3)
	if o.For == 0 {
		o.For = 20 * time.Minute
	}
	if o.Term == 0 {
		o.Term = 2 * time.Second
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	switch {
	case len(o.Elect) == 0 || len(o.Worker) == 0:
		return errors.New("chaos: there is nothing to test: give the program elect and that of the workers")
	case o.Elections < 1 || o.Elections > 100:
		return fmt.Errorf("chaos: %d elections: give 1 to 100", o.Elections)
	case o.Candidates < 2 || o.Candidates > 10:
		return fmt.Errorf("chaos: %d candidates: give 2 to 10, so that one can follow another", o.Candidates)
	case o.Term < 2*time.Second:
		return fmt.Errorf("chaos: a term of %v: give 2s or more, Cloud Storage takes one write in a second", o.Term)
	case o.For < 0:
		return fmt.Errorf("chaos: for %v: give how long things are to happen, like 60s", o.For)
	}
	return nil
}

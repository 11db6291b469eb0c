package store

import (
	"fmt"

	"github.com/cloudelect/cloudelect/core"
)

// Broken makes an error that Is core.ErrBroken, without its words: nothing was asked
// of a store yet, or of an election.
func Broken(format string, args ...any) error { return broken{fmt.Errorf(format, args...)} }

type broken struct{ error }

func (e broken) Unwrap() error { return e.error }

func (broken) Is(target error) bool { return target == core.ErrBroken }

package statuscmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/cliutil"
)

// advice is how the deciders begin theirs.
const advice = ": look at it, and if nobody needs it: elect break "

// complete gives the command in a decider's advice the URL that was typed: a decider
// does not know the region and the endpoint in it, and without them the command may
// be about another store.
func complete(store, version, text string) string {
	what, _, ok := strings.Cut(text, advice)
	if !ok {
		return text
	}
	return what + advised(store, version)
}

func advised(store, version string) string {
	return fmt.Sprintf("%s--store %s --corrupt --version %s", advice, cliutil.ShellWord(store), cliutil.ShellWord(version))
}

// BadAdvice is the error for an entry that cannot be understood, with what to do. It
// has no command against an entry of a newer program: somebody may lead by it.
func BadAdvice(s State) error {
	text := s.Error
	if !strings.Contains(text, s.Store) && !strings.Contains(text, "decider: ") { // not all know how they were named
		text = s.Store + ": " + text
	}
	switch {
	case s.Newer && !strings.Contains(text, "do not break"):
		text += ": do not break it, somebody may lead by it"
	case !s.Newer && !strings.Contains(text, advice):
		text += advised(s.Store, s.Version)
	}
	return errors.New(text)
}

package runcmd

import (
	"time"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/guard"
)

// freezes are the times at which elect itself did not run, the latest ones.
type freezes []freeze

// freeze is one of them: how long it was, and what the clocks showed after it.
type freeze struct {
	lasted time.Duration
	thawed guard.Reading
}

// keptFreezes is how many are remembered: only those of the last term matter, and one
// that counts takes a tenth of it.
const keptFreezes = 32

func (f *freezes) note(lasted time.Duration, thawed guard.Reading) {
	if len(*f) == keptFreezes {
		copy(*f, (*f)[1:])
		*f = (*f)[:keptFreezes-1]
	}
	*f = append(*f, freeze{lasted, thawed})
}

// since is how long elect was frozen in all after sent was read: a write that was sent
// after a freeze shows that it has done no harm.
func (f freezes) since(sent guard.Reading) time.Duration {
	var sum time.Duration
	for _, one := range f {
		if one.thawed.Mono > sent.Mono {
			sum += one.lasted
		}
	}
	return sum
}

package memory

import (
	"time"

	"github.com/cloudelect/cloudelect/core"
)

// Limited is a Decider that tells its limit, like a store that accepts one
// write per object and second does.
type Limited struct{ *Decider }

var (
	_ core.RaceDecider  = (*Decider)(nil)
	_ core.WriteLimiter = Limited{}
)

// Limited sets the limit (SetLimit) and returns the decider as a
// core.WriteLimiter that tells it.
func (d *Decider) Limited(interval time.Duration) Limited {
	d.SetLimit(interval)
	return Limited{d}
}

// MinWriteInterval returns the limit that is set now.
func (l Limited) MinWriteInterval() time.Duration {
	if l.Decider == nil { // a zero Limited: Validate asks before anything else can complain
		return 0
	}
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
	return l.rec.limit
}

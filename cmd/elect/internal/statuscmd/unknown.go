package statuscmd

import (
	"fmt"
	"time"
)

// Unseen is what s has become when the store has not answered since: unknown. Only an
// answer can tell that a term is over, for leaders renew. The latest answer was ago;
// err says why none came since.
func (s State) Unseen(now time.Time, ago time.Duration, err error) State {
	until := ""
	if s.TimeLeftMS != nil {
		until = now.Add(time.Duration(*s.TimeLeftMS) * time.Millisecond).Format(time.TimeOnly)
	}
	switch s.State {
	case Leading:
		s.before = fmt.Sprintf("%s led with fencing token %d until about %s", Safe(s.LeaderID), *s.FencingToken, until)
		if s.Foreign != "" {
			s.before = fmt.Sprintf("%s led by an entry of %s until about %s", Safe(s.LeaderID), Safe(s.Foreign), until)
		}
	case Held:
		s.before = fmt.Sprintf("nobody led, held by %s with fencing token %d until about %s", Safe(s.LeaderID), *s.FencingToken, until)
	case Bad:
		s.before = "what was stored was not an entry"
	default:
		s.before = "nobody led"
	}
	s.State, s.TimeLeftMS, s.TimeLeftBy, s.Newer, s.Warning, s.ClockWarning = Unknown, nil, "", false, "", ""
	s.LastReadMS, s.Error = ms(ago), err.Error()
	return s
}

// NeverSeen is the state of a store that has not answered yet.
func NeverSeen(store string, err error) State {
	return State{Store: store, State: Unknown, Error: err.Error()}
}

func (s State) lastRead() string {
	if s.LastReadMS == nil {
		return "unknown: nothing could be read yet"
	}
	return fmt.Sprintf("unknown: last read %s ago", Seconds(time.Duration(*s.LastReadMS)*time.Millisecond))
}

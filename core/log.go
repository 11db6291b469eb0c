package core

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// line is what a person reads of one event. Messages are constant, so that logs
// can be searched and grouped by them: what differs is in the attributes. Those
// that several events have come first, always in the same order.
type line struct {
	text string
	// do says what to do about it, where anything can be done.
	do    string
	attrs []slog.Attr
}

// logEvent writes the line that a person wants to read, if l wants it.
func logEvent(l *slog.Logger, e Event) {
	ctx, level := context.Background(), levelOf(&e)
	if !l.Enabled(ctx, level) {
		return
	}
	n := describe(&e)
	attrs := append(make([]slog.Attr, 0, 12), slog.String("event", e.Kind.String()), slog.String("candidate", e.LeaderID))
	attrs = append(attrs, reignOf(&e)...)
	attrs = append(attrs, n.attrs...)
	var held *HeldError
	switch {
	case e.Kind == EventWaiting && errors.As(e.Err, &held) && held != nil:
		if held.RetryAfter != never {
			attrs = append(attrs, slog.Duration("free_in", readable(held.RetryAfter)))
		}
		attrs = append(attrs, slog.String("reason", held.Reason))
	case e.Err != nil:
		attrs = append(attrs, slog.String("error", e.Err.Error()))
	}
	if e.Missed > 0 {
		attrs = append(attrs, slog.Int("events_missed", e.Missed))
	}
	if n.do != "" {
		attrs = append(attrs, slog.String("do", n.do))
	}
	l.LogAttrs(ctx, level, "election: "+n.text, attrs...)
}

// levelOf sorts events: what belongs to routine is for debugging only, a warning
// heals by itself or is over, an error waits for a person.
func levelOf(e *Event) slog.Level {
	switch e.Kind {
	case EventWaiting, EventRenewed:
		return slog.LevelDebug
	case EventNotResigned, EventVanished, EventClockOffset, EventMissed:
		return slog.LevelWarn
	case EventBadEntry:
		return slog.LevelError
	case EventEnded:
		if errors.Is(e.Err, ErrTermExpired) || errors.Is(e.Err, ErrLeadershipLost) {
			return slog.LevelWarn
		}
	case EventRequest:
		switch e.Outcome {
		case OutcomeBroken:
			return slog.LevelError
		case OutcomeUnknown:
			return slog.LevelWarn
		}
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// reignOf names the reign that the event is about.
func reignOf(e *Event) []slog.Attr {
	switch e.Kind {
	case EventElected, EventRenewed, EventEnded, EventResigned, EventLeaderChanged, EventWaiting:
	default:
		return nil
	}
	var attrs []slog.Attr
	if !e.Entry.Vacant() {
		attrs = append(attrs, slog.String("leader", e.Entry.LeaderID))
	}
	if e.Entry.Absent() || e.Entry.Vacant() && e.Entry.Nonce == "" {
		return attrs // nothing is stored, or nothing that counts
	}
	return append(attrs, slog.Int64("fencing_token", e.Entry.FencingToken),
		slog.Int64("election_number", int64(e.Entry.ElectionNumber)))
}

func describe(e *Event) line {
	switch e.Kind {
	case EventRequest:
		return requestLine(e)
	case EventWaiting:
		return line{waitingText(e), "", []slog.Attr{slog.Duration("next_read_in", readable(e.Wait))}}
	case EventElected:
		return line{"elected leader", "", []slog.Attr{slog.String("proof", e.Proof.String()),
			slog.Duration("term", readable(e.Entry.TermLength))}}
	case EventRenewed:
		return line{text: "term renewed"}
	case EventEnded:
		return endedLine(e)
	case EventResigned:
		return line{text: "resigned: the next leader need not wait"}
	case EventNotResigned:
		return line{text: "the store did not confirm the resignation",
			do: "nothing: the next leader waits until the term is over; if this comes often, see why the store does not answer"}
	case EventLeaderChanged:
		return line{text: changedText(e)}
	case EventBadEntry:
		return line{text: "blocked: what is stored is not an entry that this program understands",
			do: "see who wrote it; update this program if that was a newer one, otherwise run \"elect break\""}
	case EventVanished:
		return line{text: "the entry was deleted",
			do: "find out who or which lifecycle rule deletes entries, and stop it: a deleted one can let a second leader in"}
	case EventClockOffset:
		side := "this host's clock is ahead of the store's"
		if e.ClockOffset < 0 {
			side = "this host's clock is behind the store's"
		}
		return line{side, "correct this host's clock, slowly; or set MaxClockSkew to what clocks really differ by",
			[]slog.Attr{slog.Duration("by_at_least", readable(e.ClockOffset.Abs()))}}
	case EventMissed:
		return line{text: "events were lost: OnEvent or the Logger is too slow",
			do: "return from OnEvent at once, and log to something that does not block"}
	}
	return line{text: e.Kind.String()}
}

// requestLine says what the answer to a request means.
func requestLine(e *Event) line {
	what := e.Op.String()
	switch e.Op {
	case OpAcquire:
		what = "attempt to win"
	case OpRenew:
		what = "renewal"
	case OpResign:
		what = "resignation"
	}
	n := line{attrs: []slog.Attr{slog.String("op", e.Op.String()),
		slog.String("outcome", e.Outcome.String()), slog.Duration("latency", readable(e.Latency))}}
	switch e.Outcome {
	case OutcomeRead:
		n.text = "read answered"
	case OutcomeStored:
		n.text = what + " stored"
	case OutcomeLost:
		n.text = what + " lost: another write came first"
	case OutcomeBadEntry:
		n.text = "read answered with what is not an entry"
	case OutcomeBroken:
		n.text = "the store refuses the " + what
		n.do = "see the error: it names the permission, the setting or the name that is wrong; only a person can put that right"
	default:
		n.text = what + " without an answer: it may or may not be stored"
		if e.Op == OpRead {
			n.text = "read without an answer"
		}
	}
	return n
}

func waitingText(e *Event) string {
	switch {
	case errors.Is(e.Err, ErrBadEntry):
		return "waiting: the election is blocked by what is not an entry"
	case e.Entry.Absent():
		return "waiting: the entry was deleted, maybe under a leader"
	case e.Entry.Vacant():
		return "waiting: nobody leads, but it is too soon to follow"
	case e.Entry.Held:
		return "waiting: the last leader is done, and keeps the election closed"
	case e.Entry.LeaderID == e.LeaderID:
		return "waiting: an earlier life of this candidate may still lead"
	}
	return "waiting: another candidate leads"
}

func changedText(e *Event) string {
	switch {
	case e.Entry.Vacant():
		return "nobody leads any more"
	case e.Entry.Held:
		return "the leader is done, and keeps the election closed"
	case e.Entry.LeaderID == e.LeaderID:
		// A former life of it or a namesake, as far as is known here: the event
		// "elected" has the line for a win.
		return "the entry names this candidate as the leader"
	}
	return "another candidate is the leader now"
}

func endedLine(e *Event) line {
	switch {
	case errors.Is(e.Err, ErrTermExpired):
		return line{text: "leadership ended: it could not be renewed in time",
			do: "see why the store did not answer, or what stopped this process"}
	case errors.Is(e.Err, ErrLeadershipLost):
		return line{text: "leadership ended: another write replaced it",
			do: "look who leads now; if nobody ran \"elect break\" or deleted the entry, compare the clocks of the hosts"}
	case errors.Is(e.Err, ErrResigned):
		return line{text: "leadership ended: resigned"}
	}
	return line{text: "leadership ended: its context has ended"}
}

// readable leaves d three or four digits.
func readable(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d.Abs() >= 10*unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

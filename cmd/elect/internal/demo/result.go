package demo

import (
	"fmt"

	"github.com/cloudelect/cloudelect/cmd/elect/internal/fencedlog"
)

// result is the line that a demo ends with: these fields and no others.
type result struct {
	Reigns        int      `json:"reigns"`
	Overlaps      int      `json:"overlaps"` // pairs of reigns that passed Check at the same time
	FencingTokens []int64  `json:"fencing_tokens"`
	FailoverMS    failover `json:"failover_ms"`
	Refused       int      `json:"refused"`      // late appends that the log refused
	StaleWrites   int      `json:"stale_writes"` // late appends that it did not
}

// failover is how long nobody led, from what happened to the leader until its
// successor led, in milliseconds.
type failover struct {
	Crash  int64 `json:"crash"`
	Freeze int64 `json:"freeze"`
	Resign int64 `json:"resign"`
}

// contradiction compares what the workers said with the files. A worker that was
// killed may not have said what became of its last line, so the files may have more.
func contradiction(h *history, accepted, refused int) error {
	const hint = "is the disk full? Choose another place with TMPDIR"
	switch {
	case refused < h.refused:
		return fmt.Errorf("demo: %d late lines were refused, and only %d were noted: nothing is proved by this run: %s", h.refused, refused, hint)
	case accepted < len(h.wrote):
		return fmt.Errorf("demo: %d lines were written to the log, and it has only %d: nothing is proved by this run: %s", len(h.wrote), accepted, hint)
	}
	return nil
}

// verdict judges a history and a log. The error of a demo that has shown what it
// must never show is for the caller, by sound.
func verdict(h *history, log *fencedlog.Log, f failover) (r result, sound bool, err error) {
	tokens, rising := h.tokens()
	r = result{Reigns: len(h.reigns), Overlaps: h.overlaps(), FencingTokens: tokens, FailoverMS: f}
	accepted, err := log.Records()
	if err != nil {
		return r, false, err
	}
	refused, err := log.Refused()
	if err != nil {
		return r, false, err
	}
	if err := contradiction(h, len(accepted), len(refused)); err != nil {
		return r, false, err
	}
	r.Refused, r.StaleWrites = len(refused), fencedlog.Stale(accepted)
	return r, r.Overlaps == 0 && rising && r.StaleWrites == 0, nil
}

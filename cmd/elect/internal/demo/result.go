package demo

import "github.com/cloudelect/cloudelect/cmd/elect/internal/fencedlog"

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
	r.Refused, r.StaleWrites = len(refused), fencedlog.Stale(accepted)
	return r, r.Overlaps == 0 && rising && r.StaleWrites == 0, nil
}

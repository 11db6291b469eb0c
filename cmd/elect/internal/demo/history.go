package demo

import (
	"cmp"
	"slices"
)

// reign is one reign as its samples show it. All times are readings of hostNow.
type reign struct {
	worker *process
	token  int64
	proof  string
	// elected is when the worker said so.
	elected int64
	// first and last are around the first and the last Check that passed.
	first, last sample
	passes      int
	// ends is when its term is over, by its last renewal that a Check has seen.
	ends int64
	why  string // it ended, as its worker said
}

// sample: at some moment in it a Check has passed.
type sample struct{ before, after int64 }

// history is what was seen of an election.
type history struct {
	reigns  []*reign
	passes  int
	refused int
	wrote   []int64  // when lines came into the log
	heard   []report // renewals and lost races
}

// add takes a report into account.
func (h *history) add(r report) {
	switch r.Kind {
	case kindElected:
		h.reign(r.from, r.Token).elected = r.At
		h.reign(r.from, r.Token).proof = r.Text
	case kindPassed:
		g := h.reign(r.from, r.Token)
		g.passed(sample{r.Before, r.After})
		g.ends = max(g.ends, r.Ends)
		h.passes++
	case kindWrote:
		h.wrote = append(h.wrote, r.At)
	case kindRefused:
		h.refused++
	case kindEnded:
		h.reign(r.from, r.Token).why = r.Text
	case kindRenewed, kindLost:
		h.heard = append(h.heard, r)
	}
}

// reign finds the reign of a process with a token, or begins it.
func (h *history) reign(p *process, token int64) *reign {
	for _, r := range h.reigns {
		if r.worker == p && r.token == token {
			return r
		}
	}
	r := &reign{worker: p, token: token}
	h.reigns = append(h.reigns, r)
	return r
}

func (r *reign) passed(s sample) {
	if r.passes == 0 || s.before < r.first.before {
		r.first = s
	}
	if r.passes == 0 || s.before > r.last.before {
		r.last = s
	}
	r.passes++
}

// certain is when the reign lasted without any doubt: from the end of the first
// Check that passed to the beginning of the last one. from is not before to
// when there is no such time.
func (r *reign) certain() (from, to int64) { return r.first.after, r.last.before }

// overlap tells whether two reigns are proved to have passed Check at the same
// time: some moment is certain in both, or a Check of one passed, from its
// beginning to its end, in the certain time of the other.
func overlap(a, b *reign) bool {
	if a.passes == 0 || b.passes == 0 {
		return false
	}
	aFrom, aTo := a.certain()
	bFrom, bTo := b.certain()
	within := func(s sample, from, to int64) bool { return from < s.before && s.after < to }
	return aFrom < aTo && bFrom < bTo && max(aFrom, bFrom) < min(aTo, bTo) ||
		within(a.first, bFrom, bTo) || within(a.last, bFrom, bTo) ||
		within(b.first, aFrom, aTo) || within(b.last, aFrom, aTo)
}

// overlaps counts the pairs of reigns that do.
func (h *history) overlaps() int {
	n := 0
	for i, a := range h.reigns {
		for _, b := range h.reigns[:i] {
			if overlap(a, b) {
				n++
			}
		}
	}
	return n
}

// tokens are the fencing tokens in the order in which the reigns began, and
// whether each is higher than the one before.
func (h *history) tokens() (tokens []int64, rising bool) {
	sorted := slices.Clone(h.reigns)
	slices.SortStableFunc(sorted, func(a, b *reign) int { return cmp.Compare(a.began(), b.began()) })
	rising = true
	tokens = make([]int64, 0, len(sorted))
	for i, r := range sorted {
		rising = rising && (i == 0 || r.token > tokens[i-1])
		tokens = append(tokens, r.token)
	}
	return tokens, rising
}

func (r *reign) began() int64 {
	if r.elected != 0 {
		return r.elected
	}
	return r.first.before
}

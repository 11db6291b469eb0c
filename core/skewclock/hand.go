package skewclock

import (
	"math"
	"math/bits"
	"time"
)

const billion = 1_000_000_000

// hand is one of a clock's two hands. All its arithmetic is on integers, with
// the remainder carried on, so that where it stands depends on the true time
// alone and not on how often it was asked.
type hand struct {
	value     time.Duration
	remainder uint64 // billionths of a nanosecond, below one
	frozen    bool
	missed    time.Duration // what it would have moved while frozen
}

// move lets elapsed > 0 of true time pass at a rate of ppb.
func (h *hand) move(elapsed time.Duration, ppb uint64) {
	hi, lo := bits.Mul64(uint64(elapsed), ppb)
	lo, carry := bits.Add64(lo, h.remainder, 0)
	hi += carry
	step := time.Duration(math.MaxInt64)
	if hi < billion/2 { // else the quotient is out of a duration's range
		quotient, remainder := bits.Div64(hi, lo, billion)
		step, h.remainder = time.Duration(quotient), remainder
	}
	if h.frozen {
		h.missed = saturatingAdd(h.missed, step)
		return
	}
	h.value = saturatingAdd(h.value, step)
}

func (h *hand) freeze() {
	if !h.frozen {
		h.frozen, h.missed = true, 0
	}
}

func (h *hand) thaw(catchUp bool) {
	if h.frozen && catchUp {
		h.value = saturatingAdd(h.value, h.missed)
	}
	h.frozen = false
}

// delay is how much true time it takes, at a rate of ppb, until the hand shows
// due: the first nanosecond at which it does. Zero: it does already.
func (h *hand) delay(due time.Duration, ppb uint64) time.Duration {
	need := saturatingAdd(due, -h.value)
	if need <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(need), billion)
	lo, borrow := bits.Sub64(lo, h.remainder, 0)
	hi -= borrow
	lo, carry := bits.Add64(lo, ppb-1, 0) // round up
	hi += carry
	if hi >= ppb/2 {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(hi, lo, ppb)
	return time.Duration(quotient)
}

// partsPerBillion makes a rate a whole number within what a hand can compute
// with. What is no number is 1.
func partsPerBillion(rate float64) uint64 {
	if math.IsNaN(rate) {
		return billion
	}
	return uint64(math.Round(min(max(rate, 1e-3), 1e3) * billion))
}

func saturatingAdd(a, b time.Duration) time.Duration {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

package timeline

import (
	"fmt"

	"github.com/cloudelect/cloudelect/core"
)

// glyphs are the shapes, each around 0,0 and five pixels in every direction.
var glyphs = map[string]struct{ class, body string }{
	"proof-vacant":     {"proof", `<circle r="4.2" stroke-dasharray="2.6 1.8"/>`},
	"proof-reclaimed":  {"proof", `<path d="M-3.6 4.2H1a3.3 3.3 0 0 0 0-6.6H-4M-1.4-5-4-2.4-1.4.2" fill="none"/>`},
	"proof-store-time": {"proof", `<path d="M-4.2-3v6c0 2.2 8.4 2.2 8.4 0v-6"/><ellipse cy="-3" rx="4.2" ry="1.7"/>`},
	"proof-observed":   {"proof", `<path d="M-5.4 0Q0-6.2 5.4 0 0 6.2-5.4 0z"/><circle r="1.7" class="ink"/>`},
	"proof-clock":      {"proof", `<circle r="4.4"/><path d="M0-2.6V0L2 1.2" fill="none"/>`},

	"end-resigned": {"end", `<path d="M-4-3.6H4L0 4z"/>`},
	"end-expired":  {"end", `<path d="M-3.6-4.4H3.6L-3.6 4.4H3.6z"/><path d="M-2 3.6H2L0 1z" class="ink"/>`},
	"end-lost":     {"bad", `<path d="M1.4-4.8-2.4.6H2.2L-1.4 4.8" fill="none"/>`},

	"mark-wrote":   {"small", `<circle r="1.6" class="ink"/>`},
	"mark-refused": {"bad", `<circle r="4.2"/><path d="M-2.8 2.8 2.8-2.8"/>`},
	"mark-crashed": {"bad", `<path d="M-3.8-3.8 3.8 3.8M-3.8 3.8 3.8-3.8"/>`},
	"mark-told":    {"end", `<path d="M-3.4-4.6V4.6M-3.4-4.2H4L1.6-1.6 4 1H-3.4"/>`},
	"mark-lost":    {"end", `<path d="M0-4.6 4.6 0 0 4.6-4.6 0z"/>`},
	"mark-failed":  {"small", `<path d="M-2.4-2.4 2.4 2.4M-2.4 2.4 2.4-2.4"/>`},
	"mark-trouble": {"bad", `<path d="M0-4 4.2 3.4H-4.2z" class="ink"/>`},
}

// markNames say what marks are, in the order of their kinds.
var markNames = [...]struct{ glyph, name, many string }{
	Renewed:  {"", "a renewal", "renewals"},
	Wrote:    {"mark-wrote", "a write", "writes"},
	Refused:  {"mark-refused", "a late write is refused", "late writes are refused"},
	Crashed:  {"mark-crashed", "the process crashes", "processes crash"},
	Told:     {"mark-told", "the process is asked to end", "times a process is asked to end"},
	LostRace: {"mark-lost", "a race is lost", "races are lost"},
	Failed:   {"mark-failed", "a request fails", "requests fail"},
	Trouble:  {"mark-trouble", "another fault", "other faults"},
}

var endNames = [...]struct{ glyph, name string }{
	EndNone: {"", ""}, EndResigned: {"end-resigned", "resignation"}, EndExpired: {"end-expired", "end of the term"}, EndLost: {"end-lost", "another's write"},
}

var proofNames = [...]struct{ glyph, name string }{
	core.ProofNone: {"", ""}, core.ProofVacant: {"proof-vacant", "vacant"}, core.ProofReclaimed: {"proof-reclaimed", "reclaimed"},
	core.ProofStoreTime: {"proof-store-time", "store-time"}, core.ProofObserved: {"proof-observed", "observed"}, core.ProofClock: {"proof-clock", "clock"},
}

// hatches are how faults look; each is tiled over its strip.
var hatches = [...]struct{ size, body string }{
	{"5", `<path d="M-1 1 1-1M0 5 5 0M4 6 6 4"/>`},
	{"5", `<circle cx="2.5" cy="2.5" r="1.1" class="ink"/>`},
	{"5", `<path d="M-1 4 1 6M0 0 5 5M4-1 6 1"/>`},
	{"4", `<path d="M2 0V4"/>`},
	{"4", `<path d="M0 2H4"/>`},
	{"6", `<path d="M0 3H6M3 0V6"/>`},
	{"6", `<path d="M0 0 6 6M0 6 6 0"/>`},
	{"6", `<path d="M0 4.5 1.5 1.5 4.5 4.5 6 1.5"/>`},
}

// defs writes the shapes and patterns that are used.
func (c *canvas) defs() string {
	var d canvas
	d.open("defs")
	for _, id := range sortedKeys(c.used) {
		if g, ok := glyphs[id]; ok {
			fmt.Fprintf(&d, `<g id="%s" class="%s"><circle r="7" class="hit"/>%s</g>`+"\n", id, g.class, g.body)
		}
		for i, h := range hatches {
			if id == fmt.Sprintf("hatch%d", i) {
				fmt.Fprintf(&d, `<pattern id="%s" width="%s" height="%s" patternUnits="userSpaceOnUse" class="h%d">%s</pattern>`+"\n", id, h.size, h.size, i, h.body)
			}
		}
	}
	d.close("defs")
	return d.String()
}

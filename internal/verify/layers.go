package verify

import "strings"

// anything, in a layer's lists, stands for every import of that kind.
const anything = "*"

// layer says what the non-test code of one part of the tree may import besides
// the standard library and its own folder tree.
type layer struct {
	says       string   // the rule in words, for whoever broke it
	ours       []string // folders of this module
	others     []string // import paths of other modules
	oneDecider bool     // and a single decider, whichever it is
}

// layerOf returns the layer that the package in dir belongs to; false for a folder
// that the table does not know. This is the table: change it here, on purpose.
func layerOf(dir string) (layer, bool) {
	top, rest, _ := strings.Cut(dir, "/")
	part, _, _ := strings.Cut(rest, "/")
	switch {
	case top == "core":
		return layer{
			says:   "core imports the standard library, go-clocks and core",
			ours:   []string{"core"},
			others: []string{"github.com/vimeo/go-clocks"},
		}, true
	case isDecider(top):
		return layer{
			says:   "a decider imports core and the SDK of its own store, never another decider",
			ours:   []string{"core", top},
			others: sdkOf(top),
		}, true
	case top == "adapters":
		return layer{
			says:   "an adapter imports core, functions/schedule and the library it bridges to",
			ours:   []string{"core", "functions/schedule", "adapters/internal", "adapters/" + part},
			others: []string{anything},
		}, true
	case under(dir, "functions/cmd"):
		return layer{
			says:       "a program below functions/cmd imports core, functions, its platform's library and one decider",
			ours:       []string{"core", "functions"},
			others:     []string{anything},
			oneDecider: true,
		}, true
	case top == "functions":
		return layer{
			says:   "functions import core, functions and their platform's library; only programs below functions/cmd add a decider",
			ours:   []string{"core", "functions"},
			others: []string{anything},
		}, true
	case top == "emulators":
		return layer{
			says:   "emulators import nothing of ours, so that a misreading of a store cannot cancel out",
			ours:   []string{"emulators"},
			others: []string{anything},
		}, true
	case under(dir, "internal/verify"):
		return layer{
			says: "internal/verify imports the standard library only, because core's tests import it",
			ours: []string{"internal/verify"},
		}, true
	case top == "cmd":
		return layer{ours: []string{anything}, others: []string{anything}}, true
	}
	return layer{}, false
}

// isDecider reports whether a folder at the top of the tree holds a decider.
func isDecider(top string) bool { return strings.HasSuffix(top, "decider") }

// sdkOf returns the modules that make up the SDK of a decider's store.
func sdkOf(decider string) []string {
	switch decider {
	case "gcsdecider":
		return []string{"cloud.google.com/go", "google.golang.org", "github.com/googleapis"}
	case "s3decider", "dynamodecider":
		return []string{"github.com/aws"}
	}
	return []string{anything}
}

package dynamodb

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The fake calculates in float64, so an update would round a number of more
// than 15 digits, and a condition would take different ones for equal.
// DynamoDB is exact to 38 digits. On their way in such numbers are therefore
// made strings with a mark, and on their way out numbers again. They can be stored
// and tested for equality; arithmetic and order would need the fake's help.

// mark begins a long number that the fake keeps as a string.
const mark = "\x00N:"

const exactDigits = 15

// hideNumbers rewrites a request, showNumbers an answer. What is no JSON stays
// as it is.
func hideNumbers(body []byte) []byte {
	return rewrite(body, "N", func(digits string) (string, string) {
		if len(strings.TrimLeft(digits, "-")) <= exactDigits {
			return "N", digits
		}
		return "S", mark + digits
	})
}

func showNumbers(body []byte) []byte {
	return rewrite(body, "S", func(text string) (string, string) {
		if digits, ok := strings.CutPrefix(text, mark); ok {
			return "N", digits
		}
		return "S", text
	})
}

// rewrite replaces every attribute value of one type: {"N": "12"}.
func rewrite(body []byte, kind string, replace func(string) (string, string)) []byte {
	if kind == "S" && !bytes.Contains(body, []byte(`\u0000N:`)) {
		return body
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var tree any
	if decoder.Decode(&tree) != nil {
		return body
	}
	walk(tree, kind, replace)
	out, err := json.Marshal(tree)
	if err != nil {
		return body
	}
	return out
}

func walk(node any, kind string, replace func(string) (string, string)) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			walk(child, kind, replace)
		}
	case map[string]any:
		if text, ok := n[kind].(string); ok && len(n) == 1 {
			delete(n, kind)
			newKind, value := replace(text)
			n[newKind] = value
			return
		}
		for _, child := range n {
			walk(child, kind, replace)
		}
	}
}

package netfault

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Parse reads a schedule from the line that its String printed.
func Parse(line string) (*Schedule, error) {
	first, rest, _ := strings.Cut(line, ";")
	number, ok := strings.CutPrefix(strings.TrimSpace(first), "seed=")
	if !ok {
		return nil, fmt.Errorf("netfault: schedule %q: it must begin with seed=NUMBER", line)
	}
	seed, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("netfault: schedule %q: seed: %w", line, err)
	}
	s := &Schedule{Seed: seed}
	for _, part := range split(rest, ';') {
		c, err := parseChance(split(part, ' '))
		if err != nil {
			return nil, fmt.Errorf("netfault: schedule: in %q: %w", strings.TrimSpace(part), err)
		}
		s.Chances = append(s.Chances, c)
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// parseChance reads "0.05 status 503 writes".
func parseChance(words []string) (c Chance, err error) {
	if len(words) < 2 {
		return c, fmt.Errorf("want a probability and a fault")
	}
	if c.P, err = strconv.ParseFloat(words[0], 64); err != nil {
		return c, fmt.Errorf("probability: %w", err)
	}
	f := &c.Fault
	if f.Kind, err = parseKind(words[1]); err != nil {
		return c, err
	}
	words = words[2:]
	if f.Kind.takesDuration() || f.Kind.takesStatus() {
		if len(words) == 0 {
			return c, fmt.Errorf("%s wants a duration or a status after it", f.Kind)
		}
		if f.Kind.takesDuration() {
			f.For, err = time.ParseDuration(words[0])
		} else {
			f.Status, err = strconv.Atoi(words[0])
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", f.Kind, err)
		}
		words = words[1:]
	}
	for _, word := range words {
		name, quoted, _ := strings.Cut(word, "=")
		switch name {
		case "writes":
			f.WritesOnly = true
		case "method":
			f.Method, err = strconv.Unquote(quoted)
		case "path":
			f.PathContains, err = strconv.Unquote(quoted)
		default:
			err = fmt.Errorf("conditions are writes, method=\"...\" and path=\"...\"")
		}
		if err != nil {
			return c, fmt.Errorf("condition %s: %w", word, err)
		}
	}
	return c, nil
}

func parseKind(name string) (Kind, error) {
	for k := Delay; int(k) < len(kindNames); k++ {
		if kindNames[k] == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("no fault is called %q; there are %s", name, strings.Join(kindNames[Delay:], ", "))
}

// split cuts at a separator, but not inside quotes, and drops empty parts.
func split(s string, separator byte) (parts []string) {
	quoted, start := false, 0
	for k := 0; k <= len(s); k++ {
		if k == len(s) || (s[k] == separator && !quoted) {
			if start < k {
				parts = append(parts, s[start:k])
			}
			start = k + 1
			continue
		}
		switch {
		case quoted && s[k] == '\\' && k+1 < len(s):
			k++ // whatever follows is meant literally
		case s[k] == '"':
			quoted = !quoted
		}
	}
	return parts
}

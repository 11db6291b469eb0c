package timeline

import (
	"fmt"
	"strings"
)

// rules are the colours of the parts: for a light screen and for a dark one.
// Nothing is told by a colour alone.
var rules = [...]struct{ selector, light, dark string }{
	{".bg", "fill:#ffffff", "fill:#0d1117"},
	{".zebra", "fill:#f6f8fa", "fill:#12181f"},
	{".grid", "stroke:#e1e4e8", "stroke:#262c36"},
	{".title,.name,.say", "fill:#1f2328", "fill:#e6edf3"},
	{".note,.tick,.tag", "fill:#59636e", "fill:#9198a1"},
	{".life", "stroke:#8c959f", "stroke:#6e7681"},
	{".bar", "fill:#2f6db3", "fill:#5a9be6"},
	{".seen", "fill:#dce9f8;stroke:#2f6db3", "fill:#16283d;stroke:#5a9be6"},
	{".rest", "fill:#b7cfea", "fill:#35598a"},
	{".on", "fill:#ffffff", "fill:#08131f"},
	{".notch", "stroke:#cfe2f8", "stroke:#0d2036"},
	{".notch.out", "stroke:#2f6db3", "stroke:#5a9be6"},
	{".proof", "stroke:#24292f;fill:#ffffff", "stroke:#d1d9e0;fill:#0d1117"},
	{".proof .ink", "fill:#24292f;stroke:none", "fill:#d1d9e0;stroke:none"},
	{".end", "stroke:#6a4a00;fill:#ffffff", "stroke:#e3b341;fill:#0d1117"},
	{".end .ink", "fill:#6a4a00;stroke:none", "fill:#e3b341;stroke:none"},
	{".bad", "stroke:#b3261e;fill:none", "stroke:#ff7b72;fill:none"},
	{".bad .ink", "fill:#b3261e;stroke:none", "fill:#ff7b72;stroke:none"},
	{".small", "stroke:#59636e;fill:none", "stroke:#9198a1;fill:none"},
	{".small .ink", "fill:#59636e;stroke:none", "fill:#9198a1;stroke:none"},
	{".breach", "stroke:#b3261e", "stroke:#ff7b72"},
	{".alarm", "fill:#b3261e", "fill:#ff7b72"},
}

// hues are the colours of faults.
var hues = [...]struct{ light, dark string }{
	{"#8250df", "#b794f6"}, {"#9a6700", "#d9a441"}, {"#0a7a75", "#4fc7bf"}, {"#a8377e", "#f08cc4"},
	{"#57606a", "#a5aeb8"}, {"#4c6b1f", "#9fcb5b"}, {"#b3501d", "#f0976a"}, {"#3b5b92", "#8fb1ea"},
}

// shared is what does not depend on the colours.
const shared = `text{font-family:system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;font-size:12px;white-space:pre}
.title{font-size:17px;font-weight:600}.name{font-size:13px}
.grid,.life,.notch,.breach{fill:none}.life{stroke-width:1.5}.notch{stroke-width:1.5}.breach{stroke-width:1.5;stroke-dasharray:4 3}
.seen{stroke-width:1.2;stroke-dasharray:3 2}.proof,.end,.bad,.small{stroke-width:1.4;stroke-linejoin:round;stroke-linecap:round}
.bad{stroke-width:2}.hit{fill:none;stroke:none;pointer-events:all}.middle{text-anchor:middle}.on{font-weight:600}
.strip{stroke-width:1}
`

// styleSheet is that of a picture, for both kinds of screens.
func styleSheet() string {
	var light, dark strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&light, "%s{%s}", r.selector, r.light)
		fmt.Fprintf(&dark, "%s{%s}", r.selector, r.dark)
	}
	for i, h := range hues {
		fmt.Fprintf(&light, ".h%d{stroke:%s;fill:none}.h%d .ink{fill:%s;stroke:none}", i, h.light, i, h.light)
		fmt.Fprintf(&dark, ".h%d{stroke:%s;fill:none}.h%d .ink{fill:%s;stroke:none}", i, h.dark, i, h.dark)
	}
	return shared + light.String() + "\n@media (prefers-color-scheme:dark){" + dark.String() + "}\n"
}

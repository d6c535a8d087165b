package exchange

import "strings"

// DefaultPriority is that of a request which says nothing.
var DefaultPriority = Priority{Urgency: 3}

// ParsePriority reads a `priority` field: `u=1, i`. What it does not understand it leaves at the default, as RFC 9218 asks.
func ParsePriority(value string) Priority {
	priority := DefaultPriority
	for item := range strings.SplitSeq(value, ",") {
		name, said, hasValue := strings.Cut(strings.TrimSpace(item), "=")
		name, _, _ = strings.Cut(name, ";")
		said, _, _ = strings.Cut(said, ";")
		switch {
		case name == "u" && len(said) == 1 && said[0] >= '0' && said[0] <= '7':
			priority.Urgency = int(said[0] - '0')
		case name == "i" && (!hasValue || said == "?1"):
			priority.Incremental = true
		case name == "i" && said == "?0":
			priority.Incremental = false
		}
	}
	return priority
}

// String is the priority as a field's value; empty for the default.
func (p Priority) String() string {
	text := ""
	if p.Urgency != DefaultPriority.Urgency {
		text = "u=" + string(rune('0'+p.Urgency))
	}
	if p.Incremental {
		if text != "" {
			text += ", "
		}
		text += "i"
	}
	return text
}

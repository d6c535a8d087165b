// Package spdy is a codec for SPDY/2, /3 and /3.1 without input or output: bytes in, frames and events out. It was written from the protocol
// drafts; where servers and browsers of the time agreed on something else, a comment says so.
//
//	bytes --Decoder--> frames --Session--> events          (Session.Receive)
//	acts  --Session--> frames --appendX--> bytes           (Session.Open, Write, Reset ... then Session.Produce)
package spdy

import "fmt"

// Version is a version of the protocol.
type Version uint8

// The versions that were in use.
const (
	V2 Version = iota + 1
	V3
	V31
)

// Versions is every version, newest first.
var Versions = []Version{V31, V3, V2}

// ParseVersion reads a version as ALPN names it: spdy/2, spdy/3 or spdy/3.1.
func ParseVersion(name string) (Version, error) {
	for _, version := range Versions {
		if version.String() == name {
			return version, nil
		}
	}
	return 0, fmt.Errorf("spdy: %q is no version of SPDY: use spdy/2, spdy/3 or spdy/3.1", name)
}

// String is the version's name in ALPN.
func (v Version) String() string {
	switch v {
	case V2:
		return "spdy/2"
	case V3:
		return "spdy/3"
	case V31:
		return "spdy/3.1"
	}
	return fmt.Sprintf("spdy/unknown(%d)", uint8(v))
}

// onWire is the version field of control frames: 3.1 says 3.
func (v Version) onWire() uint16 {
	if v == V2 {
		return 2
	}
	return 3
}

// streamWindows says whether streams have flow control.
func (v Version) streamWindows() bool { return v >= V3 }

// sessionWindow says whether the session has flow control.
func (v Version) sessionWindow() bool { return v >= V31 }

// LowestPriority is the number of the priority served last; 0 is served first.
func (v Version) LowestPriority() uint8 {
	if v == V2 {
		return 3
	}
	return 7
}

// chromiumPriorities2 are SPDY/2's priorities for Chromium's own steps: highest, medium, low, lowest, idle.
var chromiumPriorities2 = [5]uint8{0, 1, 2, 2, 3}

// Priority is what an urgency (RFC 9218: 0, first, to 7) is on the wire. Chromium's urgencies are its own steps, counted from the highest; 5 is
// a step below idle that it did not have then. SPDY/3 has the same numbers.
func (v Version) Priority(urgency int) uint8 {
	urgency = min(max(urgency, 0), 7)
	if v == V2 {
		return chromiumPriorities2[min(urgency, len(chromiumPriorities2)-1)]
	}
	return uint8(urgency)
}

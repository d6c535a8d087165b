// Package spdyconn carries exchanges over a connection that speaks SPDY: Client is the gateway's side of the wire, Server the other side for
// tests. Both drive a spdy.Session with one goroutine that reads and one that writes.
package spdyconn

import "lanelab/gateway/internal/exchange"

// What Chromium lets a server send before it has read any of it, how many streams it has open before the server says how many it takes, and the
// most it has open whatever the server says.
const (
	chromiumStreamWindow   = 6 << 20
	chromiumSessionWindow  = 15 << 20
	chromiumStreamsAtFirst = 100
	chromiumStreams        = 256
	chromiumHeaderLevel    = 9
	// Large enough for every response that a server of today gives; a header block above it ends the session.
	usualHeaderBytes = 256 << 10
)

// Settings of one side of a connection; what is zero has the value that Chromium has.
type Settings struct {
	StreamWindow   int  // bytes that the peer may send on a stream before they are read (SPDY/3 and later)
	SessionWindow  int  // the same for all streams together (SPDY/3.1; in SPDY/2 reading pauses there)
	MaxStreams     int  // exchanges under way at once whatever the peer takes
	StreamsAtFirst int  // the same as long as the peer has not said; 0: 100
	MaxHeaderBytes int  // of one header block, expanded
	HeaderLevel    *int // of zlib, for what this side's header blocks are compressed with; nil: 9

	// TakePush decides about each pushed stream; nil: none is taken.
	TakePush exchange.TakePush

	// Changed is called, without waiting, when Room or Leaving may have changed by what the peer said. What holds for Notes holds for it.
	Changed func()
}

func (s Settings) withDefaults() Settings {
	setDefault(&s.StreamWindow, chromiumStreamWindow)
	setDefault(&s.SessionWindow, chromiumSessionWindow)
	setDefault(&s.MaxStreams, chromiumStreams)
	setDefault(&s.StreamsAtFirst, chromiumStreamsAtFirst)
	setDefault(&s.MaxHeaderBytes, usualHeaderBytes)
	if s.HeaderLevel == nil {
		s.HeaderLevel = new(chromiumHeaderLevel)
	}
	return s
}

func setDefault(value *int, usual int) {
	if *value == 0 {
		*value = usual
	}
}

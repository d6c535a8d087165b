package spdy

import (
	"math"
	"time"

	"lanelab/gateway/internal/flood"
)

// Role says which side of the session this is: clients' streams have odd numbers.
type Role uint8

// The two sides.
const (
	ClientRole Role = iota
	ServerRole
)

// Config of a session.
type Config struct {
	StreamWindow    int              // bytes that the peer may send on a stream before they are consumed (SPDY/3 and later)
	SessionWindow   int              // the same for the session (SPDY/3.1)
	MaxPeerStreams  int              // streams that the peer may have open; in a client these are pushes
	MaxHeaderBytes  int              // of an expanded header block
	MaxControlBytes int              // of a control frame
	HeaderLevel     int              // of zlib, for the header blocks that we send: 0 to 9
	Now             func() time.Time // the clock; nil: time.Now
}

const (
	// draftWindow is a window before anybody said anything: 64 KiB.
	draftWindow = 64 << 10
	maxWindow   = math.MaxInt32
	// dataFrameBytes is the most that one DATA frame takes. It is Chromium's figure: a frame fills two packets.
	dataFrameBytes = 2852
	// chromiumPushes is how many pushed streams Chromium said that it takes.
	chromiumPushes = 1000
	// maxAnswers is how many answers (to PING, to frames for streams that are not there) may wait to be sent: beyond it the peer sends without
	// reading, to make us grow.
	maxAnswers = 1000
)

// A Session is one side's view of a connection. It does no input or output: Receive takes what the peer sent, Produce gives what is to be sent.
// It is not safe for concurrent use.
type Session struct {
	version Version
	role    Role
	config  Config

	decoder    *Decoder
	compressor *compressor
	expander   *expander
	failure    error // the session's end

	streams        map[uint32]*stream
	nextID         uint32 // of the next stream that we open
	lastPeerID     uint32 // of the last stream that the peer opened
	ours, peers    int    // streams that are open now
	peerTakes      int    // the streams that the peer lets us have open
	toldAway       bool   // GOAWAY was queued
	peerAway       bool   // GOAWAY came
	sendWindow     int64  // what we may still send in the session
	streamWindow   int64  // what we may send on a new stream
	receiveWindow  int64  // what the peer may still send in the session
	sessionUnacked int64  // consumed, and not yet given back
	output         output
	floods         flood.Counter
	heard          map[SettingID]uint32 // the peer's SETTINGS, of what matters here
}

// stream is one stream of a session.
type stream struct {
	id            uint32
	priority      uint8
	ours          bool
	local, remote half

	sendWindow    int64
	receiveWindow int64
	unacked       int64
	sending       sending
}

// NewSession begins a session: what it wants to tell the peer first is ready to be produced.
func NewSession(role Role, version Version, config Config) *Session {
	// A session's window can only grow from the draft's: a smaller one cannot be asked for.
	config.SessionWindow = max(config.SessionWindow, draftWindow)
	s := &Session{
		version: version, role: role, config: config,
		decoder: NewDecoder(version, config.MaxControlBytes), compressor: newCompressor(version, config.HeaderLevel), expander: newExpander(version),
		streams: make(map[uint32]*stream), heard: map[SettingID]uint32{}, nextID: 1, peerTakes: math.MaxInt32,
		sendWindow: draftWindow, streamWindow: draftWindow, receiveWindow: int64(config.SessionWindow), floods: flood.Counter{Now: config.Now},
	}
	if role == ServerRole {
		s.nextID = 2
	}
	s.greet()
	return s
}

// greet queues what is said first: how we want to be treated, and how much larger the session's window is.
func (s *Session) greet() {
	takes := s.config.MaxPeerStreams
	if s.role == ClientRole {
		// Of pushes, which are refused one by one: there are servers that fail the request itself when they may not push for it.
		takes = chromiumPushes
	}
	settings := []Setting{{ID: SettingMaxConcurrentStreams, Value: uint32(takes)}}
	if s.version.streamWindows() {
		settings = append(settings, Setting{ID: SettingInitialWindowSize, Value: uint32(s.config.StreamWindow)})
	}
	s.queue(Settings{Entries: settings})
	if more := s.config.SessionWindow - draftWindow; more > 0 && s.version.sessionWindow() {
		s.queue(WindowUpdate{StreamID: 0, Delta: uint32(more)})
	}
}

// Close frees what the session holds. It tells the peer nothing: see GoAway.
func (s *Session) Close() {
	if s.failure == nil {
		s.failure = &SessionError{GoAwayOK, "the session was closed"}
	}
	s.expander.close()
}

// Version is the session's version.
func (s *Session) Version() Version { return s.version }

// OpenStreams says how many of our streams are open.
func (s *Session) OpenStreams() int { return s.ours }

// IsOpen says whether a stream is open, or has something to send still.
func (s *Session) IsOpen(id uint32) bool { return s.streams[id] != nil }

// Replied says whether we answered a stream of the peer's.
func (s *Session) Replied(id uint32) bool {
	st := s.streams[id]
	return st != nil && st.local != awaited
}

// PeerWentAway says whether the peer's GOAWAY came.
func (s *Session) PeerWentAway() bool { return s.peerAway }

// Leaving says whether we can open no stream any more.
func (s *Session) Leaving() bool {
	return s.toldAway || s.peerAway || s.failure != nil || s.nextID > maxStreamID-2
}

// Room is how many streams we may open now.
func (s *Session) Room() int {
	if s.Leaving() {
		return 0
	}
	return max(s.peerTakes-s.ours, 0)
}

// isOurs says whether a stream's number is one of those that we give.
func (s *Session) isOurs(id uint32) bool { return (id%2 == 1) == (s.role == ClientRole) }

// wasOpened says whether there has been a stream of this number.
func (s *Session) wasOpened(id uint32) bool {
	if id == 0 {
		return false
	}
	if s.isOurs(id) {
		return id < s.nextID
	}
	return id <= s.lastPeerID
}

func (s *Session) add(st *stream) {
	st.sendWindow = s.streamWindow
	// A peer that has not yet heard of a smaller window uses the draft's.
	st.receiveWindow = max(int64(s.config.StreamWindow), draftWindow)
	s.streams[st.id] = st
	if st.ours {
		s.ours++
	} else {
		s.peers++
	}
}

// forget removes a stream whose halves have both ended, or that is reset.
func (s *Session) forget(st *stream) {
	if s.streams[st.id] != st {
		return
	}
	delete(s.streams, st.id)
	s.output.drop(st)
	if st.ours {
		s.ours--
	} else {
		s.peers--
	}
}

func (s *Session) forgetIfEnded(st *stream) {
	if st.local == ended && st.remote == ended && !st.sending.waiting() {
		s.forget(st)
	}
}

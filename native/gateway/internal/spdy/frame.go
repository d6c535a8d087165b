package spdy

import "fmt"

// FrameType is the type of a control frame.
type FrameType uint16

// Control frames, numbered as on the wire.
const (
	TypeSynStream    FrameType = 1
	TypeSynReply     FrameType = 2
	TypeRstStream    FrameType = 3
	TypeSettings     FrameType = 4
	TypeNoop         FrameType = 5 // SPDY/2 only
	TypePing         FrameType = 6
	TypeGoAway       FrameType = 7
	TypeHeaders      FrameType = 8
	TypeWindowUpdate FrameType = 9 // SPDY/3 and later
)

// Flags of frames. Two share a bit: it depends on the frame.
const (
	flagFin            = 0x01
	flagUnidirectional = 0x02
	flagClearSettings  = 0x01
)

const (
	headBytes     = 8
	maxFrameBytes = 1<<24 - 1 // a length has 24 bits
	maxStreamID   = 1<<31 - 1
	controlBit    = 0x80
)

// Status says why a stream is reset.
type Status uint32

// Why a stream is reset. SPDY/2 has those up to FlowControlError.
const (
	ProtocolError       Status = 1
	InvalidStream       Status = 2
	RefusedStream       Status = 3
	UnsupportedVersion  Status = 4
	Cancel              Status = 5
	InternalError       Status = 6
	FlowControlError    Status = 7
	StreamInUse         Status = 8
	StreamAlreadyClosed Status = 9
	FrameTooLarge       Status = 11
)

var statusNames = map[Status]string{
	ProtocolError: "PROTOCOL_ERROR", InvalidStream: "INVALID_STREAM", RefusedStream: "REFUSED_STREAM",
	UnsupportedVersion: "UNSUPPORTED_VERSION", Cancel: "CANCEL", InternalError: "INTERNAL_ERROR", FlowControlError: "FLOW_CONTROL_ERROR",
	StreamInUse: "STREAM_IN_USE", StreamAlreadyClosed: "STREAM_ALREADY_CLOSED", FrameTooLarge: "FRAME_TOO_LARGE",
}

func (s Status) String() string {
	if name, known := statusNames[s]; known {
		return name
	}
	return fmt.Sprintf("status %d", uint32(s))
}

// in is the status as a version knows it: what SPDY/2 has no number for is a protocol error there.
func (s Status) in(version Version) Status {
	if version == V2 && s > FlowControlError {
		return ProtocolError
	}
	return s
}

// GoAwayStatus says why a session ends. SPDY/2 does not say.
type GoAwayStatus uint32

// Why a session ends.
const (
	GoAwayOK            GoAwayStatus = 0
	GoAwayProtocolError GoAwayStatus = 1
	GoAwayInternalError GoAwayStatus = 2
)

func (s GoAwayStatus) String() string {
	switch s {
	case GoAwayOK:
		return "OK"
	case GoAwayProtocolError:
		return "PROTOCOL_ERROR"
	case GoAwayInternalError:
		return "INTERNAL_ERROR"
	}
	return fmt.Sprintf("status %d", uint32(s))
}

// SettingID names a setting.
type SettingID uint32

// The settings that this codec acts on; others are carried.
const (
	SettingMaxConcurrentStreams SettingID = 4
	SettingInitialWindowSize    SettingID = 7 // SPDY/3 and later
)

// Flags of a setting: the sender asks to have it remembered; the sender sends back what it was asked to remember.
const (
	PersistValue uint8 = 0x01
	Persisted    uint8 = 0x02
)

// A Setting is one entry of a SETTINGS frame.
type Setting struct {
	ID    SettingID
	Flags uint8
	Value uint32
}

// A Frame is one of the types below.
type Frame interface{ frame() }

type (
	// SynStream opens a stream. Block is the compressed header block.
	SynStream struct {
		StreamID, AssociatedID uint32
		Priority               uint8
		Slot                   uint8 // SPDY/3's, for client certificates: carried only
		Fin, Unidirectional    bool
		Block                  []byte
	}
	// SynReply accepts a stream.
	SynReply struct {
		StreamID uint32
		Fin      bool
		Block    []byte
	}
	// RstStream ends a stream at once.
	RstStream struct {
		StreamID uint32
		Status   Status
	}
	// Settings says how a side wants to be treated.
	Settings struct {
		Clear   bool // forget what was to be remembered
		Entries []Setting
	}
	// Noop is nothing (SPDY/2).
	Noop struct{}
	// Ping is answered with itself. Clients' have odd numbers.
	Ping struct{ ID uint32 }
	// GoAway announces the session's end: streams of the peer above LastGoodID are not acted on.
	GoAway struct {
		LastGoodID uint32
		Status     GoAwayStatus // SPDY/3 and later
	}
	// Headers brings further header fields for a stream.
	Headers struct {
		StreamID uint32
		Fin      bool
		Block    []byte
	}
	// WindowUpdate lets the peer send more, on a stream or (stream 0, SPDY/3.1) on the session.
	WindowUpdate struct {
		StreamID, Delta uint32
	}
	// Data is a DATA frame, or a part of one as it arrives: Announced is the whole frame's length in its first part and 0 in the others, Fin
	// is set in its last part only.
	Data struct {
		StreamID  uint32
		Fin       bool
		Announced int
		Payload   []byte
	}
	// Unknown is a control frame of a type that no draft of this version names: to be ignored.
	Unknown struct {
		Type  FrameType
		Flags uint8
		Body  []byte
	}
)

func (SynStream) frame()    {}
func (SynReply) frame()     {}
func (RstStream) frame()    {}
func (Settings) frame()     {}
func (Noop) frame()         {}
func (Ping) frame()         {}
func (GoAway) frame()       {}
func (Headers) frame()      {}
func (WindowUpdate) frame() {}
func (Data) frame()         {}
func (Unknown) frame()      {}

package spdy

import (
	"encoding/binary"
)

// Decoder cuts the peer's bytes into frames. Control frames come whole, DATA frames in parts as they arrive.
type Decoder struct {
	version  Version
	maxBytes int    // of a control frame
	pending  []byte // the beginning of a frame whose rest is still to come

	data     Data // the DATA frame under way, without payload
	dataLeft int
}

// NewDecoder makes a decoder that refuses control frames longer than maxControlBytes.
func NewDecoder(version Version, maxControlBytes int) *Decoder {
	return &Decoder{version: version, maxBytes: maxControlBytes}
}

// Next takes the first frame, or part of a DATA frame, from input and returns what follows it; nil and no error when input ends before that. A
// frame's bytes are those of input, or the decoder's own until the next call: who wants to keep them copies them.
func (d *Decoder) Next(input []byte) (frame Frame, rest []byte, err error) {
	if d.dataLeft > 0 {
		return d.nextData(input)
	}
	head, rest := d.collect(input, headBytes)
	if head == nil {
		return nil, nil, nil
	}
	length := int(head[5])<<16 | int(head[6])<<8 | int(head[7])
	if head[0]&controlBit == 0 {
		d.pending = nil
		d.data = Data{StreamID: binary.BigEndian.Uint32(head), Fin: head[4]&flagFin != 0, Announced: length}
		d.dataLeft = length
		if length == 0 {
			return d.data, rest, nil
		}
		return d.nextData(rest)
	}
	if err := d.checkControl(head, length); err != nil {
		return nil, nil, err
	}
	whole, rest := d.collect(input, headBytes+length)
	if whole == nil {
		return nil, nil, nil
	}
	d.pending = nil
	frame, err = d.parseControl(FrameType(binary.BigEndian.Uint16(whole[2:])), whole[4], whole[headBytes:])
	return frame, rest, err
}

// collect returns the first size bytes of what is pending and input together, or nil after having kept input.
func (d *Decoder) collect(input []byte, size int) (bytes, rest []byte) {
	if len(d.pending) == 0 && len(input) >= size {
		return input[:size], input[size:]
	}
	if missing := size - len(d.pending); missing > 0 && len(input) >= missing {
		return append(d.pending, input[:missing]...), input[missing:]
	} else if missing <= 0 {
		return d.pending[:size], input
	}
	d.pending = append(d.pending, input...)
	return nil, nil
}

func (d *Decoder) nextData(input []byte) (Frame, []byte, error) {
	if len(input) == 0 {
		return nil, nil, nil
	}
	part := d.data
	part.Payload = input[:min(len(input), d.dataLeft)]
	d.dataLeft -= len(part.Payload)
	part.Fin = d.data.Fin && d.dataLeft == 0
	d.data.Announced = 0
	return part, input[len(part.Payload):], nil
}

func (d *Decoder) checkControl(head []byte, length int) error {
	version := binary.BigEndian.Uint16(head) &^ (controlBit << 8)
	if version != d.version.onWire() {
		return protocolError("a control frame of version %d came in a session of %s", version, d.version)
	}
	if length > d.maxBytes {
		return protocolError("a control frame of type %d has %d bytes, more than the %d allowed", binary.BigEndian.Uint16(head[2:]), length, d.maxBytes)
	}
	return nil
}

func (d *Decoder) parseControl(kind FrameType, flags uint8, body []byte) (Frame, error) {
	switch kind {
	case TypeSynStream:
		return d.parseSynStream(flags, body)
	case TypeSynReply, TypeHeaders:
		return d.parseBlockFrame(kind, flags, body)
	case TypeRstStream:
		if len(body) != 8 {
			return nil, wrongLength("RST_STREAM", body, "8")
		}
		return RstStream{streamID(body), Status(binary.BigEndian.Uint32(body[4:]))}, nil
	case TypeSettings:
		return d.parseSettings(flags, body)
	case TypePing:
		if len(body) != 4 {
			return nil, wrongLength("PING", body, "4")
		}
		return Ping{binary.BigEndian.Uint32(body)}, nil
	case TypeGoAway:
		return d.parseGoAway(body)
	}
	if kind == TypeNoop && d.version == V2 {
		return Noop{}, nil
	}
	if kind == TypeWindowUpdate && d.version.streamWindows() {
		if len(body) != 8 {
			return nil, wrongLength("WINDOW_UPDATE", body, "8")
		}
		return WindowUpdate{streamID(body), binary.BigEndian.Uint32(body[4:]) & maxStreamID}, nil
	}
	return Unknown{kind, flags, body}, nil
}

func wrongLength(name string, body []byte, want string) error {
	return protocolError("a frame %s has %d bytes where it must have %s", name, len(body), want)
}

func streamID(body []byte) uint32 { return binary.BigEndian.Uint32(body) & maxStreamID }

func (d *Decoder) parseSynStream(flags uint8, body []byte) (Frame, error) {
	if len(body) < 10 {
		return nil, wrongLength("SYN_STREAM", body, "10 or more")
	}
	return SynStream{
		StreamID: streamID(body), AssociatedID: streamID(body[4:]), Priority: body[8] >> priorityShift(d.version), Slot: body[9],
		Fin: flags&flagFin != 0, Unidirectional: flags&flagUnidirectional != 0, Block: body[10:],
	}, nil
}

func (d *Decoder) parseBlockFrame(kind FrameType, flags uint8, body []byte) (Frame, error) {
	before := 4
	if d.version == V2 {
		before = 6
	}
	if len(body) < before {
		return nil, wrongLength("SYN_REPLY or HEADERS", body, "at least a stream")
	}
	ended := flags&flagFin != 0
	if kind == TypeSynReply {
		return SynReply{streamID(body), ended, body[before:]}, nil
	}
	return Headers{streamID(body), ended, body[before:]}, nil
}

func (d *Decoder) parseSettings(flags uint8, body []byte) (Frame, error) {
	if len(body) < 4 {
		return nil, wrongLength("SETTINGS", body, "4 or more")
	}
	count := binary.BigEndian.Uint32(body)
	if body = body[4:]; uint64(len(body)) != 8*uint64(count) {
		return nil, protocolError("a frame SETTINGS says that it has %d entries and has %d bytes of them", count, len(body))
	}
	settings := Settings{Clear: flags&flagClearSettings != 0, Entries: make([]Setting, 0, count)}
	for ; len(body) > 0; body = body[8:] {
		word := binary.BigEndian.Uint32(body)
		if d.version == V2 {
			word = binary.LittleEndian.Uint32(body) // see appendSettings
		}
		settings.Entries = append(settings.Entries, Setting{SettingID(word & 0xffffff), uint8(word >> 24), binary.BigEndian.Uint32(body[4:])})
	}
	return settings, nil
}

// parseGoAway takes SPDY/2's with a status too: some servers send one.
func (d *Decoder) parseGoAway(body []byte) (Frame, error) {
	switch {
	case len(body) == 8:
		return GoAway{streamID(body), GoAwayStatus(binary.BigEndian.Uint32(body[4:]))}, nil
	case len(body) == 4 && d.version == V2:
		return GoAway{LastGoodID: streamID(body)}, nil
	}
	return nil, wrongLength("GOAWAY", body, "8 (4 in SPDY/2)")
}

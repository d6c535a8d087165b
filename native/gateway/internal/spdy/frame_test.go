package spdy

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

func eachVersion(t *testing.T, run func(*testing.T, Version)) {
	for _, version := range Versions {
		t.Run(version.String()[len("spdy/"):], func(t *testing.T) { run(t, version) })
	}
}

// someFrames has each kind of frame, with what a version can say in it.
func someFrames(version Version) []Frame {
	frames := []Frame{
		SynStream{StreamID: 1, Priority: version.LowestPriority(), Fin: true, Block: []byte("block")},
		SynStream{StreamID: 2, AssociatedID: 1, Priority: 1, Slot: 9, Unidirectional: true, Block: []byte{}},
		SynReply{1, false, []byte("reply")}, SynReply{maxStreamID, true, []byte{}},
		RstStream{5, Cancel}, RstStream{5, FlowControlError},
		Settings{Entries: []Setting{}},
		Settings{true, []Setting{{SettingMaxConcurrentStreams, PersistValue, 100}, {0xabcdef, Persisted, 0xffffffff}}},
		Ping{7}, Headers{3, true, []byte("more")}, Headers{3, false, []byte{}},
		Unknown{0xf000, 3, []byte("x")},
	}
	if version == V2 {
		return append(frames, GoAway{LastGoodID: 9}, Noop{})
	}
	return append(frames, GoAway{9, GoAwayInternalError}, WindowUpdate{0, maxStreamID}, WindowUpdate{3, 1}, RstStream{1, StreamAlreadyClosed})
}

// decodeAll decodes bytes that come in pieces of a size, and copies what it is lent.
func decodeAll(decoder *Decoder, input []byte, piece int) (frames []Frame, err error) {
	for len(input) > 0 {
		rest := input[:min(piece, len(input))]
		input = input[len(rest):]
		for {
			var frame Frame
			if frame, rest, err = decoder.Next(rest); frame == nil || err != nil {
				break
			}
			frames = append(frames, owned(frame))
		}
		if err != nil {
			return frames, err
		}
	}
	return frames, nil
}

func owned(frame Frame) Frame {
	switch f := frame.(type) {
	case SynStream:
		f.Block = bytes.Clone(f.Block)
		return f
	case SynReply:
		f.Block = bytes.Clone(f.Block)
		return f
	case Headers:
		f.Block = bytes.Clone(f.Block)
		return f
	case Unknown:
		f.Body = bytes.Clone(f.Body)
		return f
	case Data:
		f.Payload = bytes.Clone(f.Payload)
		return f
	}
	return frame
}

func TestFramesComeBackInPiecesOfAnySize(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		want := someFrames(version)
		var wire []byte
		for _, frame := range want {
			wire = AppendFrame(wire, version, frame)
		}
		for _, piece := range []int{1, 2, 7, 8, 9, 13, len(wire)} {
			got, err := decodeAll(NewDecoder(version, 1000), wire, piece)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("in pieces of %d: %v\n got %v\nwant %v", piece, err, got, want)
			}
		}
	})
}

func TestDataComesInParts(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		wire := AppendFrame(nil, version, Data{StreamID: 5, Fin: true, Payload: []byte("hello")})
		wire = AppendFrame(wire, version, Data{StreamID: 7, Fin: true})
		got, err := decodeAll(NewDecoder(version, 10), wire, 10)
		want := []Frame{
			Data{5, false, 5, []byte("he")}, Data{5, true, 0, []byte("llo")},
			Data{StreamID: 7, Fin: true},
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: got %v", err, got)
		}
	})
}

// What the drafts draw, to the byte.
func TestFramesOnTheWire(t *testing.T) {
	for _, c := range []struct {
		version Version
		frame   Frame
		want    string
	}{
		{V2, SynStream{StreamID: 1, Priority: 3, Fin: true, Block: []byte("B")}, "80020001 0100000b 00000001 00000000 c00042"},
		{V3, SynStream{StreamID: 3, AssociatedID: 1, Priority: 7, Slot: 2, Unidirectional: true, Block: []byte("B")},
			"80030001 0200000b 00000003 00000001 e00242"},
		{V2, SynReply{1, true, []byte("B")}, "80020002 01000007 00000001 000042"},
		{V31, SynReply{1, false, []byte("B")}, "80030002 00000005 00000001 42"},
		{V3, RstStream{1, Cancel}, "80030003 00000008 00000001 00000005"},
		{V2, RstStream{1, StreamAlreadyClosed}, "80020003 00000008 00000001 00000001"},
		{V2, Settings{false, []Setting{{4, 1, 100}}}, "80020004 0000000c 00000001 04000001 00000064"},
		{V3, Settings{true, []Setting{{7, 1, 65536}}}, "80030004 0100000c 00000001 01000007 00010000"},
		{V2, Noop{}, "80020005 00000000"},
		{V3, Ping{1}, "80030006 00000004 00000001"},
		{V2, GoAway{LastGoodID: 7, Status: GoAwayProtocolError}, "80020007 00000004 00000007"},
		{V3, GoAway{7, GoAwayProtocolError}, "80030007 00000008 00000007 00000001"},
		{V2, Headers{1, false, []byte("B")}, "80020008 00000007 00000001 000042"},
		{V3, Headers{1, true, []byte("B")}, "80030008 01000005 00000001 42"},
		{V31, WindowUpdate{0, 10}, "80030009 00000008 00000000 0000000a"},
		{V31, Data{StreamID: 1, Fin: true, Payload: []byte("AB")}, "00000001 01000002 4142"},
	} {
		want := make([]byte, 0, 32)
		if _, err := fmt.Sscanf(removeSpaces(c.want), "%x", &want); err != nil {
			t.Fatal(err)
		}
		if got := AppendFrame(nil, c.version, c.frame); !bytes.Equal(got, want) {
			t.Errorf("%s %T: got %x, want %x", c.version, c.frame, got, want)
		}
	}
}

func removeSpaces(text string) string {
	return string(bytes.ReplaceAll([]byte(text), []byte(" "), nil))
}

func TestFramesThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		version Version
		wire    []byte
	}{
		"another version":                {V3, AppendFrame(nil, V2, Ping{1})},
		"too long":                       {V3, AppendFrame(nil, V3, SynReply{1, false, make([]byte, 101)})},
		"short SYN_STREAM":               {V3, []byte{0x80, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0}},
		"short SYN_REPLY":                {V2, []byte{0x80, 2, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1}},
		"short HEADERS":                  {V3, []byte{0x80, 3, 0, 8, 0, 0, 0, 3, 0, 0, 1}},
		"RST_STREAM of 4 bytes":          {V3, []byte{0x80, 3, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1}},
		"PING of 5 bytes":                {V3, []byte{0x80, 3, 0, 6, 0, 0, 0, 5, 0, 0, 0, 1, 0}},
		"GOAWAY of 4 bytes":              {V3, []byte{0x80, 3, 0, 7, 0, 0, 0, 4, 0, 0, 0, 1}},
		"GOAWAY of 6 bytes":              {V2, []byte{0x80, 2, 0, 7, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0}},
		"WINDOW_UPDATE of 4 bytes":       {V31, []byte{0x80, 3, 0, 9, 0, 0, 0, 4, 0, 0, 0, 1}},
		"SETTINGS of 3 bytes":            {V3, []byte{0x80, 3, 0, 4, 0, 0, 0, 3, 0, 0, 0}},
		"SETTINGS that has less":         {V3, []byte{0x80, 3, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1}},
		"SETTINGS whose count overflows": {V3, []byte{0x80, 3, 0, 4, 0, 0, 0, 4, 0x20, 0, 0, 0}},
	} {
		frames, err := decodeAll(NewDecoder(c.version, 100), c.wire, len(c.wire))
		if !isSession(err) || len(frames) != 0 {
			t.Errorf("%s: got %v, %v", name, frames, err)
		}
	}
}

package spdy

import (
	"encoding/binary"
	"fmt"
)

// AppendFrame appends a frame's bytes. Its parts must fit: Session sees to that.
func AppendFrame(buffer []byte, version Version, frame Frame) []byte {
	start := len(buffer)
	switch f := frame.(type) {
	case Data:
		buffer = appendWord(buffer, f.StreamID&maxStreamID)
		buffer = append(buffer, fin(f.Fin), 0, 0, 0)
		return withLength(append(buffer, f.Payload...), start)
	case Unknown:
		return withLength(append(appendHead(buffer, version, f.Type, f.Flags), f.Body...), start)
	case SynStream:
		flags := fin(f.Fin)
		if f.Unidirectional {
			flags |= flagUnidirectional
		}
		buffer = appendHead(buffer, version, TypeSynStream, flags)
		buffer = appendWord(appendWord(buffer, f.StreamID), f.AssociatedID)
		buffer = append(buffer, f.Priority<<priorityShift(version), f.Slot)
		buffer = append(buffer, f.Block...)
	case SynReply:
		buffer = appendHead(buffer, version, TypeSynReply, fin(f.Fin))
		buffer = append(appendStreamOfBlock(buffer, version, f.StreamID), f.Block...)
	case Headers:
		buffer = appendHead(buffer, version, TypeHeaders, fin(f.Fin))
		buffer = append(appendStreamOfBlock(buffer, version, f.StreamID), f.Block...)
	case RstStream:
		buffer = appendHead(buffer, version, TypeRstStream, 0)
		buffer = appendWord(appendWord(buffer, f.StreamID), uint32(f.Status.in(version)))
	case Settings:
		buffer = appendSettings(buffer, version, f)
	case Noop:
		buffer = appendHead(buffer, version, TypeNoop, 0)
	case Ping:
		buffer = appendWord(appendHead(buffer, version, TypePing, 0), f.ID)
	case GoAway:
		buffer = appendWord(appendHead(buffer, version, TypeGoAway, 0), f.LastGoodID)
		if version != V2 {
			buffer = appendWord(buffer, uint32(f.Status))
		}
	case WindowUpdate:
		buffer = appendHead(buffer, version, TypeWindowUpdate, 0)
		buffer = appendWord(appendWord(buffer, f.StreamID), f.Delta)
	default:
		panic(fmt.Sprintf("spdy: a frame of type %T cannot be encoded", frame))
	}
	return withLength(buffer, start)
}

func appendWord(buffer []byte, word uint32) []byte {
	return binary.BigEndian.AppendUint32(buffer, word)
}

func appendHead(buffer []byte, version Version, kind FrameType, flags uint8) []byte {
	buffer = binary.BigEndian.AppendUint16(buffer, controlBit<<8|version.onWire())
	buffer = binary.BigEndian.AppendUint16(buffer, uint16(kind))
	return append(buffer, flags, 0, 0, 0)
}

// withLength fills in the length of the frame that begins at start.
func withLength(buffer []byte, start int) []byte {
	length := len(buffer) - start - headBytes
	buffer[start+5], buffer[start+6], buffer[start+7] = byte(length>>16), byte(length>>8), byte(length)
	return buffer
}

func fin(set bool) uint8 {
	if set {
		return flagFin
	}
	return 0
}

// appendStreamOfBlock appends what precedes the block in SYN_REPLY and HEADERS: SPDY/2 has two unused bytes after the stream.
func appendStreamOfBlock(buffer []byte, version Version, id uint32) []byte {
	buffer = appendWord(buffer, id)
	if version == V2 {
		buffer = append(buffer, 0, 0)
	}
	return buffer
}

// priorityShift is how far a priority is from the lower end of its byte: it has two bits in SPDY/2, three later.
func priorityShift(version Version) int {
	if version == V2 {
		return 6
	}
	return 5
}

func appendSettings(buffer []byte, version Version, settings Settings) []byte {
	var flags uint8
	if settings.Clear {
		flags = flagClearSettings
	}
	buffer = appendHead(buffer, version, TypeSettings, flags)
	buffer = appendWord(buffer, uint32(len(settings.Entries)))
	for _, entry := range settings.Entries {
		if version == V2 {
			// The draft puts the number first, most significant byte first; every implementation wrote it the other way round.
			buffer = binary.LittleEndian.AppendUint32(buffer, uint32(entry.ID)&0xffffff|uint32(entry.Flags)<<24)
		} else {
			buffer = appendWord(buffer, uint32(entry.Flags)<<24|uint32(entry.ID)&0xffffff)
		}
		buffer = appendWord(buffer, entry.Value)
	}
	return buffer
}

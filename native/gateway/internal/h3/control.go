package h3

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"
)

// Frames and unidirectional streams by their types (RFC 9114, sections 6.2 and 7.2; RFC 9204, section 4.2).
const (
	frameData        = 0x0
	frameHeaders     = 0x1
	frameCancelPush  = 0x3
	frameSettings    = 0x4
	framePushPromise = 0x5
	frameGoAway      = 0x7
	frameMaxPushID   = 0xd

	streamControl = 0x0
	streamPush    = 0x1
	streamEncoder = 0x2
	streamDecoder = 0x3
)

// Why a connection or a stream ends (RFC 9114, section 8.1).
const (
	codeNone            = 0x100
	codeInternal        = 0x102
	codeUnknownStream   = 0x103
	codeControlEnded    = 0x104
	codeUnexpectedFrame = 0x105
	codeFrame           = 0x106
	codeNoSuchPush      = 0x108
	codeNoSettings      = 0x10a
	codeRejected        = 0x10b
	codeCancelled       = 0x10c
)

const (
	settingMostFields = 0x6
	// mostHeaderBytes of one head, as of HTTP/2 here: Chromium's limit.
	mostHeaderBytes = 256 << 10
	// mostPassedOver of a frame that nobody knows.
	mostPassedOver = 1 << 20
)

var errOutOfPlace = errors.New("a frame of HTTP/3 that has no place here")

// ourSettings are the control stream's beginning. Header compression has no table: nothing is said of it.
func ourSettings() []byte {
	payload := quicvarint.Append(quicvarint.Append(nil, settingMostFields), mostHeaderBytes)
	out := quicvarint.Append(nil, streamControl)
	out = quicvarint.Append(out, frameSettings)
	return append(quicvarint.Append(out, uint64(len(payload))), payload...)
}

// A frame's head. size is of what follows it, and wire of both.
type frame struct {
	kind, size, wire uint64
}

// nextFrame reads the head of a frame, past frames that nobody knows (RFC 9114, section 9). io.EOF: the stream ended where it may.
func nextFrame(in *bufio.Reader) (f frame, err error) {
	for {
		if _, err = in.Peek(1); err != nil {
			return f, err
		}
		if f.kind, err = quicvarint.Read(in); err == nil {
			f.size, err = quicvarint.Read(in)
		}
		if err != nil {
			return f, cutShort(err)
		}
		f.wire = uint64(quicvarint.Len(f.kind)+quicvarint.Len(f.size)) + f.size
		switch f.kind {
		case frameData, frameHeaders, frameCancelPush, frameSettings, framePushPromise, frameGoAway, frameMaxPushID:
			return f, nil
		case 0x2, 0x6, 0x8, 0x9: // HTTP/2's
			return f, errOutOfPlace
		}
		if f.size > mostPassedOver {
			return f, fmt.Errorf("a frame of type %d with %d bytes", f.kind, f.size)
		}
		if _, err = io.CopyN(io.Discard, in, int64(f.size)); err != nil {
			return f, cutShort(err)
		}
	}
}

// cutShort is an end in the middle of something as the error that it is.
func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// accept takes the streams that the server begins.
func (c *Client) accept() {
	for {
		stream, err := c.conn.AcceptUniStream(c.conn.Context())
		if err != nil {
			return // the connection has ended
		}
		go c.take(stream)
	}
}

func (c *Client) take(stream *quic.ReceiveStream) {
	in := bufio.NewReaderSize(stream, 512)
	kind, err := quicvarint.Read(in)
	switch {
	case err != nil: // it was withdrawn before it said what it is
	case kind == streamControl:
		c.control(in)
	case kind == streamEncoder || kind == streamDecoder:
		_, _ = io.Copy(io.Discard, in) // without a table nothing is said there that anybody needs
	case kind == streamPush:
		c.breakOff(codeNoSuchPush, "nobody may push")
	default:
		stream.CancelRead(codeUnknownStream)
	}
}

// control reads the server's control stream, which lasts as long as the connection.
func (c *Client) control(in *bufio.Reader) {
	for first := true; ; first = false {
		f, err := nextFrame(in)
		switch {
		case errors.Is(err, errOutOfPlace):
			c.breakOff(codeUnexpectedFrame, err.Error())
			return
		case err != nil:
			c.breakOff(codeControlEnded, "the control stream ended") // it does nothing to a connection that has ended
			return
		case first && f.kind != frameSettings:
			c.breakOff(codeNoSettings, "no settings")
			return
		case f.kind == frameGoAway:
			c.drain()
		case f.kind == frameSettings && first, f.kind == frameCancelPush:
		default:
			c.breakOff(codeUnexpectedFrame, fmt.Sprintf("a frame of type %d on the control stream", f.kind))
			return
		}
		if f.size > mostHeaderBytes {
			c.breakOff(codeFrame, "a frame that is too long")
			return
		}
		if _, err := io.CopyN(io.Discard, in, int64(f.size)); err != nil {
			c.breakOff(codeControlEnded, "the control stream ended")
			return
		}
	}
}

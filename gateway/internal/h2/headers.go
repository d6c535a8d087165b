package h2

import (
	"errors"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"lanelab/gateway/internal/exchange"
)

const (
	// mostHeaderBytes of one head, expanded, counted as HPACK does (32 for each field). Chromium's limit.
	mostHeaderBytes = 256 << 10
	// mostBlockBytes of one head on the wire, frames included.
	mostBlockBytes = 512 << 10

	ourTableSize    = 64 << 10
	frameHeaderSize = 9
)

// A headerBlock is a head or the trailers, decoded.
type headerBlock struct {
	id       uint32
	fields   []exchange.Field // pseudo-header fields included
	bytes    int              // as `name: value\r\n` each
	wire     int              // on the wire, frames included
	end      bool             // END_STREAM
	tooLarge bool             // above mostHeaderBytes: fields lacks some
	err      error
	counted  int
}

// blockReader puts HEADERS and CONTINUATION together. The framer sees to it that nothing comes between them.
type blockReader struct {
	decoder *hpack.Decoder
	current *headerBlock
}

func (r *blockReader) init() {
	r.decoder = hpack.NewDecoder(4096, r.emit)
	r.decoder.SetAllowedMaxDynamicTableSize(ourTableSize)
	r.decoder.SetMaxStringLength(mostHeaderBytes)
}

func (r *blockReader) emit(field hpack.HeaderField) {
	block := r.current
	if block.counted += int(field.Size()); block.counted > mostHeaderBytes {
		block.tooLarge = true // the rest is decoded all the same: the table must stay that of the peer
		return
	}
	block.bytes += len(field.Name) + len(field.Value) + 4
	block.fields = append(block.fields, exchange.Field{Name: field.Name, Value: field.Value})
}

// begin returns the block when it is complete.
func (r *blockReader) begin(f *http2.HeadersFrame) *headerBlock {
	r.current = &headerBlock{id: f.StreamID, end: f.StreamEnded(), fields: make([]exchange.Field, 0, 20)}
	return r.add(f.HeaderBlockFragment(), f.Length, f.HeadersEnded())
}

func (r *blockReader) goOn(f *http2.ContinuationFrame) (*headerBlock, error) {
	block := r.add(f.HeaderBlockFragment(), f.Length, f.HeadersEnded())
	if r.current != nil && r.current.wire > mostBlockBytes {
		return nil, broken(http2.ErrCodeEnhanceYourCalm, "a head of more than %d bytes", mostBlockBytes)
	}
	return block, nil
}

func (r *blockReader) add(fragment []byte, length uint32, last bool) *headerBlock {
	block := r.current
	block.wire += frameHeaderSize + int(length)
	if block.err == nil {
		_, block.err = r.decoder.Write(fragment)
	}
	if !last {
		return nil
	}
	r.current = nil
	if err := r.close(block); block.err == nil {
		block.err = err
	}
	return block
}

func (r *blockReader) close(block *headerBlock) error {
	if block.err != nil {
		return errors.New("not decoded to its end")
	}
	return r.decoder.Close()
}

// writeBlock encodes fields and appends HEADERS, with CONTINUATION as needed. It returns the size before and after. With the lock.
func (c *core) writeBlock(id uint32, fields []exchange.Field, end bool, priority http2.PriorityParam) (bytes, wire int) {
	c.encoded.bytes = c.encoded.bytes[:0]
	for _, field := range fields {
		bytes += len(field.Name) + len(field.Value) + 4
		c.encoder.WriteField(hpack.HeaderField{Name: field.Name, Value: field.Value, Sensitive: notWorthATableEntry(field)})
	}
	before := len(c.out)
	rest := c.encoded.bytes
	part := rest[:min(len(rest), c.peer.maxFrame-5)] // 5: the priority
	rest = rest[len(part):]
	c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: part, EndStream: end, EndHeaders: len(rest) == 0, Priority: priority,
	})
	for len(rest) > 0 {
		part = rest[:min(len(rest), c.peer.maxFrame)]
		rest = rest[len(part):]
		c.framer.WriteContinuation(id, len(rest) == 0, part)
	}
	return bytes, len(c.out) - before
}

// notWorthATableEntry: paths are not entered in the table of header compression, as in Chromium. They would only drive out what comes again.
func notWorthATableEntry(field exchange.Field) bool {
	return field.Name == ":path" && field.Value != "/" && field.Value != "/index.html"
}

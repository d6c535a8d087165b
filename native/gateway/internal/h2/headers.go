package h2

import (
	"bufio"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"lanelab/gateway/internal/exchange"
)

const (
	// mostHeaderBytes of one head, expanded, counted as HPACK does (32 for each field). Chromium's limit. Up to twice as much is read, so that who
	// sends it is told.
	mostHeaderBytes = 256 << 10
	// mostBlockBytes of one head on the wire, frames included.
	mostBlockBytes = 512 << 10

	ourTableSize = 64 << 10
)

// A headerBlock is a head or the trailers, decoded.
type headerBlock struct {
	fields   []exchange.Field // pseudo-header fields included
	bytes    int              // as `name: value\r\n` each
	wire     int              // on the wire, frames included
	end      bool             // END_STREAM
	tooLarge bool             // above mostHeaderBytes: fields may lack some
}

func newHeaderBlock(f *http2.MetaHeadersFrame, wire int) *headerBlock {
	block := &headerBlock{fields: make([]exchange.Field, len(f.Fields)), wire: wire, end: f.StreamEnded()}
	counted := 0
	for i, field := range f.Fields {
		counted += int(field.Size())
		block.bytes += len(field.Name) + len(field.Value) + 4
		block.fields[i] = exchange.Field{Name: field.Name, Value: field.Value}
	}
	block.tooLarge = f.Truncated || counted > mostHeaderBytes
	return block
}

// A frameReader counts the bytes of a frame, or of HEADERS and what continues it, which the framer reads as one: it would read empty
// continuations without end.
type frameReader struct {
	from *bufio.Reader
	read int // since a frame began
}

func (r *frameReader) Read(p []byte) (int, error) {
	if r.read > mostBlockBytes {
		return 0, broken(http2.ErrCodeEnhanceYourCalm, "a head of more than %d bytes", mostBlockBytes)
	}
	n, err := r.from.Read(p)
	r.read += n
	return n, err
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

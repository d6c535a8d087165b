package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"

	"lanelab/gateway/internal/exchange"
)

// A body is read from the connection by whoever wants it, so that nothing is held here: who does not read stops the server.
type body struct {
	call    *call
	framing framing
	unhook  func() bool

	mu       sync.Mutex
	left     int64 // counted: of the body. chunked: of the chunk
	begun    bool  // chunked: a chunk was begun
	over     bool  // nothing more is read by the consumer
	err      error // what the consumer gets then
	broken   error // the connection cannot be read any further
	trailers []exchange.Field
}

func newBody(x *call, framing framing, length int64) *body {
	b := &body{call: x, framing: framing}
	if framing == counted {
		b.left = length
	}
	return b
}

func (b *body) allTrailers() []exchange.Field {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trailers
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, b.err
	}
	n, err := b.readPart(p)
	if err == io.EOF {
		b.completeLocked()
		return n, io.EOF
	}
	if err != nil {
		b.broken = b.reason(err)
		b.end(fmt.Errorf("the answer broke off: %w", b.broken))
		return n, b.err
	}
	if b.framing == counted && b.left == 0 {
		b.completeLocked() // the connection is free as soon as the last byte was read, not when somebody asks for one more
	}
	return n, nil
}

// reason is why reading failed: when the connection was ended by this side, that.
func (b *body) reason(err error) error {
	c := b.call.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended && c.err != nil {
		return noEOF(c.err)
	}
	return err
}

func (b *body) readPart(p []byte) (int, error) {
	reader := b.call.conn.reader
	switch b.framing {
	case counted:
		n, err := reader.Read(p[:min(int64(len(p)), b.left)])
		b.left -= int64(n)
		return n, noEOF(err)
	case chunked:
		return b.readChunked(reader, p)
	case toTheEnd:
		return reader.Read(p)
	}
	return 0, io.EOF
}

func (b *body) readChunked(reader *bufio.Reader, p []byte) (int, error) {
	if b.left == 0 {
		last, err := b.nextChunk(reader)
		if err != nil {
			return 0, noEOF(err)
		}
		if last {
			return 0, io.EOF
		}
	}
	n, err := reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, noEOF(err)
}

// mostChunkLine bytes with the size of a chunk and its extensions.
const mostChunkLine = 4 << 10

func (b *body) nextChunk(reader *bufio.Reader) (last bool, err error) {
	if b.begun {
		if err := endOfChunk(reader); err != nil {
			return false, err
		}
	}
	b.begun = true
	left := mostChunkLine
	line, err := readLine(reader, &left)
	if err != nil {
		return false, err
	}
	if b.left, err = parseChunkSize(line); err != nil || b.left > 0 {
		return false, err
	}
	left = mostHeadBytes
	b.trailers, err = readFields(reader, &left)
	return true, err
}

func endOfChunk(reader *bufio.Reader) error {
	left := 2
	line, err := readLine(reader, &left)
	if err == nil && len(line) > 0 || errors.Is(err, errHeadTooLarge) {
		return errors.New("a chunk is longer than it says")
	}
	return err
}

func parseChunkSize(line []byte) (int64, error) {
	size, digits := int64(0), 0
	for ; digits < len(line); digits++ {
		value := hexValue(line[digits])
		if value < 0 {
			break
		}
		if digits >= 15 {
			return 0, errors.New("a chunk with a size beyond reason")
		}
		size = size<<4 + int64(value)
	}
	if digits == 0 || (digits < len(line) && line[digits] != ';' && line[digits] != ' ' && line[digits] != '\t') {
		return 0, fmt.Errorf("%.20q is no size of a chunk", line)
	}
	return size, nil
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// complete: the answer was read to its end.
func (b *body) complete() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.completeLocked()
}

func (b *body) completeLocked() {
	if b.over {
		return
	}
	b.over, b.err = true, io.EOF
	b.release()
	b.call.conn.leave(b.call)
	b.call.notes.LastByte()
	b.call.bodyDone <- true
}

// end: it will not be read to its end by the consumer.
func (b *body) end(err error) {
	if b.over {
		return
	}
	b.over, b.err = true, err
	b.release()
	b.call.bodyDone <- false
}

// hook takes what ends the watch over the browser's interest.
func (b *body) hook(stop func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unhook = stop; b.over {
		stop()
	}
}

func (b *body) release() {
	if b.unhook != nil {
		b.unhook()
	}
}

// Close implements io.Closer: before the body's end it cancels the exchange.
func (b *body) Close() error {
	if b.mu.TryLock() {
		defer b.mu.Unlock()
		b.end(errCancelled)
		return nil
	}
	b.call.cancel() // somebody is reading: that ends with the connection, or with the next bytes
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(errCancelled)
	return nil
}

// drop reads the rest for nobody.
func (b *body) drop() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	buffer := bodyBuffers.Get().(*[32 << 10]byte)
	defer bodyBuffers.Put(buffer)
	for {
		_, err := b.readPart(buffer[:])
		if err == io.EOF || (err == nil && b.framing == counted && b.left == 0) {
			b.call.conn.leave(b.call)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

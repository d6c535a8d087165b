package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"lanelab/gateway/internal/exchange"
)

// A body is read from the connection by whoever wants it, so that nothing is held here: who does not read stops the server.
type body struct {
	call   *call
	from   io.Reader // gives io.EOF where the body ends, and an error where it breaks off
	unhook func() bool

	mu     sync.Mutex
	over   bool  // nothing more is read by the consumer
	err    error // what the consumer gets then
	broken error // the connection cannot be read any further
}

func (b *body) trailers() []exchange.Field {
	b.mu.Lock()
	defer b.mu.Unlock()
	if chunked, is := b.from.(*chunks); is {
		return chunked.trailers
	}
	return nil
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, b.err
	}
	n, err := b.from.Read(p)
	if err == io.EOF {
		b.completeLocked()
	} else if err != nil {
		b.broken = b.reason(err)
		b.end(fmt.Errorf("the answer broke off: %w", b.broken))
		err = b.err
	}
	return n, err
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

// counted reads a body of a known length. Its end comes with its last byte, so that the connection is free at once.
type counted struct {
	reader io.Reader
	left   int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); c.left == 0 {
		return n, io.EOF
	}
	return n, noEOF(err)
}

// chunks reads a body in chunks, and what is behind it. It gives what has come of a chunk: net/http's reader waits until a chunk is whole or its
// buffer is full, but a browser works on a page while it comes.
type chunks struct {
	reader   *bufio.Reader
	left     uint64 // of the chunk
	begun    bool   // there was a chunk
	trailers []exchange.Field
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.reader.Read(p[:min(uint64(len(p)), c.left)])
	c.left -= uint64(n)
	return n, noEOF(err)
}

// next goes to the next chunk. io.EOF: it was the last one, and its trailers were read.
func (c *chunks) next() error {
	if c.begun {
		end, err := c.reader.Peek(2)
		if err != nil {
			return noEOF(err)
		}
		if string(end) != "\r\n" {
			return errors.New("a chunk is longer than it says")
		}
		c.reader.Discard(2)
	}
	c.begun = true
	var err error
	if c.left, err = c.size(); err != nil || c.left > 0 {
		return err
	}
	left := mostHeadBytes
	fields, err := readFields(c.reader, &left)
	if err != nil {
		return noEOF(err)
	}
	c.trailers = (&head{fields: fields, length: -1}).endToEnd()
	return io.EOF
}

// mostChunkLine bytes are a chunk's size with what is said about the chunk.
const mostChunkLine = 4 << 10

func (c *chunks) size() (uint64, error) {
	line, err := c.reader.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > mostChunkLine:
		return 0, fmt.Errorf("a chunk's size in a line of more than %d bytes", mostChunkLine)
	case err != nil:
		return 0, noEOF(err)
	}
	said, ended := strings.CutSuffix(string(line), "\r\n")
	digits, _, _ := strings.Cut(said, ";")
	size, err := strconv.ParseUint(strings.TrimRight(digits, " \t"), 16, 63)
	if err != nil || !ended || strings.Contains(said, "\r") {
		return 0, fmt.Errorf("%.20q is no size of a chunk", line)
	}
	return size, nil
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

// mostDropped bytes of an answer are read for nobody.
const mostDropped = 4 << 20

// drop reads the rest for nobody. What is too long for that ends the connection: those who wait behind go elsewhere.
func (b *body) drop() error {
	if rest, known := b.from.(*counted); known && rest.left > mostDropped {
		return errClosed
	}
	switch _, err := io.CopyN(io.Discard, b.from, mostDropped); err {
	case nil:
		return errClosed
	case io.EOF:
		b.call.conn.leave(b.call)
		return nil
	default:
		return err
	}
}

package spdy

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"iter"
)

// compressor is one direction's header compression: one zlib stream for the session's life, flushed after each block.
type compressor struct {
	version Version
	level   int
	out     bytes.Buffer
	writer  *zlib.Writer // nil before the first block
}

func newCompressor(version Version, level int) *compressor {
	return &compressor{version: version, level: level}
}

// compress returns what a block is on the wire; valid until the next call.
func (c *compressor) compress(block []byte) []byte {
	if c.writer == nil {
		c.begin()
	}
	c.out.Reset()
	// A bytes.Buffer takes everything: neither call can fail.
	_, _ = c.writer.Write(block)
	_ = c.writer.Flush()
	return c.out.Bytes()
}

// begin makes the zlib stream at the first block, for it takes a megabyte.
func (c *compressor) begin() {
	writer, err := zlib.NewWriterLevelDict(&c.out, c.level, c.version.dictionary())
	if err != nil {
		panic(err) // only a wrong level is refused
	}
	c.writer = writer
}

// expander is the other direction. The standard library's inflater pulls its input and gives up for good where there is none, but a session has
// its input block by block. So the inflater runs as a coroutine: where it wants more than there is, it hands control back (yields nil), which is
// also how one knows that a block is expanded to its end.
type expander struct {
	input []byte
	next  func() (piece []byte, ok bool)
	stop  func()
	err   error
}

func newExpander(version Version) *expander {
	e := new(expander)
	e.next, e.stop = iter.Pull(func(yield func([]byte) bool) { e.run(version, yield) })
	return e
}

// errTooLarge: a block expands to more than is allowed.
var errTooLarge = errors.New("the header block is too large")

// expand returns a block's content, at most limit bytes of it. After an error the session's headers can no longer be read.
func (e *expander) expand(block []byte, limit int) ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	e.input = block
	var content []byte
	for {
		piece, ok := e.next()
		switch {
		case !ok:
			if e.err == nil {
				e.err = errors.New("the header compression has ended")
			}
			return nil, e.err
		case piece == nil:
			return content, nil
		case len(content)+len(piece) > limit:
			e.err = fmt.Errorf("%w: it expands to more than %d bytes", errTooLarge, limit)
			return nil, e.err
		}
		content = append(content, piece...)
	}
}

// close ends the coroutine.
func (e *expander) close() { e.stop() }

// run is the coroutine: it yields pieces of content, and nil where it needs the next block.
func (e *expander) run(version Version, yield func([]byte) bool) {
	source := &blockSource{expander: e, yield: yield}
	reader, err := zlib.NewReaderDict(source, version.dictionary())
	if err != nil {
		e.fail(err)
		return
	}
	piece := make([]byte, 4096)
	for {
		count, err := reader.Read(piece)
		if count > 0 && !yield(piece[:count]) {
			return
		}
		if err != nil {
			e.fail(err)
			return
		}
	}
}

func (e *expander) fail(err error) {
	if err == io.EOF {
		err = errors.New("the peer ended its header compression")
	}
	e.err = fmt.Errorf("the header block cannot be expanded: %w", err)
}

// blockSource is what the inflater reads from.
type blockSource struct {
	expander *expander
	yield    func([]byte) bool
}

// fill waits for input.
func (s *blockSource) fill() error {
	for len(s.expander.input) == 0 {
		if !s.yield(nil) {
			return io.ErrUnexpectedEOF // closed
		}
	}
	return nil
}

func (s *blockSource) Read(buffer []byte) (int, error) {
	if err := s.fill(); err != nil {
		return 0, err
	}
	count := copy(buffer, s.expander.input)
	s.expander.input = s.expander.input[count:]
	return count, nil
}

func (s *blockSource) ReadByte() (byte, error) {
	if err := s.fill(); err != nil {
		return 0, err
	}
	first := s.expander.input[0]
	s.expander.input = s.expander.input[1:]
	return first, nil
}

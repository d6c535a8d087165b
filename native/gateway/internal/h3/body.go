package h3

import (
	"fmt"
	"io"
)

// body is an answer's, which comes in DATA frames.
type body struct {
	*call
	wanted   int64 // bytes that the head said; -1: it did not say
	got      int64
	left     uint64 // of the frame that is being read
	trailers bool   // came, so no data follows
	over     error
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for b.over == nil && b.left == 0 {
		if err := b.begin(); err != nil {
			b.finish(err)
		}
	}
	if b.over != nil {
		return 0, b.over
	}
	if uint64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.in.Read(p)
	b.left -= uint64(n)
	b.got += int64(n)
	if err == nil || n > 0 { // an end that came with the last bytes comes again
		return n, nil
	}
	b.finish(cutShort(err))
	return 0, b.over
}

// begin reads up to the bytes of a DATA frame. io.EOF: there is no more.
func (b *body) begin() error {
	f, err := b.next()
	switch {
	case err != nil:
		return err
	case f.kind == frameData && !b.trailers:
		b.left = f.size
		return nil
	case f.kind == frameHeaders && !b.trailers:
		b.trailers = true
		_, err = b.block(f) // nobody asks for them
		return err
	}
	return b.outOfPlace(f)
}

func (b *body) finish(err error) {
	switch {
	case err != io.EOF:
		b.over = b.failed(err)
	case b.wanted >= 0 && b.got != b.wanted:
		b.over = fmt.Errorf("%d bytes came of %d: %w", b.got, b.wanted, io.ErrUnexpectedEOF)
	default:
		b.over = io.EOF
		b.notes.LastByte()
	}
	b.end()
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.over == nil {
		b.over = io.ErrClosedPipe
		b.cancel()
		b.end()
	}
	return nil
}

package relay

import (
	"io"
	"sync/atomic"
)

// countedBody counts what the wire takes of a request's body.
type countedBody struct {
	reader io.Reader
	bytes  atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.reader.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

func (b *countedBody) count() int64 { return b.bytes.Load() }

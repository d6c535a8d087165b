package h2

import "sync"

const chunkSize = 16 << 10

type chunk struct {
	bytes       [chunkSize]byte
	begin, fill int
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// A buffer holds bytes that came and were not read yet, in pieces that are used again. The flow control window is its limit.
type buffer struct {
	pieces []*chunk
	size   int
}

func (b *buffer) write(p []byte) {
	b.size += len(p)
	for len(p) > 0 {
		if len(b.pieces) == 0 || b.pieces[len(b.pieces)-1].fill == chunkSize {
			fresh := chunks.Get().(*chunk)
			fresh.begin, fresh.fill = 0, 0
			b.pieces = append(b.pieces, fresh)
		}
		last := b.pieces[len(b.pieces)-1]
		n := copy(last.bytes[last.fill:], p)
		last.fill += n
		p = p[n:]
	}
}

func (b *buffer) read(p []byte) int {
	total := 0
	for len(p) > 0 && b.size > 0 {
		first := b.pieces[0]
		n := copy(p, first.bytes[first.begin:first.fill])
		first.begin += n
		p = p[n:]
		total += n
		b.size -= n
		if first.begin == first.fill {
			b.drop()
		}
	}
	return total
}

func (b *buffer) drop() {
	chunks.Put(b.pieces[0])
	b.pieces[0] = nil
	if b.pieces = b.pieces[1:]; len(b.pieces) == 0 {
		b.pieces = nil
	}
}

// clear drops everything and returns how much it was.
func (b *buffer) clear() int {
	size := b.size
	for len(b.pieces) > 0 {
		b.drop()
	}
	b.size = 0
	return size
}

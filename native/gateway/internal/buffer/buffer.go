// Package buffer keeps bytes of a message that came and were not read yet.
package buffer

import "sync"

const chunkSize = 16 << 10

type chunk struct {
	bytes       [chunkSize]byte
	begin, fill int
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// A Buffer holds them in pieces that are used again. It has no bound: the flow control window is its owner's.
type Buffer struct {
	pieces []*chunk
	size   int
}

// Write adds a copy.
func (b *Buffer) Write(p []byte) {
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

// Read takes as much as there is and p has room for.
func (b *Buffer) Read(p []byte) int {
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

func (b *Buffer) drop() {
	chunks.Put(b.pieces[0])
	b.pieces[0] = nil
	if b.pieces = b.pieces[1:]; len(b.pieces) == 0 {
		b.pieces = nil
	}
}

// Size is how many bytes wait.
func (b *Buffer) Size() int { return b.size }

// Clear drops everything and returns how much it was.
func (b *Buffer) Clear() int {
	size := b.size
	for len(b.pieces) > 0 {
		b.drop()
	}
	b.size = 0
	return size
}

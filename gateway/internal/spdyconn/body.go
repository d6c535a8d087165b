package spdyconn

import (
	"io"
	"sync"
)

// body is what came of a message's body and was not read yet. It has no bound of its own: the peer's window, or the pause of reading in SPDY/2,
// is the bound.
type body struct {
	link     *link
	consumed func(count int) // tells the owner, with the link's lock held

	mutex  sync.Mutex
	filled *sync.Cond
	parts  [][]byte
	size   int
	err    error // what follows the parts: io.EOF, or why nothing more comes
	closed bool
}

func newBody(link *link, consumed func(int)) *body {
	b := &body{link: link, consumed: consumed}
	b.filled = sync.NewCond(&b.mutex)
	return b
}

// add takes bytes that came; the link's lock is held. It says how many nobody will read.
func (b *body) add(bytes []byte) (unwanted int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.closed || b.err != nil {
		return len(bytes)
	}
	b.parts = appendPart(b.parts, bytes)
	b.size += len(bytes)
	b.filled.Signal()
	return 0
}

// A first part is small, for most bodies are.
const (
	firstPartBytes = 4 << 10
	partBytes      = 16 << 10
)

// appendPart copies bytes to the end of the parts: small pieces fill up the last one.
func appendPart(parts [][]byte, bytes []byte) [][]byte {
	size := firstPartBytes
	if len(parts) > 0 {
		size = partBytes
		last := &parts[len(parts)-1]
		fits := min(cap(*last)-len(*last), len(bytes))
		*last = append(*last, bytes[:fits]...)
		bytes = bytes[fits:]
	}
	if len(bytes) > 0 {
		part := make([]byte, 0, max(size, len(bytes)))
		parts = append(parts, append(part, bytes...))
	}
	return parts
}

// finish says what follows the parts; the first call counts. An error takes the parts away too where drop is set, and says how many bytes they had.
func (b *body) finish(err error, drop bool) (dropped int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.err == nil || (drop && b.err == io.EOF) {
		b.err = err
	}
	if drop {
		dropped = b.size
		b.parts, b.size = nil, 0
	}
	b.filled.Broadcast()
	return dropped
}

// Read gives what came, and waits where nothing did. What is read is given back to the peer's windows.
func (b *body) Read(buffer []byte) (int, error) {
	b.mutex.Lock()
	for len(b.parts) == 0 && b.err == nil && !b.closed {
		b.filled.Wait()
	}
	if len(b.parts) == 0 || b.closed {
		err := b.err
		if b.closed {
			err = io.ErrClosedPipe
		}
		b.mutex.Unlock()
		return 0, err
	}
	count := 0
	for len(b.parts) > 0 && count < len(buffer) {
		taken := copy(buffer[count:], b.parts[0])
		count += taken
		if b.parts[0] = b.parts[0][taken:]; len(b.parts[0]) == 0 {
			b.parts = b.parts[1:]
		}
	}
	b.size -= count
	b.mutex.Unlock()
	b.link.do(func() { b.consumed(count) })
	return count, nil
}

// shut makes Read fail from now on and says how many bytes were not read.
func (b *body) shut() (unread int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	unread = b.size
	b.closed, b.parts, b.size = true, nil, 0
	b.filled.Broadcast()
	return unread
}

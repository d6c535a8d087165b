package spdyconn

import (
	"io"
	"sync"

	"lanelab/gateway/internal/buffer"
)

// body is what came of a message's body and was not read yet. It has no bound of its own: the peer's window, or the pause of reading in SPDY/2,
// is the bound.
type body struct {
	link     *link
	consumed func(count int) // tells the owner, with the link's lock held

	mutex  sync.Mutex
	filled *sync.Cond
	came   buffer.Buffer
	err    error // what follows that: io.EOF, or why nothing more comes
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
	b.came.Write(bytes)
	b.filled.Signal()
	return 0
}

// finish says what follows what came; the first call counts. An error takes that away too where drop is set, and says how many bytes it had.
func (b *body) finish(err error, drop bool) (dropped int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.err == nil || (drop && b.err == io.EOF) {
		b.err = err
	}
	if drop {
		dropped = b.came.Clear()
	}
	b.filled.Broadcast()
	return dropped
}

// Read gives what came, and waits where nothing did. What is read is given back to the peer's windows.
func (b *body) Read(p []byte) (int, error) {
	b.mutex.Lock()
	for b.came.Size() == 0 && b.err == nil && !b.closed {
		b.filled.Wait()
	}
	if b.came.Size() == 0 || b.closed {
		err := b.err
		if b.closed {
			err = io.ErrClosedPipe
		}
		b.mutex.Unlock()
		return 0, err
	}
	count := b.came.Read(p)
	b.mutex.Unlock()
	b.link.do(func() { b.consumed(count) })
	return count, nil
}

// shut makes Read fail from now on and says how many bytes were not read.
func (b *body) shut() (unread int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	unread = b.came.Clear()
	b.closed = true
	b.filled.Broadcast()
	return unread
}

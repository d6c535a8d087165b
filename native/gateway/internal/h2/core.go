// Package h2 speaks HTTP/2 in both roles: as the server towards the browser and as the client on the wire. Frames and header compression are
// x/net's; what is done with them is here, since the log needs what x/net's own client and server do not tell: stream ids, the order of header
// fields, and what a head was on the wire.
package h2

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/flood"
)

const (
	// fullBuffer is how many bytes may wait for the kernel before senders of DATA wait.
	fullBuffer = 128 << 10
	// mostReplies are how many bytes of answers to PING, SETTINGS and the like may wait: a peer that makes us answer and does not read what we
	// say is not served without end.
	mostReplies = 256 << 10
	// lastWords is how long a peer may take to read what is sent at a connection's end.
	lastWords = time.Second

	readBuffer     = 32 << 10
	frameHeadBytes = 9
	defaultFrame   = 16 << 10
	mostWindow     = 1<<31 - 1
)

// A role is what client and server do differently. Its methods are called by the reading goroutine, without the lock.
type role interface {
	headers(id uint32, block *headerBlock) error
	reprioritised(id uint32, priority exchange.Priority)
	settled()          // the peer's settings or its GOAWAY have come
	forgotten(*stream) // no longer under way; with the lock
	promise(*http2.PushPromiseFrame) error
	ended(err error)
}

// A core is what both ends of a connection have in common.
//
//	reader goroutine: frames in -> role, streams' buffers       (blocks on the network only)
//	writer goroutine: out -> network, all that has gathered at once
//	anyone, with mu:  appends frames to out, waits for space (windows, a full out)
type core struct {
	role   role
	conn   net.Conn
	reader *bufio.Reader
	frames frameReader   // from reader
	framer *http2.Framer // reads from frames, writes to out

	mu           sync.Mutex
	wake         sync.Cond // there is something to write
	space        sync.Cond // there is room to send DATA
	out          []byte
	spare        []byte
	replies      int     // how many bytes of out the peer made us say
	written      []*call // whose heads are in out,
	unsentFrom   int     // from here on
	encoder      *hpack.Encoder
	encoded      writeBuffer
	streams      map[uint32]*stream
	sending      int64 // how many bytes of DATA the peer takes on the whole connection
	received     window
	peer         peerSettings
	ours         ourSettings
	newest       uint32 // the highest stream that the client has opened
	turns        exchange.Turns
	floods       flood.Counter
	heard        map[string]uint32 // the peer's SETTINGS
	acknowledged bool              // it has acknowledged ours
	draining     bool              // GOAWAY was sent or received: no new streams
	closing      bool              // the writer closes when out is empty
	err          error             // why it ended; errClosed: we closed it
	done         chan struct{}
	quiet        chan struct{} // closed when the writer has written its last
}

type peerSettings struct {
	initialWindow int64
	maxFrame      int
	maxStreams    uint32
	newPriorities bool // those of RFC 9218 only
}

type ourSettings struct {
	streamWindow int64 // what the peer may send on a stream before it is read
}

// errClosed: the connection was closed by our side.
var errClosed = errors.New("the connection was closed")

func newCore(conn net.Conn, role role, streamWindow, connectionWindow int64) *core {
	c := &core{
		role: role, conn: conn, reader: bufio.NewReaderSize(conn, readBuffer), streams: map[uint32]*stream{}, heard: map[string]uint32{},
		sending: 65535, received: window{size: connectionWindow, left: connectionWindow},
		peer: peerSettings{initialWindow: 65535, maxFrame: defaultFrame, maxStreams: 100},
		ours: ourSettings{streamWindow: streamWindow}, done: make(chan struct{}), quiet: make(chan struct{}),
	}
	c.wake.L, c.space.L = &c.mu, &c.mu
	c.frames.from = c.reader
	c.framer = http2.NewFramer(outWriter{c}, &c.frames)
	c.framer.SetReuseFrames()
	c.framer.SetMaxReadFrameSize(defaultFrame) // we never allow more
	c.encoder = hpack.NewEncoder(&c.encoded)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(ourTableSize)
	c.framer.MaxHeaderListSize = 2 * mostHeaderBytes
	return c
}

// outWriter lets the framer write into out.
type outWriter struct{ c *core }

func (w outWriter) Write(frame []byte) (int, error) {
	w.c.out = append(w.c.out, frame...)
	return len(frame), nil
}

type writeBuffer struct{ bytes []byte }

func (b *writeBuffer) Write(p []byte) (int, error) {
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

func (c *core) run() {
	go c.writeLoop()
	go c.readLoop()
}

// writeLoop hands to the kernel what has gathered, in one piece.
func (c *core) writeLoop() {
	c.mu.Lock()
	for {
		for len(c.out) == 0 && !c.closing {
			c.wake.Wait()
		}
		if len(c.out) == 0 {
			break
		}
		// Others may be about to add to it: what arrives together should leave together.
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
		burst, written := c.out, c.written
		c.out, c.written, c.replies = c.spare[:0], nil, 0
		c.space.Broadcast()
		c.mu.Unlock()
		_, err := c.conn.Write(burst)
		if err != nil {
			c.fail(fmt.Errorf("cannot send: %w", err))
		}
		c.mu.Lock()
		for _, k := range written {
			k.noteSent()
		}
		if c.spare = burst; cap(burst) > 2*fullBuffer {
			c.spare = nil
		}
		if err != nil {
			c.out = c.out[:0]
		}
	}
	c.mu.Unlock()
	c.conn.Close()
	close(c.quiet)
}

// send lets the writer know. With the lock.
func (c *core) send() { c.wake.Signal() }

// sendReply does so for what the peer made us say: the bytes that out has grown by since it was before.
func (c *core) sendReply(before int) {
	if c.replies += len(c.out) - before; c.replies > mostReplies {
		c.failLocked(errors.New("the peer does not read what it made us send"))
		c.conn.SetWriteDeadline(time.Now()) // nobody reads: the writer must not wait for it
	}
	c.wake.Signal()
}

// fail ends the connection at once, and all that is under way on it.
func (c *core) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

func (c *core) failLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	unsent := c.takeBackHeads()
	for _, s := range c.streams {
		switch {
		case s.call != nil && s.recvEnded:
			s.stopSending() // its answer is whole: what was not read of it yet still can be
		case s.call != nil && slices.Contains(unsent, s.call):
			s.fail(&ConnectionError{Err: err, Unsent: true})
		default:
			if s.call != nil {
				s.call.noteSent() // the kernel may have it, though Write has not returned
			}
			s.fail(&ConnectionError{Err: err, Answered: s.headed})
		}
	}
	clear(c.streams)
	c.draining, c.closing = true, true
	c.conn.SetWriteDeadline(time.Now().Add(lastWords))
	c.conn.SetReadDeadline(time.Now().Add(lastWords))
	c.wake.Signal()
	c.space.Broadcast()
	close(c.done)
	if err == errClosed {
		err = nil
	}
	go c.role.ended(err)
}

// takeBackHeads drops what the writer has not taken, from the first head on: so those requests were not sent, surely. With the lock.
func (c *core) takeBackHeads() (unsent []*call) {
	if unsent, c.written = c.written, nil; len(unsent) > 0 {
		c.out = c.out[:c.unsentFrom]
	}
	return unsent
}

// ConnectionError is what the exchanges under way get when their connection ends.
type ConnectionError struct {
	Err      error
	Answered bool // something of the answer had come
	Unsent   bool // nothing of the request has left us
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("the connection ended before the exchange: %v", e.Err)
}

// Unwrap lets the pool see that the request may be sent again.
func (e *ConnectionError) Unwrap() []error {
	switch {
	case e.Answered:
		return []error{e.Err}
	case e.Unsent:
		return []error{e.Err, exchange.ErrNotSent}
	}
	return []error{e.Err, exchange.ErrNotProcessed}
}

// closeWith says good-bye and ends the connection when that is written.
func (c *core) closeWith(code http2.ErrCode, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.failLocked(err) // first: it takes back what was not sent
	c.framer.WriteGoAway(c.newestOfPeer(), code, []byte(debugText(err)))
}

func debugText(err error) string {
	if err == nil || err == errClosed {
		return ""
	}
	return err.Error()
}

func (c *core) newestOfPeer() uint32 {
	if client, isClient := c.role.(*Client); isClient {
		return client.promised
	}
	return c.newest
}

// why is how a connection that ended is told of: nil for an orderly end.
func (c *core) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == errClosed || errors.Is(c.err, io.EOF) {
		return nil
	}
	return c.err
}

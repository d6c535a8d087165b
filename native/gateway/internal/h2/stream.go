package h2

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/buffer"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/flood"
)

// A window counts what the peer may still send, and gives back what was read in large steps: half of the window at a time, as Chromium does.
type window struct {
	size, left, read int64
}

// take counts bytes that came; false: more than allowed.
func (w *window) take(n int64) bool {
	w.left -= n
	return w.left >= 0
}

// give counts bytes that were read, and returns what to give back now.
func (w *window) give(n int64) uint32 {
	if w.read += n; w.read <= w.size/2 {
		return 0
	}
	back := w.read
	w.left += back
	w.read = 0
	return uint32(back)
}

// A stream is one exchange in either role. Everything in it is guarded by the core's lock.
type stream struct {
	core     *core
	id       uint32
	changed  sync.Cond // something to read, or an end
	sending  int64     // how many bytes of DATA the peer takes
	received window
	buffer   buffer.Buffer
	headed   bool      // its head has come
	call     *call     // the client's side of it
	exchange *Exchange // or the server's
	trailers []exchange.Field

	recvEnded bool  // the peer sent END_STREAM
	sendEnded bool  // we did
	stopped   bool  // nothing more needs to be sent
	err       error // why it ended before its time
}

func (c *core) newStream(id uint32) *stream {
	s := &stream{core: c, id: id, sending: c.peer.initialWindow}
	s.received = window{size: c.ours.streamWindow, left: c.ours.streamWindow}
	s.changed.L = &c.mu
	c.streams[id] = s
	if id%2 == 1 {
		c.newest = max(c.newest, id)
	}
	return s
}

// ResetError: the peer ended the stream.
type ResetError struct{ Code http2.ErrCode }

func (e *ResetError) Error() string { return fmt.Sprintf("the peer reset the stream: %v", e.Code) }

// Is lets the pool see that a refused request may be sent again.
func (e *ResetError) Is(target error) bool {
	return e.Code == http2.ErrCodeRefusedStream && errors.Is(exchange.ErrRefused, target)
}

// goneAwayError: the peer ended the connection and has not looked at this stream.
type goneAwayError struct{ code http2.ErrCode }

func (e *goneAwayError) Error() string {
	return fmt.Sprintf("the peer went away (%v) before it looked at the stream", e.code)
}
func (e *goneAwayError) Is(target error) bool { return errors.Is(exchange.ErrRefused, target) }

// errCancelled: our own side ended the stream.
var errCancelled = errors.New("the exchange was cancelled")

// fail ends a stream on our side. With the lock.
func (s *stream) fail(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	s.discard()
	s.changed.Broadcast()
	s.core.space.Broadcast()
	if s.exchange != nil {
		s.exchange.cancel()
	}
}

// stopSending: the peer needs nothing more of us. With the lock.
func (s *stream) stopSending() {
	s.stopped = true
	s.core.space.Broadcast()
}

// discard drops what nobody will read, and gives it back to the connection's window. With the lock.
func (s *stream) discard() {
	if n := s.buffer.Clear(); n > 0 {
		s.core.giveBack(int64(n))
	}
}

// reset ends the stream on both sides. With the lock.
func (s *stream) reset(code http2.ErrCode, err error) {
	if s.core.streams[s.id] == s {
		s.core.forget(s)
		before := len(s.core.out)
		s.core.framer.WriteRSTStream(s.id, code)
		s.core.sendReply(before)
	}
	s.fail(err)
}

// breakOff resets the stream for what the peer did. With the lock.
func (s *stream) breakOff(code http2.ErrCode) {
	broken := http2.StreamError{StreamID: s.id, Code: code}
	s.reset(code, fmt.Errorf("the peer broke the protocol on this stream: %w", broken))
}

// resetFor ends a stream on which the peer broke the protocol.
func (c *core) resetFor(broken http2.StreamError) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.floods.Count(flood.Refused); err != nil {
		return err
	}
	id := broken.StreamID
	if s := c.streams[id]; s != nil {
		s.breakOff(broken.Code)
		return nil
	}
	if _, isServer := c.role.(*Server); isServer && id%2 == 1 {
		c.newest = max(c.newest, id) // a request that cannot be read is one
	}
	if err := c.mustHaveBeen(id, "a malformed frame"); err != nil {
		return err
	}
	before := len(c.out)
	c.framer.WriteRSTStream(id, broken.Code)
	c.sendReply(before)
	return nil
}

// forget takes a stream out of those under way. With the lock.
func (c *core) forget(s *stream) {
	delete(c.streams, s.id)
	c.role.forgotten(s)
	c.closeIfDrained()
}

// forgetIfOver does so when both sides have said all. With the lock.
func (c *core) forgetIfOver(s *stream) {
	if s.recvEnded && s.sendEnded && c.streams[s.id] == s {
		c.forget(s)
	}
}

// endReceiving: the peer has said all. With the lock.
func (s *stream) endReceiving(trailers []exchange.Field) {
	s.recvEnded, s.trailers = true, trailers
	if s.call != nil {
		s.call.notes.LastByte()
	}
	s.changed.Broadcast()
	s.core.forgetIfOver(s)
}

// giveBack lets the peer send as much again. With the lock.
func (c *core) giveBack(n int64) {
	if back := c.received.give(n); back > 0 && c.err == nil {
		c.framer.WriteWindowUpdate(0, back)
		c.send()
	}
}

func (s *stream) giveBack(n int64) {
	s.core.giveBack(n)
	if back := s.received.give(n); back > 0 && !s.recvEnded && s.err == nil && s.core.err == nil {
		s.core.framer.WriteWindowUpdate(s.id, back)
		s.core.send()
	}
}

// read waits for DATA. What is read may be sent again by the peer: so a reader that does not read stops the peer.
func (s *stream) read(p []byte) (int, error) {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	for s.buffer.Size() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if s.recvEnded {
			return 0, io.EOF
		}
		s.changed.Wait()
	}
	n := s.buffer.Read(p)
	s.giveBack(int64(n))
	return n, nil
}

// errNotWanted: the peer needs no more of what we send.
var errNotWanted = errors.New("the peer wants no more")

// write sends DATA as the windows allow, and END_STREAM after it. It waits while they do not.
func (s *stream) write(p []byte, end bool) error {
	c := s.core
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case s.err != nil:
			return s.err
		case s.stopped:
			return errNotWanted
		}
		room := min(int64(len(p)), s.sending, c.sending, int64(c.peer.maxFrame))
		if len(c.out) >= fullBuffer || (len(p) > 0 && room <= 0) {
			c.space.Wait()
			continue
		}
		part := p[:max(room, 0)]
		p = p[len(part):]
		last := len(p) == 0
		if len(part) > 0 || end {
			c.framer.WriteData(s.id, last && end, part)
			c.floods.Step()
		}
		s.sending -= int64(len(part))
		c.sending -= int64(len(part))
		if last {
			if end {
				s.sendEnded = true
				c.forgetIfOver(s)
			}
			c.send()
			return nil
		}
		c.send()
	}
}

package h2

import (
	"errors"
	"io"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/flood"
)

// nextIsData tells whether the next frame is DATA. Where none can be seen it is not: the framer finds out why.
func (c *core) nextIsData() bool {
	head, err := c.reader.Peek(frameHeadBytes)
	return err == nil && http2.FrameType(head[3]) == http2.FrameData
}

// takeData reads a DATA frame and hands its payload on as it comes. The framer would hold it until the frame is whole, and a server may make one
// frame of a page that takes two round trips.
func (c *core) takeData() error {
	head, err := http2.ReadFrameHeader(c.reader)
	switch {
	case err != nil:
		return err
	case head.StreamID == 0:
		return broken(http2.ErrCodeProtocol, "DATA on stream 0")
	case head.Length > defaultFrame:
		return http2.ErrFrameTooLarge
	}
	if err := c.admit(head); err != nil {
		return err
	}
	size, padding, err := c.padding(head)
	if err != nil {
		return err
	}
	if err := c.handOn(head.StreamID, size); err != nil {
		return err
	}
	if err := c.discard(padding); err != nil {
		return err
	}
	return c.dataEnded(head, size)
}

// admit takes a frame from the windows and looks whether its stream may have it. Where it may not, the stream ends, and what comes is for nobody.
func (c *core) admit(head http2.FrameHeader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	length := int64(head.Length)
	if !c.received.take(length) {
		return broken(http2.ErrCodeFlowControl, "more DATA than the connection's window")
	}
	s := c.streams[head.StreamID]
	switch {
	case s == nil:
		return c.mustHaveBeen(head.StreamID, "DATA")
	case s.recvEnded || !s.headed:
		s.breakOff(http2.ErrCodeStreamClosed)
	case !s.received.take(length):
		s.breakOff(http2.ErrCodeFlowControl)
	}
	return nil
}

// padding reads how much padding a frame has. size: of what is not padding; padding: of what is left of it.
func (c *core) padding(head http2.FrameHeader) (size, padding int, err error) {
	size = int(head.Length)
	if !head.Flags.Has(http2.FlagDataPadded) {
		return size, 0, nil
	}
	if size == 0 {
		return 0, 0, broken(http2.ErrCodeFrameSize, "a padded DATA frame without a payload")
	}
	length, err := c.reader.ReadByte()
	if err != nil {
		return 0, 0, cutShort(err)
	}
	size, padding = size-1-int(length), int(length)
	if size < 0 {
		return 0, 0, broken(http2.ErrCodeProtocol, "DATA with more padding than its frame has room for")
	}
	return size, padding, nil
}

// handOn gives a stream the next bytes, whenever some have come.
func (c *core) handOn(id uint32, size int) error {
	for left := size; left > 0; {
		if _, err := c.reader.Peek(1); err != nil {
			return cutShort(err)
		}
		part, _ := c.reader.Peek(min(left, c.reader.Buffered())) // all of it is there
		c.give(id, part, left == size)
		c.reader.Discard(len(part))
		left -= len(part)
	}
	return nil
}

// give adds to what a stream's reader finds; begins: a frame's first bytes. A stream that has ended meanwhile has no reader.
func (c *core) give(id uint32, part []byte, begins bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[id]
	if s == nil {
		c.giveBack(int64(len(part)))
		return
	}
	s.buffer.Write(part)
	if begins {
		c.turns.Data(id)
	}
	s.changed.Broadcast()
}

func (c *core) discard(count int) error {
	_, err := c.reader.Discard(count)
	return cutShort(err)
}

// dataEnded: a frame is whole. Its padding, which nobody reads, may be sent again.
func (c *core) dataEnded(head http2.FrameHeader, size int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	padding, ends := int64(head.Length)-int64(size), head.Flags.Has(http2.FlagDataEndStream)
	if size == 0 && !ends {
		if err := c.floods.Count(flood.Empty); err != nil {
			return err
		}
	}
	s := c.streams[head.StreamID]
	if s == nil {
		c.giveBack(padding)
		return nil
	}
	if padding > 0 {
		s.giveBack(padding)
	}
	if ends {
		c.turns.Over(s.id)
		s.endReceiving(nil)
	}
	return nil
}

// cutShort is the error of a connection that ended in the middle of a frame.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

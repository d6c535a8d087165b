package h2

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/flood"
)

// readLoop takes frames until the connection ends, and says why it does.
func (c *core) readLoop() {
	greeted := false
	for {
		err := c.takeNext(greeted)
		greeted = true
		var streamError http2.StreamError
		if errors.As(err, &streamError) {
			err = c.resetFor(streamError)
		}
		if err != nil {
			c.readEnded(err)
			return
		}
	}
}

// takeNext reads a frame and acts on it.
func (c *core) takeNext(greeted bool) error {
	if greeted && c.nextIsData() {
		return c.takeData()
	}
	c.frames.read = 0
	frame, err := c.framer.ReadFrame()
	if !greeted {
		err = greeting(frame, err)
	}
	if err != nil {
		return err
	}
	if err := c.countFlood(frame); err != nil {
		return err
	}
	return c.take(frame)
}

// countFlood counts a frame that no exchange needs, whatever it says.
func (c *core) countFlood(frame http2.Frame) error {
	var kind flood.Kind
	switch frame.(type) {
	case *http2.MetaHeadersFrame, *http2.PushPromiseFrame:
		return nil
	case *http2.SettingsFrame:
		kind = flood.Settings
	case *http2.PingFrame:
		kind = flood.Ping
	case *http2.WindowUpdateFrame:
		kind = flood.WindowUpdate
	case *http2.PriorityFrame, *http2.PriorityUpdateFrame:
		kind = flood.Priority
	case *http2.RSTStreamFrame:
		kind = flood.Reset
	default:
		kind = flood.Empty
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.floods.Count(kind)
}

// greeting: SETTINGS come first, or the peer speaks something else.
func greeting(frame http2.Frame, err error) error {
	var wrong http2.ConnectionError
	_, settings := frame.(*http2.SettingsFrame)
	if (err == nil && !settings) || errors.Is(err, http2.ErrFrameTooLarge) || errors.As(err, &wrong) {
		return broken(http2.ErrCodeProtocol, "it did not begin with SETTINGS, so it does not speak HTTP/2")
	}
	return err
}

func (c *core) readEnded(err error) {
	var broken http2.ConnectionError
	var protocol *protocolError
	var flooded *flood.Error
	switch {
	case errors.As(err, &flooded):
		c.closeWith(http2.ErrCodeEnhanceYourCalm, flooded)
	case errors.As(err, &protocol):
		c.closeWith(protocol.code, protocol)
	case errors.As(err, &broken):
		detail := c.framer.ErrorDetail()
		if detail == nil {
			detail = err
		}
		c.closeWith(http2.ErrCode(broken), fmt.Errorf("the peer broke the protocol: %w", detail))
	case errors.Is(err, http2.ErrFrameTooLarge):
		c.closeWith(http2.ErrCodeFrameSize, fmt.Errorf("the peer broke the protocol: %w", err))
	case err == io.EOF:
		c.fail(io.EOF)
	default:
		c.fail(fmt.Errorf("cannot receive: %w", err))
	}
}

// A protocolError ends the connection.
type protocolError struct {
	code http2.ErrCode
	what string
}

func (e *protocolError) Error() string { return "the peer broke the protocol: " + e.what }

func broken(code http2.ErrCode, format string, values ...any) error {
	return &protocolError{code, fmt.Sprintf(format, values...)}
}

func (c *core) take(frame http2.Frame) error {
	switch f := frame.(type) {
	case *http2.MetaHeadersFrame:
		return c.role.headers(f.StreamID, newHeaderBlock(f, c.frames.read))
	case *http2.SettingsFrame:
		return c.takeSettings(f)
	case *http2.PingFrame:
		return c.takePing(f)
	case *http2.WindowUpdateFrame:
		return c.takeWindowUpdate(f)
	case *http2.RSTStreamFrame:
		return c.takeReset(f)
	case *http2.GoAwayFrame:
		c.takeGoAway(f)
	case *http2.PriorityUpdateFrame:
		c.role.reprioritised(f.PrioritizedStreamID, exchange.ParsePriority(f.Priority))
	case *http2.PriorityFrame:
		if urgency, known := urgencyOf(f.Weight); known {
			c.role.reprioritised(f.StreamID, exchange.Priority{Urgency: urgency, Incremental: c.incremental(f.StreamID)})
		}
	case *http2.PushPromiseFrame:
		return c.role.promise(f)
	}
	return nil // unknown frames are to be ignored
}

// incremental is what a request said at first: PRIORITY does not tell of it.
func (c *core) incremental(id uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.streams[id]; s != nil && s.exchange != nil {
		return exchange.ParsePriority(fieldValue(s.exchange.Fields, "priority")).Incremental
	}
	return false
}

func (c *core) takeSettings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		c.mu.Lock()
		c.acknowledged = true
		c.mu.Unlock()
		return nil
	}
	defer c.role.settled()
	c.mu.Lock()
	defer c.mu.Unlock()
	err := f.ForeachSetting(func(s http2.Setting) error {
		if err := s.Valid(); err != nil {
			return err
		}
		if name := strings.ToLower(s.ID.String()); !strings.HasPrefix(name, "unknown") {
			c.heard[name] = s.Val
		}
		switch s.ID {
		case http2.SettingInitialWindowSize:
			return c.moveWindows(int64(s.Val))
		case http2.SettingMaxFrameSize:
			c.peer.maxFrame = int(s.Val)
		case http2.SettingMaxConcurrentStreams:
			c.peer.maxStreams = s.Val
		case http2.SettingNoRFC7540Priorities:
			c.peer.newPriorities = s.Val == 1
		case http2.SettingHeaderTableSize:
			c.encoder.SetMaxDynamicTableSizeLimit(s.Val)
		}
		return nil
	})
	if err != nil {
		return err
	}
	before := len(c.out)
	c.framer.WriteSettingsAck()
	c.sendReply(before)
	return nil
}

// moveWindows: a new initial window counts for the streams that are there, too.
func (c *core) moveWindows(initial int64) error {
	by := initial - c.peer.initialWindow
	c.peer.initialWindow = initial
	for _, s := range c.streams {
		if s.sending += by; s.sending > mostWindow {
			return broken(http2.ErrCodeFlowControl, "a window above 2^31-1")
		}
	}
	c.space.Broadcast()
	return nil
}

func (c *core) takePing(f *http2.PingFrame) error {
	if f.IsAck() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.out)
	c.framer.WritePing(true, f.Data)
	c.sendReply(before)
	return nil
}

func (c *core) takeWindowUpdate(f *http2.WindowUpdateFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.StreamID == 0 {
		if c.sending += int64(f.Increment); c.sending > mostWindow {
			return broken(http2.ErrCodeFlowControl, "a window above 2^31-1")
		}
		c.space.Broadcast()
		return nil
	}
	s := c.streams[f.StreamID]
	if s == nil {
		return c.mustHaveBeen(f.StreamID, "WINDOW_UPDATE")
	}
	if s.sending += int64(f.Increment); s.sending > mostWindow {
		return http2.StreamError{StreamID: f.StreamID, Code: http2.ErrCodeFlowControl}
	}
	c.space.Broadcast()
	return nil
}

// mustHaveBeen: frames for a stream that is over may still be on their way; for one that never began they are an error.
func (c *core) mustHaveBeen(id uint32, frame string) error {
	newest := c.newest
	if id%2 == 0 {
		newest = 0
		if client, isClient := c.role.(*Client); isClient {
			newest = client.promised
		}
	}
	if id > newest || id == 0 {
		return broken(http2.ErrCodeProtocol, "%s for stream %d, which was never opened", frame, id)
	}
	return nil
}

func (c *core) takeReset(f *http2.RSTStreamFrame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[f.StreamID]
	if s == nil {
		return c.mustHaveBeen(f.StreamID, "RST_STREAM")
	}
	c.forget(s)
	if s.call != nil && s.recvEnded && f.ErrCode == http2.ErrCodeNo {
		s.stopSending() // the answer is whole, the peer only does not want the rest of what it answered
		return nil
	}
	s.fail(&ResetError{Code: f.ErrCode})
	return nil
}

func (c *core) takeGoAway(f *http2.GoAwayFrame) {
	defer c.role.settled()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	for id, s := range c.streams {
		if id > f.LastStreamID && c.isOurs(id) {
			c.forget(s)
			s.fail(&goneAwayError{code: f.ErrCode})
		}
	}
	c.closeIfDrained()
}

func (c *core) isOurs(id uint32) bool {
	_, isServer := c.role.(*Server)
	return (id%2 == 0) == isServer
}

// closeIfDrained ends a connection on which nothing new may begin when nothing is under way. With the lock.
func (c *core) closeIfDrained() {
	if c.draining && len(c.streams) == 0 && c.err == nil {
		c.failLocked(io.EOF)
	}
}

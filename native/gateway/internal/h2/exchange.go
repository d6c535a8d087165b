package h2

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
)

// An Exchange is one request of the browser and our answer.
type Exchange struct {
	Method, Authority, Path string
	Fields                  []exchange.Field
	Size                    int64 // of the body; -1: unknown

	stream     *stream
	server     *Server
	ctx        context.Context
	cancel     func()
	onPriority func(exchange.Priority)
}

// Context ends when the browser has reset the stream, or its connection ended.
func (x *Exchange) Context() context.Context { return x.ctx }

// OnPriority is told when the browser gives the request another priority. Before handle returns, or never.
func (x *Exchange) OnPriority(tell func(exchange.Priority)) {
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.onPriority = tell
}

// Head is what was asked.
func (x *Exchange) Head() (method, authority, path string, fields []exchange.Field) {
	return x.Method, x.Authority, x.Path, x.Fields
}

// Body is nil where the request has none. size -1: it does not say.
func (x *Exchange) Body() (body io.Reader, size int64) {
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	if x.stream.recvEnded && x.stream.buffer.Size() == 0 {
		return nil, 0
	}
	return serverBody{x.stream}, x.Size
}

type serverBody struct{ stream *stream }

func (b serverBody) Read(p []byte) (int, error) { return b.stream.read(p) }

// Inform sends an interim response. It does not wait: a browser that does not read has to do without.
func (x *Exchange) Inform(status int, fields []exchange.Field) {
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	if len(x.server.out) < fullBuffer {
		x.head(status, fields, false)
	}
}

// Respond sends the head of the answer. end: it has no body.
func (x *Exchange) Respond(status int, fields []exchange.Field, end bool) error {
	s := x.stream
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	for len(s.core.out) >= fullBuffer && s.err == nil {
		s.core.space.Wait()
	}
	return x.head(status, fields, end)
}

// head: with the lock.
func (x *Exchange) head(status int, fields []exchange.Field, end bool) error {
	s := x.stream
	if s.err != nil {
		return s.err
	}
	if s.stopped || s.sendEnded {
		return errNotWanted
	}
	all := make([]exchange.Field, 0, len(fields)+1)
	all = append(all, exchange.Field{Name: ":status", Value: strconv.Itoa(status)})
	s.core.writeBlock(s.id, append(all, fields...), end, http2.PriorityParam{})
	if end {
		x.endSending()
	}
	s.core.send()
	return nil
}

// Write sends a part of the body, as fast as the browser takes it.
func (x *Exchange) Write(p []byte) (int, error) {
	if err := x.stream.write(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// End ends the answer.
func (x *Exchange) End(trailers []exchange.Field) error {
	s := x.stream
	if len(trailers) == 0 {
		if err := s.write(nil, true); err != nil {
			return err
		}
		s.core.mu.Lock()
		defer s.core.mu.Unlock()
		x.stopRequest()
		return nil
	}
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	if s.err != nil || s.stopped {
		return s.err
	}
	s.core.writeBlock(s.id, trailers, true, http2.PriorityParam{})
	x.endSending()
	s.core.send()
	return nil
}

func (x *Exchange) endSending() {
	x.stream.sendEnded = true
	x.stream.core.forgetIfOver(x.stream)
	x.stopRequest()
}

// stopRequest: an answer that is whole before the request tells the browser to stop.
func (x *Exchange) stopRequest() {
	if !x.stream.recvEnded && x.stream.err == nil {
		x.stream.reset(http2.ErrCodeNo, errNotWanted)
	}
}

// Abort ends an answer that cannot be completed, so that the browser does not take it for a whole one.
func (x *Exchange) Abort(err error) {
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.stream.reset(http2.ErrCodeInternal, fmt.Errorf("ended by us: %w", err))
}

// Finish must be called when everything about an exchange is over.
func (x *Exchange) Finish() {
	x.cancel()
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.stream.discard()
	x.server.live--
}

// refuse is called by the reading goroutine, so it does not wait.
func (x *Exchange) refuse(status int) {
	x.server.mu.Lock()
	before := len(x.server.out)
	x.head(status, []exchange.Field{{Name: "content-length", Value: "0"}}, true)
	x.server.sendReply(before)
	x.server.mu.Unlock()
	x.Finish()
}

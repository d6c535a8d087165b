package spdyconn

import (
	"errors"
	"fmt"
	"io"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

// ServerStream is a request at the server, and what its handler does about it. Its methods are its handler's alone.
type ServerStream struct {
	ID           uint32
	Head         spdy.RequestHead
	Priority     uint8
	RequestSizes spdy.HeaderSizes
	Body         io.Reader // of the request

	conn    *ServerConn
	body    *body
	drained chan struct{}
	over    chan struct{} // closed when the stream is gone
	failure error         // why
	closed  bool          // our half has ended; the handler's alone
}

func (c *ServerConn) newStream(id uint32) *ServerStream {
	st := &ServerStream{ID: id, conn: c, drained: make(chan struct{}, 1), over: make(chan struct{})}
	st.body = newBody(c.link, st.consumed)
	st.Body = st.body
	c.streams[id] = st
	return st
}

// Conn is the stream's connection.
func (st *ServerStream) Conn() *ServerConn { return st.conn }

// Over is closed when the stream is gone: reset, or its connection ended.
func (st *ServerStream) Over() <-chan struct{} { return st.over }

// Reply sends the response's head. With last there is no body.
func (st *ServerStream) Reply(status int, last bool, fields ...exchange.Field) error {
	return st.act("the reply", func(session *spdy.Session) error {
		_, err := session.Reply(st.ID, session.Version().ResponseFields(status, fields), last)
		st.closed = st.closed || (last && err == nil)
		return err
	})
}

// Write sends a part of the body, and returns when all of it was handed to the kernel.
func (st *ServerStream) Write(bytes []byte) (int, error) {
	if len(bytes) == 0 {
		return 0, nil
	}
	err := st.act("a part of the body", func(session *spdy.Session) error { return session.Write(st.ID, bytes, false) })
	if err != nil {
		return 0, err
	}
	select {
	case <-st.drained:
		return len(bytes), nil
	case <-st.over:
		return 0, st.why()
	}
}

// Close ends the body. What was not answered yet is answered with 200.
func (st *ServerStream) Close() error {
	if st.closed {
		return nil
	}
	st.closed = true
	return st.act("the end of the body", func(session *spdy.Session) error {
		if !session.Replied(st.ID) {
			if _, err := session.Reply(st.ID, session.Version().ResponseFields(200, nil), true); err != nil {
				return err
			}
			st.forgetIfOver()
			return nil
		}
		return session.Write(st.ID, nil, true)
	})
}

// Trailers ends the body with header fields after it.
func (st *ServerStream) Trailers(fields ...exchange.Field) error {
	st.closed = true
	return st.act("trailers", func(session *spdy.Session) error { return session.Trailers(st.ID, fields) })
}

// Reset ends the stream at once.
func (st *ServerStream) Reset(status spdy.Status) {
	st.closed = true
	st.conn.do(func() {
		if st.conn.session.Reset(st.ID, status) {
			st.fail(&spdy.StreamError{StreamID: st.ID, Status: status, Reason: "the handler reset it"})
		}
	})
}

// Push opens a stream to the client that belongs to this one. Its reply's head goes with it; its body is to be written and closed as any.
func (st *ServerStream) Push(url string, fields ...exchange.Field) (pushed *ServerStream, err error) {
	err = st.act("a push", func(session *spdy.Session) error {
		all := session.Version().PushFields(st.Head, url, fields)
		id, _, err := session.Push(st.ID, all, st.Priority)
		if err == nil {
			pushed = st.conn.newStream(id)
		}
		return err
	})
	return pushed, err
}

func (st *ServerStream) act(what string, act func(*spdy.Session) error) (err error) {
	st.conn.do(func() {
		if err = st.failure; err == nil {
			err = act(st.conn.session)
		}
	})
	if err != nil {
		return fmt.Errorf("spdyconn: %s of stream %d cannot be sent: %w", what, st.ID, err)
	}
	return nil
}

func (st *ServerStream) why() error {
	st.conn.mutex.Lock()
	defer st.conn.mutex.Unlock()
	if st.failure == nil {
		return errors.New("spdyconn: the stream is over")
	}
	return st.failure
}

// What follows is called with the link's lock held.

func (st *ServerStream) received(e spdy.Received) {
	unwanted := st.body.add(e.Bytes)
	st.conn.held += len(e.Bytes) - unwanted
	if unwanted > 0 {
		st.conn.session.Consume(st.ID, unwanted)
	}
	if e.Fin {
		st.finished()
	}
}

func (st *ServerStream) finished() {
	st.body.finish(io.EOF, false)
	st.forgetIfOver()
}

func (st *ServerStream) consumed(count int) {
	st.conn.held -= count
	st.conn.session.Consume(st.ID, count)
	st.conn.reading.Signal()
}

func (st *ServerStream) wasDrained() {
	select {
	case st.drained <- struct{}{}:
	default:
	}
	st.forgetIfOver()
}

func (st *ServerStream) forgetIfOver() {
	if !st.conn.session.IsOpen(st.ID) {
		st.forget()
	}
}

func (st *ServerStream) forget() {
	if st.conn.streams[st.ID] == st {
		delete(st.conn.streams, st.ID)
		close(st.over)
	}
}

func (st *ServerStream) fail(err error) {
	st.failure = err
	if dropped := st.body.finish(err, true); dropped > 0 {
		st.consumed(dropped)
	}
	st.forget()
}

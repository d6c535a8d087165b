package spdyconn

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"lanelab/gateway/internal/spdy"
)

// Server is the other side of a connection, for tests: it can do all that a server may do to a client, on demand.
type Server struct {
	Version  spdy.Version
	Settings Settings               // MaxStreams: how many streams a client may have open
	Handler  func(*ServerStream)    // called in a goroutine of its own for each stream; the stream is closed when it returns
	Greet    func(*spdy.Session)    // nil, or what else to say at a connection's beginning
	Accepted func(conn *ServerConn) // nil, or told of each connection
}

// ServerConn is one connection of a Server.
type ServerConn struct {
	*link
	server   *Server
	settings Settings

	// What follows is the link's lock's.
	streams  map[uint32]*ServerStream
	held     int
	handlers sync.WaitGroup
}

// Listen serves every connection that a listener accepts, until it is closed; then it waits for the connections' end.
func (s *Server) Listen(listener net.Listener) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("spdyconn: accepting connections on %s: %w", listener.Addr(), err)
		}
		serving.Go(func() { _ = s.Serve(conn) }) // how a connection ends is its client's affair, and its test's
	}
}

// Serve serves one connection to its end.
func (s *Server) Serve(conn net.Conn) error {
	c := s.Start(conn)
	<-c.done
	c.handlers.Wait()
	return c.cause
}

// Start begins to serve a connection.
func (s *Server) Start(conn net.Conn) *ServerConn {
	settings := s.Settings.withDefaults()
	c := &ServerConn{server: s, settings: settings, streams: make(map[uint32]*ServerStream)}
	session := spdy.NewSession(spdy.ServerRole, s.Version, spdy.Config{
		StreamWindow: settings.StreamWindow, SessionWindow: settings.SessionWindow, MaxPeerStreams: settings.MaxStreams,
		MaxHeaderBytes: settings.MaxHeaderBytes, MaxControlBytes: maxControlBytes, HeaderLevel: *settings.HeaderLevel,
	})
	c.link = newLink(conn, c, session, settings)
	if s.Greet != nil {
		s.Greet(session)
	}
	if s.Accepted != nil {
		s.Accepted(c)
	}
	c.start()
	return c
}

// Do runs something on the session: what tests want to have happen.
func (c *ServerConn) Do(act func(*spdy.Session)) { c.do(func() { act(c.session) }) }

// GoAway refuses further streams; those that are open go on.
func (c *ServerConn) GoAway() { c.do(func() { c.session.GoAway(spdy.GoAwayOK) }) }

// Close ends the connection.
func (c *ServerConn) Close() { c.do(func() { c.end(nil) }) }

// Cut ends the connection as a crash would: without a word.
func (c *ServerConn) Cut() { _ = c.conn.Close() }

// Done is closed when the connection has ended.
func (c *ServerConn) Done() <-chan struct{} { return c.done }

// What follows is called by the link, with its lock held.

func (c *ServerConn) changed()      {}
func (c *ServerConn) busy() int     { return len(c.streams) }
func (c *ServerConn) unread() int   { return c.held }
func (c *ServerConn) opened(uint32) {}

func (c *ServerConn) drained(id uint32) {
	if st := c.streams[id]; st != nil {
		st.wasDrained()
	}
}

func (c *ServerConn) handle(event spdy.Event) {
	switch e := event.(type) {
	case spdy.Opened:
		c.openedByClient(e)
	case spdy.Received:
		st := c.streams[e.StreamID]
		if st == nil {
			c.session.Consume(e.StreamID, len(e.Bytes))
			return
		}
		st.received(e)
	case spdy.Ended:
		if st := c.streams[e.Err.StreamID]; st != nil {
			st.fail(e.Err)
		}
	}
}

func (c *ServerConn) openedByClient(e spdy.Opened) {
	head, err := c.session.Version().ParseRequest(e.Fields)
	if err != nil {
		c.session.Reset(e.StreamID, spdy.ProtocolError)
		return
	}
	st := c.newStream(e.StreamID)
	st.Head, st.Priority, st.RequestSizes = head, e.Priority, e.Sizes
	if e.Fin {
		st.finished()
	}
	c.handlers.Go(func() {
		c.server.Handler(st)
		_ = st.Close() // a stream that was reset needs none
	})
}

func (c *ServerConn) ended(cause error) {
	if cause == nil {
		cause = errClosed
	}
	for _, st := range c.streams {
		st.fail(cause)
	}
}

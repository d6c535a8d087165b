package h2

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/flood"
)

const (
	// mostStreams the browser may have open: it should never wait for us.
	mostStreams = 1000
	// What the browser may send before the wire has taken it: small, so that the wire and not our memory sets the pace of an upload.
	serverStreamWindow  = 256 << 10
	serverSessionWindow = 1 << 20

	prefaceTime = 30 * time.Second
)

// A Server is the browser's connection.
type Server struct {
	*core
	handle func(*Exchange)
	live   int // exchanges that were handed over and are not finished, reset ones too
}

// Serve reads requests from the browser's connection until it ends. handle is called for each, in their order, and must not wait.
func Serve(conn net.Conn, handle func(*Exchange)) *Server {
	s := &Server{handle: handle}
	s.core = newCore(conn, s, serverStreamWindow, serverSessionWindow)
	s.framer.WriteSettings(
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: mostStreams},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: serverStreamWindow},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: mostHeaderBytes},
		http2.Setting{ID: http2.SettingNoRFC7540Priorities, Val: 1},
	)
	s.framer.WriteWindowUpdate(0, serverSessionWindow-65535)
	go s.writeLoop()
	go s.readRequests()
	s.mu.Lock()
	s.send()
	s.mu.Unlock()
	return s
}

func (s *Server) readRequests() {
	preface := make([]byte, len(http2.ClientPreface))
	s.conn.SetReadDeadline(time.Now().Add(prefaceTime))
	if _, err := io.ReadFull(s.reader, preface); err != nil || string(preface) != http2.ClientPreface {
		s.fail(errors.New("the browser did not begin as HTTP/2 does"))
		return
	}
	s.conn.SetReadDeadline(time.Time{})
	s.readLoop()
}

// Close ends the connection.
func (s *Server) Close() { s.closeWith(http2.ErrCodeNo, errClosed) }

// Wait returns when what was to be written is, and the connection is closed.
func (s *Server) Wait() { <-s.quiet }

// Done is closed when the connection has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

func (s *Server) ended(error) {}
func (s *Server) promise(*http2.PushPromiseFrame) error {
	return broken(http2.ErrCodeProtocol, "PUSH_PROMISE of a client")
}

func (s *Server) settled()          {}
func (s *Server) forgotten(*stream) {}

func (s *Server) reprioritised(id uint32, priority exchange.Priority) {
	s.mu.Lock()
	var tell func(exchange.Priority)
	if stream := s.streams[id]; stream != nil && stream.exchange != nil {
		tell = stream.exchange.onPriority
	}
	s.mu.Unlock()
	if tell != nil {
		tell(priority)
	}
}

// headers takes a request, or its trailers.
func (s *Server) headers(id uint32, block *headerBlock) error {
	s.mu.Lock()
	known := s.streams[id]
	newest, under, live := s.newest, len(s.streams), s.live
	s.mu.Unlock()
	switch {
	case known != nil:
		return s.trailers(known, block)
	case id%2 == 0:
		return broken(http2.ErrCodeProtocol, "a request on stream %d", id)
	case id <= newest:
		return s.lateHeaders() // of a stream that was reset a moment ago
	case live >= 4*mostStreams:
		return broken(http2.ErrCodeEnhanceYourCalm, "more requests reset than can be cleared away")
	}
	if under >= mostStreams {
		s.mu.Lock()
		s.newest = id
		s.mu.Unlock()
		return http2.StreamError{StreamID: id, Code: http2.ErrCodeRefusedStream}
	}
	return s.open(id, block)
}

func (s *Server) lateHeaders() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.floods.Count(flood.Empty)
}

func (s *Server) open(id uint32, block *headerBlock) error {
	h, err := parseHead(block.fields)
	if err == nil && !block.tooLarge {
		err = h.checkRequest()
	}
	if err == nil && h.authority == "" {
		h.authority = fieldValue(h.fields, "host")
	}
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		return nil
	}
	stream := s.newStream(id)
	if err != nil {
		stream.reset(http2.ErrCodeProtocol, err)
		s.mu.Unlock()
		return nil
	}
	stream.headed, stream.recvEnded = true, block.end
	ctx, cancel := context.WithCancel(context.Background())
	x := &Exchange{
		stream: stream, server: s, ctx: ctx, cancel: cancel,
		Method: h.method, Authority: h.authority, Path: h.path, Fields: h.fields, Size: bodySize(h.fields, block.end),
	}
	stream.exchange = x
	s.live++
	s.floods.Step()
	s.mu.Unlock()
	if block.tooLarge {
		x.refuse(431)
		return nil
	}
	if block.end && x.Size > 0 {
		x.Abort(errors.New("a body was announced and did not come"))
		x.Finish()
		return nil
	}
	s.handle(x)
	return nil
}

func fieldValue(fields []exchange.Field, name string) string {
	for _, field := range fields {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

func bodySize(fields []exchange.Field, none bool) int64 {
	for _, field := range fields {
		if field.Name == "content-length" {
			if size, err := strconv.ParseInt(field.Value, 10, 64); err == nil && size >= 0 {
				return size
			}
		}
	}
	if none {
		return 0
	}
	return -1
}

func (s *Server) trailers(stream *stream, block *headerBlock) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stream.recvEnded {
		return http2.StreamError{StreamID: stream.id, Code: http2.ErrCodeStreamClosed}
	}
	if err := checkFields(block.fields); err != nil || !block.end {
		return http2.StreamError{StreamID: stream.id, Code: http2.ErrCodeProtocol}
	}
	stream.endReceiving(block.fields)
	return nil
}

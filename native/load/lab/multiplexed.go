package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"

	"lanelab/gateway/internal/exchange"
	h2conn "lanelab/gateway/internal/h2"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
)

// mostAttempts of a request that the server says it has not processed: it is made again on another connection.
const mostAttempts = 5

// multiplexed has one connection to each host, which carries all requests. One that is lost or leaves is replaced.
type multiplexed struct {
	connector *connector

	mutex    sync.Mutex
	sessions map[string]*session // by scheme and host
	all      map[*session]struct{}
}

// A session is a connection, or one that is being made.
type session struct {
	ready chan struct{} // closed when the rest is there
	err   error
	conn  exchange.Conn
	net   net.Conn

	protocol string
	tls      *tls.ConnectionState

	signal struct {
		sync.Mutex
		changed chan struct{} // closed, and another one made, when there may be room
	}
}

func newMultiplexed(c *connector) *multiplexed {
	return &multiplexed{connector: c, sessions: map[string]*session{}, all: map[*session]struct{}{}}
}

// RoundTrip implements http.RoundTripper.
func (m *multiplexed) RoundTrip(request *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(request.Context())
	if trace == nil {
		trace = &httptrace.ClientTrace{}
	}
	if trace.GetConn != nil {
		trace.GetConn(request.URL.Host)
	}
	for attempt := 1; ; attempt++ {
		response, err := m.attempt(request, trace)
		again := errors.Is(err, exchange.ErrNotProcessed) && (request.Body == nil || request.GetBody != nil)
		if !again || attempt == mostAttempts || request.Context().Err() != nil {
			return response, err
		}
	}
}

func (m *multiplexed) attempt(request *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	s, reused, err := m.session(request)
	if err != nil {
		return nil, err
	}
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: s.net, Reused: reused})
	}
	asked, err := translated(request)
	if err != nil {
		return nil, err
	}
	for {
		changed := s.changes()
		answer, err := s.conn.Start(request.Context(), asked, notes{trace})()
		if err == nil {
			return s.response(request, answer), nil
		}
		if !errors.Is(err, exchange.ErrNotSent) || s.over() {
			return nil, cause(request.Context(), err)
		}
		select { // it is full
		case <-changed:
		case <-s.conn.Done():
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
}

// cause is the context's own error where that is why.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (s *session) over() bool {
	select {
	case <-s.conn.Done():
		return true
	default:
		return s.conn.Leaving()
	}
}

func (s *session) changes() <-chan struct{} {
	s.signal.Lock()
	defer s.signal.Unlock()
	return s.signal.changed
}

// tell everybody who waits for room. It must not look at the connection, whose lock may be held.
func (s *session) tell() {
	s.signal.Lock()
	defer s.signal.Unlock()
	close(s.signal.changed)
	s.signal.changed = make(chan struct{})
}

// session gives the host's connection, and makes one where there is none.
func (m *multiplexed) session(request *http.Request) (found *session, reused bool, err error) {
	key := request.URL.Scheme + "://" + request.URL.Host
	m.mutex.Lock()
	s := m.sessions[key]
	if s != nil && s.isReady() && (s.err != nil || s.over()) {
		s = nil
	}
	if reused = s != nil; !reused {
		s = &session{ready: make(chan struct{}), protocol: m.connector.settings.Protocol}
		s.signal.changed = make(chan struct{})
		m.sessions[key], m.all[s] = s, struct{}{}
		go m.connect(context.WithoutCancel(request.Context()), s, request.URL.Hostname())
	}
	m.mutex.Unlock()
	select {
	case <-s.ready:
		return s, reused, s.err
	case <-request.Context().Done():
		return nil, false, request.Context().Err()
	}
}

func (s *session) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// connect has a time of its own: others wait for the connection too, and who asked first may give up.
func (m *multiplexed) connect(ctx context.Context, s *session, host string) {
	ctx, cancel := context.WithTimeout(ctx, m.connector.settings.timeout())
	defer cancel()
	s.net, s.tls, s.err = m.connector.whole(ctx, host)
	if s.err == nil {
		s.conn, s.err = m.begin(s)
	}
	if wanted := m.handOut(s); s.err != nil {
		return
	} else if !wanted {
		_ = s.conn.Close()
	}
	m.connector.recorder.spoke(m.connector.settings.Protocol, s.tls)
	go func() {
		<-s.conn.Done()
		m.forget(s)
	}()
}

func (m *multiplexed) begin(s *session) (exchange.Conn, error) {
	window := m.connector.settings.StreamWindow
	switch protocol := m.connector.settings.Protocol; protocol {
	case "spdy/2":
		return spdyconn.NewClient(s.net, spdy.V2, spdyconn.Settings{Changed: s.tell})
	case "spdy/3":
		return spdyconn.NewClient(s.net, spdy.V3, spdyconn.Settings{StreamWindow: window, Changed: s.tell})
	case "spdy/3.1":
		return spdyconn.NewClient(s.net, spdy.V31, spdyconn.Settings{StreamWindow: window, Changed: s.tell})
	case h2:
		return h2conn.NewClient(s.net, h2conn.ClientSettings{StreamWindow: int64(window), Changed: s.tell}), nil
	default:
		return nil, fmt.Errorf("%s is not multiplexed", protocol)
	}
}

// handOut lets everybody have the session, and says whether it is wanted: all may have been ended while it was being made.
func (m *multiplexed) handOut(s *session) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	_, wanted := m.all[s]
	if s.err != nil {
		delete(m.all, s)
	}
	close(s.ready)
	return wanted
}

func (m *multiplexed) forget(s *session) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.all, s)
}

// CloseIdleConnections ends all of them: called when nothing is under way.
func (m *multiplexed) CloseIdleConnections() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for s := range m.all {
		if s.isReady() && s.conn != nil {
			_ = s.conn.Close()
		} else {
			delete(m.all, s) // it is being made: it ends as soon as it is there
		}
	}
	clear(m.sessions)
}

// protocols as scripts see them in an answer (r.proto).
var protocols = map[string]struct {
	name         string
	major, minor int
}{
	h2: {"HTTP/2.0", 2, 0}, "spdy/2": {"SPDY/2", 2, 0}, "spdy/3": {"SPDY/3", 3, 0}, "spdy/3.1": {"SPDY/3.1", 3, 1},
}

// notes tells k6 what it wants to know.
type notes struct{ trace *httptrace.ClientTrace }

func (n notes) Sent(uint32, int, int, int) {
	if n.trace.WroteRequest != nil {
		n.trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
}

func (n notes) FirstByte(int, int) {
	if n.trace.GotFirstResponseByte != nil {
		n.trace.GotFirstResponseByte()
	}
}

func (n notes) LastByte() {}

var hopByHop = map[string]bool{
	"connection": true, "host": true, "keep-alive": true, "proxy-connection": true, "transfer-encoding": true, "upgrade": true, "te": true,
}

// translated is a request as the wire's protocols have it.
func translated(request *http.Request) (*exchange.Request, error) {
	authority := request.Host
	if authority == "" {
		authority = request.URL.Host
	}
	asked := &exchange.Request{
		Method: request.Method, Scheme: request.URL.Scheme, Authority: authority, Path: request.URL.RequestURI(),
		Priority: exchange.Priority{Urgency: 3}, Fields: make([]exchange.Field, 0, len(request.Header)+1),
	}
	for name, values := range request.Header {
		if name = strings.ToLower(name); hopByHop[name] {
			continue
		}
		for _, value := range values {
			asked.Fields = append(asked.Fields, exchange.Field{Name: name, Value: value})
		}
	}
	if request.Body == nil || request.Body == http.NoBody {
		return asked, nil
	}
	asked.Body, asked.BodySize = request.Body, request.ContentLength
	if request.GetBody != nil { // it may be sent again
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		asked.Body = body
	}
	if request.ContentLength > 0 {
		asked.Fields = append(asked.Fields, exchange.Field{Name: "content-length", Value: strconv.FormatInt(request.ContentLength, 10)})
	}
	return asked, nil
}

func (s *session) response(request *http.Request, answer *exchange.Response) *http.Response {
	header := make(http.Header, len(answer.Fields))
	for _, field := range answer.Fields {
		header.Add(field.Name, field.Value)
	}
	length, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	spoken := protocols[s.protocol]
	return &http.Response{
		Status: strings.TrimSpace(strconv.Itoa(answer.Status) + " " + http.StatusText(answer.Status)), StatusCode: answer.Status,
		Proto: spoken.name, ProtoMajor: spoken.major, ProtoMinor: spoken.minor, Header: header, Body: &roomy{answer.Body, s}, ContentLength: length, Request: request, TLS: s.tls,
	}
}

// roomy is a body at whose end there is room for another request.
type roomy struct {
	io.ReadCloser
	session *session
}

func (b *roomy) Read(buffer []byte) (int, error) {
	count, err := b.ReadCloser.Read(buffer)
	if err != nil {
		b.session.tell()
	}
	return count, err
}

func (b *roomy) Close() error {
	err := b.ReadCloser.Close()
	b.session.tell()
	return err
}

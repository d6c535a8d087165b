package lab

import (
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

// streams are the carrier of HTTP/2 and SPDY: one connection over TCP.
type streams struct {
	conn     exchange.Conn
	net      net.Conn
	protocol string
	tls      *tls.ConnectionState // nil in clear

	signal struct {
		sync.Mutex
		changed chan struct{} // closed, and another one made, when there may be room
	}
}

// newStreams begins the protocol on a connection that is ready for it, and ends the connection where that cannot be.
func newStreams(conn net.Conn, state *tls.ConnectionState, settings *Settings) (*streams, error) {
	s := &streams{net: conn, protocol: settings.Protocol, tls: state}
	s.signal.changed = make(chan struct{})
	var err error
	if s.conn, err = s.begin(settings.StreamWindow); err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *streams) begin(window int) (exchange.Conn, error) {
	switch s.protocol {
	case "spdy/2":
		return spdyconn.NewClient(s.net, spdy.V2, spdyconn.Settings{Changed: s.tell})
	case "spdy/3":
		return spdyconn.NewClient(s.net, spdy.V3, spdyconn.Settings{StreamWindow: window, Changed: s.tell})
	case "spdy/3.1":
		return spdyconn.NewClient(s.net, spdy.V31, spdyconn.Settings{StreamWindow: window, Changed: s.tell})
	case h2:
		return h2conn.NewClient(s.net, h2conn.ClientSettings{StreamWindow: int64(window), Changed: s.tell}), nil
	default:
		return nil, fmt.Errorf("%s is not multiplexed over TCP", s.protocol)
	}
}

// roundTrip implements carrier.
func (s *streams) roundTrip(request *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
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
			s.tell() // one that failed has left its room
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

func (s *streams) over() bool {
	select {
	case <-s.conn.Done():
		return true
	default:
		return s.conn.Leaving()
	}
}

func (s *streams) done() <-chan struct{}         { return s.conn.Done() }
func (s *streams) close()                        { _ = s.conn.Close() }
func (s *streams) seen() net.Conn                { return s.net }
func (s *streams) secured() *tls.ConnectionState { return s.tls }

func (s *streams) changes() <-chan struct{} {
	s.signal.Lock()
	defer s.signal.Unlock()
	return s.signal.changed
}

// tell everybody who waits for room. It must not look at the connection, whose lock may be held.
func (s *streams) tell() {
	s.signal.Lock()
	defer s.signal.Unlock()
	close(s.signal.changed)
	s.signal.changed = make(chan struct{})
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

func (s *streams) response(request *http.Request, answer *exchange.Response) *http.Response {
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
	streams *streams
}

func (b *roomy) Read(buffer []byte) (int, error) {
	count, err := b.ReadCloser.Read(buffer)
	if err != nil {
		b.streams.tell()
	}
	return count, err
}

func (b *roomy) Close() error {
	err := b.ReadCloser.Close()
	b.streams.tell()
	return err
}

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/h2"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
)

// load is what is to be done.
type load struct {
	URL       string `json:"url"`
	Protocol  string `json:"protocol"`
	TLS       bool   `json:"tls"`
	Clients   int    `json:"clients"`
	Streams   int    `json:"streams"`
	Requests  int    `json:"requests"`
	BodyBytes int64  `json:"body_bytes"`

	version spdy.Version // of SPDY
	targets []*url.URL   // of one host, asked for in turn
	connect string
	timeout time.Duration

	encoding string // what it accepts; "" does not say
}

// run does it. All connections are established before the clock starts; those that end are replaced while it runs.
func (l *load) run(ctx context.Context) *result {
	counters := newResult(l)
	// With so few bytes alive the collector would run for every megabyte of answers, and be measured. This is never touched: it has no pages.
	ballast := make([]byte, 128<<20)
	clients := l.connectAll(ctx, counters)
	var begun atomic.Int64
	next := func() int64 { return begun.Add(1) - 1 }
	began := time.Now()
	counters.began = began
	var all sync.WaitGroup
	for _, client := range clients {
		for range l.Streams {
			all.Go(func() {
				for number := next(); number < int64(l.Requests) && ctx.Err() == nil; number = next() {
					if !client.request(ctx, l.targets[number%int64(len(l.targets))]) {
						return // the server lets it in no more: others may take what is left
					}
				}
			})
		}
	}
	all.Wait()
	runtime.KeepAlive(ballast)
	took := time.Since(began)
	for _, client := range clients {
		client.close()
	}
	counters.finish(took, l.Requests)
	return counters
}

func (l *load) connectAll(ctx context.Context, counters *result) []*client {
	var mutex sync.Mutex
	var clients []*client
	var all sync.WaitGroup
	for range l.Clients {
		all.Go(func() {
			began := time.Now()
			c, err := l.connectOne(ctx, counters)
			if err != nil {
				counters.failed(err, time.Since(began))
				return
			}
			mutex.Lock()
			defer mutex.Unlock()
			clients = append(clients, newClient(l, counters, c))
		})
	}
	all.Wait()
	return clients
}

// connection counts what passes on the wire.
type connection struct {
	wireConn
	wire   *countingConn
	served atomic.Bool // a request was answered
}

type wireConn interface {
	exchange.Conn
	Leaving() bool // nothing new can begin, ever
}

// over tells that the server ends it, or has.
func (c *connection) over() bool {
	select {
	case <-c.Done():
		return true
	default:
		return c.Leaving()
	}
}

type countingConn struct {
	net.Conn
	received atomic.Int64
}

func (c *countingConn) Read(buffer []byte) (int, error) {
	count, err := c.Conn.Read(buffer)
	c.received.Add(int64(count))
	return count, err
}

func (l *load) connectOne(ctx context.Context, counters *result) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	plain, err := new(net.Dialer).DialContext(ctx, "tcp", l.connect)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", l.connect, err)
	}
	wire := &countingConn{Conn: plain}
	var conn net.Conn = wire
	var version string
	if l.TLS {
		// The server is under test, with whatever certificate; nothing secret is sent.
		secured := tls.Client(wire, &tls.Config{ServerName: l.targets[0].Hostname(), InsecureSkipVerify: true, NextProtos: []string{l.Protocol}})
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = plain.Close()
			return nil, fmt.Errorf("TLS with %s: %w", l.connect, err)
		}
		if chosen := secured.ConnectionState().NegotiatedProtocol; chosen != l.Protocol {
			_ = plain.Close()
			return nil, fmt.Errorf("%s chose the protocol %q, not %s", l.connect, chosen, l.Protocol)
		}
		conn, version = secured, strings.TrimPrefix(tls.VersionName(secured.ConnectionState().Version), "TLS ")
	}
	client, err := l.client(conn)
	if err != nil {
		_ = plain.Close()
		return nil, err
	}
	counters.connected(version)
	return &connection{wireConn: client, wire: wire}, nil
}

func (l *load) client(conn net.Conn) (wireConn, error) {
	if l.Protocol == protocolH2 {
		return h2.NewClient(conn, h2.ClientSettings{}), nil
	}
	return spdyconn.NewClient(conn, l.version, spdyconn.Settings{MaxStreams: max(l.Streams, 100)})
}

// sample is one request's outcome.
type sample struct {
	latency, firstByte time.Duration
	bytes              int64
	status             int
	err                error
}

// stopwatch is a Notes that takes the time of the first byte.
type stopwatch struct {
	began     time.Time
	firstByte time.Duration
}

func (*stopwatch) Sent(uint32, int, int, int) {}
func (s *stopwatch) FirstByte(int, int)       { s.firstByte = time.Since(s.began) }
func (*stopwatch) LastByte()                  {}

func (l *load) request(ctx context.Context, c *connection, target *url.URL) (s sample) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	request := &exchange.Request{
		Method: "GET", Scheme: target.Scheme, Authority: target.Host, Path: target.RequestURI(),
		Fields:   []exchange.Field{{Name: "user-agent", Value: "spdy-load"}, {Name: "accept", Value: "*/*"}},
		Priority: exchange.Priority{Urgency: 3},
	}
	if l.encoding != "" {
		request.Fields = append(request.Fields, exchange.Field{Name: "accept-encoding", Value: l.encoding})
	}
	if l.BodyBytes > 0 {
		request.Method, request.Body, request.BodySize = "POST", io.LimitReader(zeros{}, l.BodyBytes), l.BodyBytes
		request.Fields = append(request.Fields, exchange.Field{Name: "content-length", Value: strconv.FormatInt(l.BodyBytes, 10)})
	}
	notes := &stopwatch{began: time.Now()}
	response, err := c.Start(ctx, request, notes)()
	if err != nil {
		return sample{err: err, latency: time.Since(notes.began)}
	}
	defer response.Body.Close()
	s.bytes, s.err = io.Copy(io.Discard, response.Body)
	s.latency, s.firstByte, s.status = time.Since(notes.began), notes.firstByte, response.Status
	return s
}

type zeros struct{}

func (zeros) Read(buffer []byte) (int, error) {
	clear(buffer)
	return len(buffer), nil
}

// Package front is the gateway's side towards the browser: it takes connections on the loopback as if it were the origin. HTTP/2 only: HTTP/1.1
// would tell neither priorities nor, by net/http, the order of fields.
package front

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/h2"
	"lanelab/gateway/internal/relay"
)

const (
	handshakeTime = 30 * time.Second
	// mostConnections at a time: more than a browser has, Chromium 256 and Firefox 900. It begins several for each host of a site.
	mostConnections = 1000
)

// A Front accepts connections until it is closed.
type Front struct {
	listeners []net.Listener
	relay     *relay.Relay
	config    *tls.Config     // nil: in clear
	reverse   *config.Reverse // nil: for a browser, which speaks HTTP/2 in TLS
	http1     *http1Front     // for clients of a reverse proxy
	room      chan struct{}

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// Listen begins to listen. hello is told the name in each ClientHello, as early as the browser says it.
func Listen(addresses config.Addresses, certificate, key string, to *relay.Relay, hello func(host string)) (*Front, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate %s with the key %s: %w", certificate, key, err)
	}
	f, err := newFront(addresses, to, mostConnections)
	if err != nil {
		return nil, err
	}
	f.config = &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"},
		DynamicRecordSizingDisabled: true,
		GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			hello(info.ServerName)
			return nil, nil
		},
	}
	f.begin()
	return f, nil
}

func newFront(addresses config.Addresses, to *relay.Relay, most int) (*Front, error) {
	f := &Front{relay: to, room: make(chan struct{}, most), open: map[net.Conn]bool{}}
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			f.stopListening()
			return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
		}
		f.listeners = append(f.listeners, listener)
	}
	return f, nil
}

// Address is where it listens, the first of several.
func (f *Front) Address() net.Addr { return f.listeners[0].Addr() }

func (f *Front) begin() {
	for _, listener := range f.listeners {
		go f.accept(listener)
	}
}

func (f *Front) stopListening() {
	for _, listener := range f.listeners {
		listener.Close()
	}
}

func (f *Front) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptors left, for a moment
			time.Sleep(10 * time.Millisecond)
			continue
		}
		f.room <- struct{}{}
		go f.serve(conn)
	}
}

func (f *Front) serve(conn net.Conn) {
	defer func() { <-f.room }()
	defer conn.Close()
	if !f.remember(conn) {
		return
	}
	defer f.forget(conn)
	if f.reverse != nil {
		f.serveClient(conn)
		return
	}
	secured := tls.Server(conn, f.config)
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	err := secured.HandshakeContext(ctx)
	cancel()
	if err != nil {
		return // the browser says why, if it is one
	}
	if secured.ConnectionState().NegotiatedProtocol != "h2" {
		return // HTTP/1.1: a tool's, or a WebSocket
	}
	session := h2.Serve(secured, func(x *h2.Exchange) { f.relay.Serve(x) })
	<-session.Done()
	session.Wait()
}

func (f *Front) remember(conn net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.open[conn] = true
	return true
}

func (f *Front) forget(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, conn)
}

// Close ends all connections of the browser at once.
func (f *Front) Close() {
	f.stopListening()
	if f.http1 != nil {
		f.http1.close()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for conn := range f.open {
		conn.Close()
	}
}

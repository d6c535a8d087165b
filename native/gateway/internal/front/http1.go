package front

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/relay"
)

// An http1Front serves clients that speak HTTP/1.1, with net/http's server: a goroutine for each connection, no thread.
type http1Front struct {
	server *http.Server
	conns  chan net.Conn
	ended  chan struct{}
	once   sync.Once
}

func newHTTP1Front(settings *config.Reverse, to *relay.Relay) *http1Front {
	f := &http1Front{conns: make(chan net.Conn), ended: make(chan struct{})}
	f.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			x := &http1Exchange{writer: w, request: r, flusher: http.NewResponseController(w), done: make(chan struct{})}
			to.Serve(x)
			<-x.done
			if x.aborted {
				panic(http.ErrAbortHandler) // the client must not take what it has for all
			}
		}),
		IdleTimeout:  time.Duration(settings.KeepaliveMs) * time.Millisecond,
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog:     log.New(io.Discard, "", 0), // of single connections; what becomes of requests is in the gateway's log
	}
	f.server.SetKeepAlivesEnabled(settings.Keepalive)
	go f.server.Serve(f)
	return f
}

// serve hands a connection over, and returns when it has ended.
func (f *http1Front) serve(conn net.Conn) {
	handed := &handedConn{Conn: conn, ended: make(chan struct{})}
	select {
	case f.conns <- handed:
		<-handed.ended
	case <-f.ended:
	}
}

func (f *http1Front) close() {
	f.Close()
	f.server.Close()
}

// Accept, Close and Addr make a net.Listener of it, of connections that others have accepted.
func (f *http1Front) Accept() (net.Conn, error) {
	select {
	case conn := <-f.conns:
		return conn, nil
	case <-f.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (f *http1Front) Close() error {
	f.once.Do(func() { close(f.ended) })
	return nil
}

// Addr implements net.Listener.
func (f *http1Front) Addr() net.Addr { return &net.TCPAddr{} }

type handedConn struct {
	net.Conn
	once  sync.Once
	ended chan struct{}
}

func (c *handedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { close(c.ended) })
	return err
}

// An http1Exchange is one request of a client, and our way to answer it.
type http1Exchange struct {
	writer  http.ResponseWriter
	request *http.Request
	flusher *http.ResponseController
	done    chan struct{}
	aborted bool
}

func (x *http1Exchange) Context() context.Context { return x.request.Context() }

func (x *http1Exchange) Head() (method, authority, path string, fields []exchange.Field) {
	dropped := map[string]bool{}
	for _, value := range x.request.Header["Connection"] {
		for name := range strings.SplitSeq(value, ",") {
			dropped[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	for name, values := range x.request.Header {
		if name = strings.ToLower(name); dropped[name] || name == "te" {
			continue
		}
		for _, value := range values {
			fields = append(fields, exchange.Field{Name: name, Value: value})
		}
	}
	return x.request.Method, x.request.Host, x.request.URL.RequestURI(), fields
}

func (x *http1Exchange) Body() (io.Reader, int64) {
	if x.request.ContentLength == 0 {
		return nil, 0
	}
	return x.request.Body, x.request.ContentLength
}

func (x *http1Exchange) OnPriority(func(exchange.Priority)) {} // HTTP/1.1 says none later than in its fields

func (x *http1Exchange) Inform(status int, fields []exchange.Field) {
	header := x.writer.Header()
	for _, field := range fields {
		header.Add(field.Name, field.Value)
	}
	x.writer.WriteHeader(status)
	clear(header)
}

func (x *http1Exchange) Respond(status int, fields []exchange.Field, end bool) error {
	header := x.writer.Header()
	for _, field := range fields {
		header.Add(field.Name, field.Value)
	}
	if header.Get("Content-Type") == "" {
		header["Content-Type"] = nil // net/http would make one up
	}
	if header.Get("Date") == "" {
		header["Date"] = nil
	}
	if end && header.Get("Content-Length") == "" && x.request.Method != http.MethodHead && status != http.StatusNoContent &&
		status != http.StatusNotModified {
		header.Set("Content-Length", "0")
	}
	x.writer.WriteHeader(status)
	if end {
		return nil
	}
	return x.flush()
}

func (x *http1Exchange) flush() error { return x.flusher.Flush() }

// Write hands over at once what came: the server behind decides when its clients get something.
func (x *http1Exchange) Write(p []byte) (int, error) {
	n, err := x.writer.Write(p)
	if err == nil {
		err = x.flush()
	}
	return n, err
}

func (x *http1Exchange) End(trailers []exchange.Field) error {
	for _, field := range trailers {
		x.writer.Header().Add(http.TrailerPrefix+field.Name, field.Value)
	}
	return nil
}

func (x *http1Exchange) Abort(error) { x.aborted = true }

func (x *http1Exchange) Finish() { close(x.done) }

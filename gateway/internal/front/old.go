package front

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/relay"
)

// oldFront answers those who speak HTTP/1.1 to us: tools, and a browser that wants a WebSocket, which is refused. net/http does not keep the order of
// fields, so what is measured comes in HTTP/2.
type oldFront struct {
	relay  *relay.Relay
	server *http.Server
}

func newOldFront(to *relay.Relay) *oldFront {
	f := &oldFront{relay: to}
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: handshakeTime, TLSNextProto: nil, ErrorLog: nil}
	return f
}

// serve returns when the connection has ended.
func (f *oldFront) serve(conn net.Conn) {
	one := &oneConn{conn: conn, done: make(chan struct{})}
	f.server.Serve(one)
}

// oneConn is a listener that has one connection and ends with it.
type oneConn struct {
	conn  net.Conn
	taken bool
	done  chan struct{}
	once  sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	if l.taken {
		<-l.done
		return nil, net.ErrClosed
	}
	l.taken = true
	return &told{l.conn, l}, nil
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

// told is a connection that tells its listener of its end.
type told struct {
	net.Conn
	listener *oneConn
}

func (c *told) Close() error {
	c.listener.once.Do(func() { close(c.listener.done) })
	return c.Conn.Close()
}

// ServeHTTP implements http.Handler.
func (f *oldFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" || r.Method == http.MethodConnect {
		http.Error(w, "the gateway carries requests and answers, no tunnels", http.StatusNotImplemented)
		return
	}
	x := &oldAsked{w: w, r: r, done: make(chan struct{})}
	f.relay.Serve(x)
	<-x.done
	if x.aborted {
		panic(http.ErrAbortHandler) // net/http's way to break off an answer
	}
}

// An oldAsked is a request that came in HTTP/1.1.
type oldAsked struct {
	w       http.ResponseWriter
	r       *http.Request
	done    chan struct{}
	aborted bool

	mu     sync.Mutex
	headed bool // the answer's head was given, or none comes: nothing may be said before it any more
}

func (x *oldAsked) Context() context.Context           { return x.r.Context() }
func (x *oldAsked) OnPriority(func(exchange.Priority)) {}
func (x *oldAsked) Abort(error)                        { x.aborted = true }
func (x *oldAsked) Write(p []byte) (int, error) {
	n, err := x.w.Write(p)
	if err == nil {
		err = http.NewResponseController(x.w).Flush()
	}
	return n, err
}

// Finish implements relay.Asked. After it net/http may give the writer to somebody else.
func (x *oldAsked) Finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.headed = true
	close(x.done)
}

func (x *oldAsked) Head() (method, authority, path string, fields []exchange.Field) {
	for name, values := range x.r.Header {
		for _, value := range values {
			fields = append(fields, exchange.Field{Name: strings.ToLower(name), Value: value})
		}
	}
	slices.SortFunc(fields, func(a, b exchange.Field) int { return strings.Compare(a.Name, b.Name) })
	return x.r.Method, x.r.Host, x.r.URL.RequestURI(), fields
}

func (x *oldAsked) Body() (io.Reader, int64) {
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return nil, 0
	}
	return x.r.Body, x.r.ContentLength
}

func (x *oldAsked) Inform(status int, fields []exchange.Field) {
	if status == http.StatusContinue {
		return // net/http says it when the body is read
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.headed {
		return // the wire may tell of it when the request is over, here
	}
	x.put(fields)
	x.w.WriteHeader(status)
	clear(x.w.Header())
}

func (x *oldAsked) put(fields []exchange.Field) {
	for _, field := range fields {
		x.w.Header().Add(field.Name, field.Value)
	}
}

func (x *oldAsked) Respond(status int, fields []exchange.Field, _ bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.headed = true
	x.put(fields)
	x.w.WriteHeader(status)
	return http.NewResponseController(x.w).Flush()
}

func (x *oldAsked) End(trailers []exchange.Field) error {
	for _, field := range trailers {
		x.w.Header().Add(http.TrailerPrefix+field.Name, field.Value)
	}
	if errors.Is(x.r.Context().Err(), context.Canceled) {
		return x.r.Context().Err()
	}
	return nil
}

// Package exchange says what passes between the gateway's two sides: a request on its way to the origin, its response, and what is noted of
// both. Every protocol on the wire implements Conn.
package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A Field is one header field: its name in lower case, its value as it came. Order is kept.
type Field struct {
	Name, Value string
}

// Priority is what a request's `priority` field says (RFC 9218).
type Priority struct {
	Urgency     int // 0 (first) to 7; 3 where nothing is said
	Incremental bool
}

// A Request as the browser sent it, without hop-by-hop fields and pseudo-header fields.
type Request struct {
	Method, Scheme, Authority, Path string // Scheme and Authority are those of the wire
	Fields                          []Field
	Priority                        Priority
	Body                            io.Reader // nil: none. Read as fast as the wire takes it
	BodySize                        int64     // -1: unknown

	// Informed is told of each interim response (100, 103) before the final one; nil: nobody wants to know.
	Informed func(status int, fields []Field)
}

// A Response as the server sent it, without hop-by-hop fields and pseudo-header fields.
type Response struct {
	Status   int
	Fields   []Field
	Body     io.ReadCloser  // never nil. Closed before its end, it cancels the exchange on the wire
	Trailers func() []Field // after Body's end; nil: none can come
}

// Notes is told what happens to an exchange on the wire. Calls come in this order, each at most once.
type Notes interface {
	// Sent: the request's head was handed to the kernel, or may have been when the connection ended. bytes: its fields before compression, as
	// `name: value\r\n` each with the request line's parts; wire: what they were on the wire, frame included. stream: 0 where the protocol has
	// none. inFlight: exchanges under way on the connection, this one counted.
	Sent(stream uint32, bytes, wire, inFlight int)
	// FirstByte: the first byte of the response arrived. bytes and wire as for Sent.
	FirstByte(bytes, wire int)
	// LastByte: the response's last byte arrived.
	LastByte()
}

// Conn is one connection on the wire.
type Conn interface {
	// RoundTrip sends a request and returns when the response's head is there. Cancelling ctx cancels the exchange. Safe for concurrent use up
	// to Room.
	RoundTrip(ctx context.Context, request *Request, notes Notes) (*Response, error)
	// Room is how many more exchanges can be begun now; 0 for ever once the connection is ending.
	Room() int
	// Close ends the connection in the protocol's own way (GOAWAY, close_notify) without waiting.
	Close() error
	// Done is closed when the connection has ended; Err says why then, nil after Close or an orderly end.
	Done() <-chan struct{}
	Err() error
}

// A Starter is a Conn that can begin an exchange without waiting for anything: Start queues the request's head behind what was started before it
// and returns at once. So the order of calls is the order on the wire. The function it returns is called once, and waits for the response's head
// as RoundTrip does: RoundTrip is Start and that.
type Starter interface {
	Start(ctx context.Context, request *Request, notes Notes) func() (*Response, error)
}

// A Reprioritiser is a Conn that can tell the server of a new priority of an exchange that was started already: the one that has these notes.
type Reprioritiser interface {
	Reprioritise(notes Notes, priority Priority)
}

// ErrNotProcessed: the server did not act on this request (GOAWAY below its stream, REFUSED_STREAM, a connection that closed before any byte
// of its answer), so that it may be sent again on another connection.
var ErrNotProcessed = errors.New("the server did not process the request")

// ErrNotSent: nothing of this request has left us, surely: the connection had no room for it, or ended before its head was on its way. It is an
// ErrNotProcessed that holds for every method.
var ErrNotSent = fmt.Errorf("nothing of it was sent: %w", ErrNotProcessed)

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
	Kept     Kept
	Fields   []Field
	Body     io.ReadCloser  // never nil. Closed before its end, it cancels the exchange on the wire
	Trailers func() []Field // after Body's end; nil: none can come
	Ended    bool           // nothing follows the head, not even trailers, and Body is at its end
}

// Kept is what an answer of HTTP/1 says of its connection; the other protocols say nothing of the kind.
type Kept int

// KeptOpen: as HTTP/1.1, and the answer has an end of its own.
const (
	KeptOpen Kept = iota
	ToBeClosed
	OldVersion // HTTP/1.0, kept or not
)

// MostInterim answers may come before the final one.
const MostInterim = 100

// ErrTooManyInterim: there were more.
var ErrTooManyInterim = fmt.Errorf("the server sent more than %d interim answers", MostInterim)

// Notes is told what happens to an exchange on the wire. Calls come in this order, each at most once.
type Notes interface {
	// Sent: the request's head was handed to the kernel, or may have been when the connection ended. bytes: its fields before compression, as
	// `name: value\r\n` each with the request line's parts; wire: what they were on the wire, frame included. stream: 0 where the protocol has
	// none, and the first one's of HTTP/3. inFlight: exchanges under way on the connection, this one counted.
	Sent(stream uint32, bytes, wire, inFlight int)
	// FirstByte: the first byte of the response arrived. bytes and wire as for Sent.
	FirstByte(bytes, wire int)
	// LastByte: the response's last byte arrived.
	LastByte()
}

// Conn is one connection on the wire.
type Conn interface {
	// Start begins an exchange without waiting for anything: it queues the request's head behind what was started before it and returns at
	// once. So the order of calls is the order on the wire. The function it returns is called once, and returns when the response's head is
	// there. Cancelling ctx cancels the exchange. Safe for concurrent use up to Room.
	Start(ctx context.Context, request *Request, notes Notes) func() (*Response, error)
	// Room is how many more exchanges can be begun now; 0 for ever once the connection is ending.
	Room() int
	// Leaving tells whether nothing new can begin, ever.
	Leaving() bool
	// Close ends the connection in the protocol's own way (GOAWAY, close_notify) without waiting.
	Close() error
	// Done is closed when the connection has ended; Err says why then, nil after Close or an orderly end.
	Done() <-chan struct{}
	Err() error
	// ClosedByUs tells whether it was this side that ended it.
	ClosedByUs() bool
}

// A Reprioritiser is a Conn that can tell the server of a new priority of an exchange that was started already: the one that has these notes.
type Reprioritiser interface {
	Reprioritise(notes Notes, priority Priority)
}

// ErrNotProcessed: nothing tells that the server acted on this request: its connection ended before any byte of an answer. ErrRefused and
// ErrEvicted are such, too.
var ErrNotProcessed = errors.New("the server did not process the request")

// ErrRefused: the server said so itself (GOAWAY below its stream, REFUSED_STREAM). It is an ErrNotProcessed that is sure.
var ErrRefused = fmt.Errorf("it was refused: %w", ErrNotProcessed)

// ErrEvicted: it waited behind another on a connection of HTTP/1.1 that ended for a reason of the other's: its answer said so, or the browser
// wanted it no more. It is an ErrNotProcessed that says nothing against the server.
var ErrEvicted = fmt.Errorf("its pipeline ended: %w", ErrNotProcessed)

// ErrAnnounced: an answer ahead of it said that the connection closes. It is an ErrEvicted that speaks against no pipeline.
var ErrAnnounced = fmt.Errorf("as an answer had said: %w", ErrEvicted)

// ErrNotSent: nothing of this request has left us, surely: the connection had no room for it, or ended before its head was on its way. It is an
// ErrNotProcessed that holds for every method.
var ErrNotSent = fmt.Errorf("nothing of it was sent: %w", ErrNotProcessed)

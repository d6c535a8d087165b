// Package http1 is the HTTP/1.1 client of the wire, with pipelining. It writes what Chromium writes, byte for byte, and notes what net/http does
// not tell.
//
// Heads are read here and not by http.ReadResponse: that loses the order of fields, adds a Cache-Control to a Pragma and takes Trailer away, and the
// browser is to get what the server sent.
package http1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"

	"lanelab/gateway/internal/exchange"
)

// Settings of a connection.
type Settings struct {
	Depth     int  // how many requests may be unanswered
	Keepalive bool // false: one request, then the connection ends
	// EndsAtCancelled: the connection ends when it is the turn of an answer that nobody wants any more, though others wait behind it; else that
	// answer is read and dropped.
	EndsAtCancelled bool
}

// A Conn is one connection. It implements exchange.Conn.
//
//	writer goroutine: heads that were started, all that has gathered at once; then bodies
//	reader goroutine: the head of the oldest unanswered request; its body is read by whoever wants it, then the reader goes on
type Conn struct {
	conn     net.Conn
	reader   *bufio.Reader
	settings Settings

	mu      sync.Mutex
	wake    sync.Cond // something to write, or the end
	waiting []*call   // started, in order; the first is being answered
	unsent  []*call   // those of them that the writer has not taken
	started int
	ending  bool // nothing new may begin
	said    bool // the server has said that it closes
	err     error
	ended   bool
	done    chan struct{}
}

// errClosed: we closed it.
var errClosed = errors.New("the connection was closed")

// errCancelled: the browser wants the answer no more.
var errCancelled = errors.New("the exchange was cancelled")

// NewClient begins to use a connection.
func NewClient(conn net.Conn, settings Settings) *Conn {
	c := &Conn{conn: conn, reader: bufio.NewReaderSize(conn, 32<<10), settings: settings, done: make(chan struct{})}
	c.wake.L = &c.mu
	go c.writeLoop()
	go c.readLoop()
	return c
}

// An call is a request and its answer.
type call struct {
	conn    *Conn
	request *exchange.Request
	notes   exchange.Notes
	ctx     context.Context

	proceed  chan struct{} // closed when a body that waits for 100 (Continue) may go, or need not
	answered chan struct{} // closed when response or err is there
	response *exchange.Response
	bodyDone chan bool // the reader may go on. true: the body was read to its end

	// guarded by the connection's lock
	sent      bool // the head was written, or is being written
	size      int  // of the head
	place     int  // how many were unanswered at its sending, itself counted
	noted     bool
	whole     bool // all of the request was written
	begun     bool // something of the answer has come
	proceeded bool
	finished  bool // answered has been closed
	cancelled bool
	err       error
}

// Room implements exchange.Conn.
func (c *Conn) Room() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.room()
}

func (c *Conn) room() int {
	if c.ending || c.ended || (!c.settings.Keepalive && c.started > 0) {
		return 0
	}
	for _, x := range c.waiting {
		if !Pipelinable(x.request) {
			return 0
		}
	}
	return c.settings.Depth - len(c.waiting)
}

// Leaving implements exchange.Conn.
func (c *Conn) Leaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending
}

// Pipelinable tells whether a request may go out before the ones ahead of it are answered: it may have to be sent again.
func Pipelinable(request *exchange.Request) bool {
	return (request.Method == "GET" || request.Method == "HEAD") && request.Body == nil
}

// RoundTrip is Start, and waiting for what comes of it.
func (c *Conn) RoundTrip(ctx context.Context, request *exchange.Request, notes exchange.Notes) (*exchange.Response, error) {
	return c.Start(ctx, request, notes)()
}

// Start implements exchange.Conn.
func (c *Conn) Start(ctx context.Context, request *exchange.Request, notes exchange.Notes) func() (*exchange.Response, error) {
	x := &call{
		conn: c, request: request, notes: notes, ctx: ctx,
		proceed: make(chan struct{}), answered: make(chan struct{}), bodyDone: make(chan bool, 1),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room() < 1 || (len(c.waiting) > 0 && !Pipelinable(request)) {
		err := fmt.Errorf("no room on the connection: %w", exchange.ErrNotSent)
		return func() (*exchange.Response, error) { return nil, err }
	}
	c.started++
	c.waiting = append(c.waiting, x)
	c.unsent = append(c.unsent, x)
	c.wake.Signal()
	return x.wait
}

func (x *call) wait() (*exchange.Response, error) {
	select {
	case <-x.answered:
	case <-x.ctx.Done():
		x.cancel()
	}
	x.conn.mu.Lock()
	err := x.err
	x.conn.mu.Unlock()
	if err != nil {
		return nil, err
	}
	x.response.Body.(*body).hook(context.AfterFunc(x.ctx, x.cancel))
	return x.response, nil
}

// cancel: HTTP/1.1 has no way to say it but to end the connection. Where others wait for theirs, the answer is read and dropped instead.
func (x *call) cancel() {
	c := x.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.cancelled || c.ended {
		return
	}
	x.cancelled = true
	if i := slices.Index(c.unsent, x); i >= 0 { // not even taken by the writer: nothing is lost
		c.unsent = slices.Delete(c.unsent, i, i+1)
		c.started--
		c.remove(x)
	} else {
		c.ending = c.ending || c.settings.EndsAtCancelled
	}
	x.finish(errCancelled)
	c.endIfUnwanted()
}

// endIfUnwanted ends a connection whose answers nobody wants any more; or whose next one, where that is enough. With the lock.
func (c *Conn) endIfUnwanted() bool {
	wanted := slices.IndexFunc(c.waiting, func(x *call) bool { return !x.cancelled })
	unwanted := len(c.waiting) > 0 && (wanted < 0 || wanted > 0 && c.settings.EndsAtCancelled)
	if unwanted {
		c.endLocked(errClosed)
	}
	return unwanted
}

// finish lets wait return. With the lock.
func (x *call) finish(err error) {
	if !x.proceeded {
		x.proceeded = true
		close(x.proceed)
	}
	if x.finished {
		return
	}
	x.finished, x.err = true, err
	close(x.answered)
}

func (c *Conn) remove(x *call) {
	c.waiting = slices.DeleteFunc(c.waiting, func(other *call) bool { return other == x })
}

// Close implements exchange.Conn.
func (c *Conn) Close() error {
	c.end(errClosed)
	return nil
}

// Done implements exchange.Conn.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err implements exchange.Conn.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == errClosed || errors.Is(c.err, io.EOF) {
		return nil
	}
	return c.err
}

// ClosedByUs implements exchange.Conn.
func (c *Conn) ClosedByUs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err == errClosed
}

func (c *Conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(err)
}

// endLocked ends the connection, and with it what waits on it.
func (c *Conn) endLocked(err error) {
	if c.ended {
		return
	}
	c.ended, c.ending, c.err = true, true, err
	for i, x := range c.waiting {
		switch {
		case x.begun:
			x.finish(fmt.Errorf("the connection ended within the answer: %w", noEOF(err)))
		case x.sent:
			x.noteSent() // the kernel may have it, though Write has not returned
			why := exchange.ErrNotProcessed
			switch {
			case c.said:
				why = exchange.ErrAnnounced
			case i > 0 || err == errClosed:
				why = exchange.ErrEvicted
			}
			x.finish(fmt.Errorf("the connection ended before the answer (%w): %w", noEOF(err), why))
		default:
			x.finish(fmt.Errorf("the connection ended before the request (%w): %w", noEOF(err), exchange.ErrNotSent))
		}
	}
	c.unsent = nil
	c.wake.Broadcast()
	close(c.done)
	go c.conn.Close() // TLS may wait to say good-bye
}

// noEOF: for whoever reads an answer, the end of the connection is not the answer's end.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

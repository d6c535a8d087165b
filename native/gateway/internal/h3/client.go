// Package h3 is HTTP/3 (RFC 9114) as a client speaks it on the wire, over quic-go's QUIC. It asks, and sends no bodies: the fetcher has none. Users of a
// load speak quic-go's own HTTP/3 over the connections that it dials.
package h3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/exchange"
)

// Settings are what can be chosen of a connection.
type Settings struct {
	MaxStreams int // exchanges under way at once, whatever the server takes
	// Changed is called, without waiting, when Room or Leaving may have changed.
	Changed func()
}

// A Client is a connection on the wire. It implements exchange.Conn.
type Client struct {
	conn     *quic.Conn
	settings Settings
	done     chan struct{}

	mu       sync.Mutex
	encoder  *qpack.Encoder
	block    bytes.Buffer // what the encoder writes
	underWay int
	draining bool // the server takes nothing new
	closed   bool // by us
	err      error
}

// NewClient begins HTTP/3 on a connection whose handshake is complete. It ends one on which it cannot.
func NewClient(conn *quic.Conn, settings Settings) (*Client, error) {
	c := &Client{conn: conn, settings: settings, done: make(chan struct{})}
	c.encoder = qpack.NewEncoder(&c.block)
	control, err := conn.OpenUniStream()
	if err == nil {
		_, err = control.Write(ourSettings())
	}
	if err != nil {
		c.breakOff(codeInternal, "no control stream")
		return nil, fmt.Errorf("HTTP/3 cannot begin: %w", err)
	}
	go c.watch()
	go c.accept()
	return c, nil
}

// Room implements exchange.Conn. The server may take fewer at once: then a request waits for its stream.
func (c *Client) Room() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.room()
}

func (c *Client) room() int {
	if c.leaving() {
		return 0
	}
	return max(0, c.settings.MaxStreams-c.underWay)
}

// Leaving implements exchange.Conn.
func (c *Client) Leaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaving()
}

func (c *Client) leaving() bool { return c.draining || c.conn.Context().Err() != nil }

// Close implements exchange.Conn.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	return c.conn.CloseWithError(codeNone, "")
}

// Done implements exchange.Conn.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err implements exchange.Conn.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// ClosedByUs implements exchange.Conn.
func (c *Client) ClosedByUs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// breakOff ends the connection since what came cannot be.
func (c *Client) breakOff(code quic.ApplicationErrorCode, why string) {
	_ = c.conn.CloseWithError(code, why) // it fails for none that has not ended
}

// watch notes how the connection ended.
func (c *Client) watch() {
	<-c.conn.Context().Done()
	cause := context.Cause(c.conn.Context())
	var told *quic.ApplicationError
	c.mu.Lock()
	if orderly := errors.As(cause, &told) && told.ErrorCode == codeNone; !orderly {
		c.err = cause
	}
	c.mu.Unlock()
	close(c.done)
	c.changed()
}

func (c *Client) changed() {
	if c.settings.Changed != nil {
		c.settings.Changed()
	}
}

// Start implements exchange.Conn.
func (c *Client) Start(ctx context.Context, request *exchange.Request, notes exchange.Notes) func() (*exchange.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if request.Body != nil {
		return failing(errors.New("no body can be sent by HTTP/3 here"))
	}
	if c.room() == 0 {
		return failing(fmt.Errorf("no room on the connection: %w", exchange.ErrNotSent))
	}
	c.underWay++
	k := &call{client: c, ctx: ctx, request: request, notes: notes, inFlight: c.underWay}
	stream, err := c.conn.OpenStream()
	var full *quic.StreamLimitReachedError
	switch {
	case err == nil:
		err = k.send(stream)
	case errors.As(err, &full):
		err = nil // wait has the patience
	}
	return func() (*exchange.Response, error) { return k.wait(err) }
}

func failing(err error) func() (*exchange.Response, error) {
	return func() (*exchange.Response, error) { return nil, err }
}

// over: an exchange is. A connection that takes nothing new ends with its last one.
func (c *Client) over() {
	c.mu.Lock()
	c.underWay--
	last := c.draining && c.underWay == 0
	c.mu.Unlock()
	if last {
		c.breakOff(codeNone, "")
	}
	c.changed()
}

// drain: the server takes nothing new.
func (c *Client) drain() {
	c.mu.Lock()
	c.draining = true
	last := c.underWay == 0
	c.mu.Unlock()
	if last {
		c.breakOff(codeNone, "")
	}
	c.changed()
}

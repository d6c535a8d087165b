package spdyconn

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

// maxControlBytes of one frame: a compressed header block is smaller than what it expands to.
const maxControlBytes = 256 << 10

// mostPushes are how many pushed streams may be open, as Chromium said to servers.
const mostPushes = 1000

// Client is a connection to an origin that speaks SPDY. It implements exchange.Conn. A Notes must not call the Client's methods but Room,
// Leaving, Close, Done and Err.
type Client struct {
	*link
	settings Settings
	room     atomic.Int64
	leaving  atomic.Bool
	byUs     atomic.Bool // Close ended it

	// What follows is the link's lock's.
	exchanges map[uint32]*clientExchange
	settled   bool // the server's SETTINGS came
	held      int  // unread bytes of all bodies
	turns     exchange.Turns
	refused   int // pushed streams that were refused
}

var _ exchange.Conn = (*Client)(nil)

// NewClient begins a session over a connection that is established (its TLS handshake done), which is the client's from now on.
func NewClient(conn net.Conn, version spdy.Version, settings Settings) (*Client, error) {
	if version < spdy.V2 || version > spdy.V31 {
		return nil, fmt.Errorf("spdyconn: a connection to %s cannot begin: %s is no version of SPDY", conn.RemoteAddr(), version)
	}
	settings = settings.withDefaults()
	if settings.StreamWindow < 1 || settings.SessionWindow < 1 || settings.MaxStreams < 1 || settings.MaxHeaderBytes < 1 {
		return nil, fmt.Errorf("spdyconn: a connection to %s cannot begin: a setting is negative: %+v", conn.RemoteAddr(), settings)
	}
	c := &Client{settings: settings, exchanges: make(map[uint32]*clientExchange)}
	pushes := 0
	if settings.TakePush != nil {
		pushes = mostPushes
	}
	session := spdy.NewSession(spdy.ClientRole, version, spdy.Config{
		StreamWindow: settings.StreamWindow, SessionWindow: settings.SessionWindow, MaxPeerStreams: pushes,
		MaxHeaderBytes: settings.MaxHeaderBytes, MaxControlBytes: maxControlBytes, HeaderLevel: *settings.HeaderLevel,
	})
	c.link = newLink(conn, c, session, settings)
	c.changed()
	c.start()
	return c, nil
}

// Version is the connection's version of SPDY.
func (c *Client) Version() spdy.Version { return c.session.Version() }

// Room is how many more exchanges can be begun now.
func (c *Client) Room() int { return int(c.room.Load()) }

// Leaving tells whether nothing new can begin, ever: a new connection is needed, though this one may still have exchanges under way.
func (c *Client) Leaving() bool { return c.leaving.Load() }

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err says why the connection ended; nil as long as it has not, and after an orderly end.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.cause
	default:
		return nil
	}
}

// Close sends GOAWAY and closes the connection. It does not wait: Done is closed within a tenth of a second.
func (c *Client) Close() error {
	c.room.Store(0)
	c.leaving.Store(true)
	go c.do(func() { // the caller may hold the lock: see Notes
		c.byUs.Store(!c.ending)
		c.end(nil)
	})
	return nil
}

// ClosedByUs tells whether Close ended it.
func (c *Client) ClosedByUs() bool { return c.byUs.Load() }

// errClosed is why exchanges end that were under way when Close was called, or the peer made an orderly end.
var errClosed = errors.New("the connection was closed")

// endError is why what was under way at the connection's end failed.
func (c *Client) endError() error {
	if c.cause != nil {
		return c.cause
	}
	return errClosed
}

// What follows is called by the link, with its lock held.

func (c *Client) changed() {
	if c.session.PeerWentAway() && c.session.OpenStreams() == 0 {
		c.end(nil) // the server takes nothing more, and nothing is under way
	}
	c.room.Store(int64(c.roomNow()))
	c.leaving.Store(c.ending || c.session.Leaving())
}

// tellOwner: what the server said may have changed Room or Leaving.
func (c *Client) tellOwner() {
	c.changed() // first: whoever hears of it looks
	if c.settings.Changed != nil {
		c.settings.Changed()
	}
}

func (c *Client) roomNow() int {
	if c.ending {
		return 0
	}
	most := c.settings.MaxStreams
	if !c.settled {
		most = min(most, c.settings.StreamsAtFirst)
	}
	return max(min(c.session.Room(), most-c.session.OpenStreams()), 0)
}

func (c *Client) busy() int   { return c.session.OpenStreams() }
func (c *Client) unread() int { return c.held }

func (c *Client) opened(id uint32) {
	if e := c.exchanges[id]; e != nil {
		e.noteSent()
	}
}

func (c *Client) drained(id uint32) {
	if e := c.exchanges[id]; e != nil {
		e.uploadDrained()
	}
}

func (c *Client) handle(event spdy.Event) {
	switch e := event.(type) {
	case spdy.Opened:
		c.promised(e)
	case spdy.Refused:
		c.refused++
	case spdy.Replied:
		c.with(e.StreamID, func(x *clientExchange) { x.replied(e) })
	case spdy.MoreHeaders:
		c.with(e.StreamID, func(x *clientExchange) { x.moreHeaders(e) })
	case spdy.Received:
		c.receivedBytes(e)
	case spdy.Ended:
		c.turns.Over(e.Err.StreamID)
		c.with(e.Err.StreamID, func(x *clientExchange) { x.fail(resetError(e.Err)) })
	case spdy.WentAway:
		for _, id := range e.Unprocessed {
			c.with(id, func(x *clientExchange) {
				x.fail(fmt.Errorf("%w: the server's GOAWAY (%s) has %d as the last stream", exchange.ErrRefused, e.Status, e.LastGoodID))
			})
		}
		c.tellOwner()
	case spdy.Settled:
		c.settled = true
		c.tellOwner()
	}
}

// resetError is what a reset means for the exchange: REFUSED_STREAM says that the server did nothing.
func resetError(err *spdy.StreamError) error {
	if err.ByPeer && err.Status == spdy.RefusedStream {
		return fmt.Errorf("%w: %w", exchange.ErrRefused, err)
	}
	return err
}

func (c *Client) with(id uint32, act func(*clientExchange)) {
	if x := c.exchanges[id]; x != nil {
		act(x)
	}
}

func (c *Client) receivedBytes(e spdy.Received) {
	if e.Begins {
		c.turns.Data(e.StreamID)
	}
	if e.Fin {
		c.turns.Over(e.StreamID)
	}
	x := c.exchanges[e.StreamID]
	if x == nil {
		c.session.Consume(e.StreamID, len(e.Bytes))
		return
	}
	x.received(e)
}

func (c *Client) ended(error) {
	for _, x := range c.exchanges {
		x.connectionEnded(c.endError())
	}
}

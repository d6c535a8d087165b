package h2

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
)

// What Chromium tells a server at first, in its order.
const (
	chromiumStreamWindow  = 6 << 20
	chromiumSessionWindow = 15 << 20
)

// A Client is a connection on the wire. It implements exchange.Conn and Reprioritiser.
type Client struct {
	*core
	next    uint32
	order   dependencies
	changed func()
}

// ClientSettings are what can be chosen. The zero value is as Chromium.
type ClientSettings struct {
	StreamWindow, SessionWindow int64
	// Changed is called, without waiting, when Room or Leaving may have changed by what the server said.
	Changed func()
}

// NewClient begins a session on a connection that is ready for it.
func NewClient(conn net.Conn, settings ClientSettings) *Client {
	if settings.StreamWindow == 0 {
		settings.StreamWindow = chromiumStreamWindow
	}
	if settings.SessionWindow == 0 {
		settings.SessionWindow = chromiumSessionWindow
	}
	c := &Client{next: 1, changed: settings.Changed}
	c.core = newCore(conn, c, settings.StreamWindow, settings.SessionWindow)
	c.out = append(c.out, http2.ClientPreface...)
	c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingHeaderTableSize, Val: ourTableSize},
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(settings.StreamWindow)},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: mostHeaderBytes},
	)
	if more := settings.SessionWindow - 65535; more > 0 {
		c.framer.WriteWindowUpdate(0, uint32(more))
	}
	c.run()
	return c
}

// Room implements exchange.Conn.
func (c *Client) Room() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.room()
}

func (c *Client) room() int {
	if c.draining || c.err != nil || c.next > mostWindow {
		return 0
	}
	return max(0, int(min(c.peer.maxStreams, 1<<20))-len(c.streams))
}

// Leaving implements exchange.Conn.
func (c *Client) Leaving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining || c.err != nil || c.next > mostWindow
}

// Close implements exchange.Conn.
func (c *Client) Close() error {
	c.closeWith(http2.ErrCodeNo, errClosed)
	return nil
}

// Done implements exchange.Conn.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err implements exchange.Conn.
func (c *Client) Err() error { return c.why() }

// ClosedByUs implements exchange.Conn.
func (c *Client) ClosedByUs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err == errClosed
}

func (c *Client) ended(error) {}

func (c *Client) forgotten(s *stream) { c.order.remove(s.id) }

func (c *Client) settled() {
	if c.changed != nil {
		c.changed()
	}
}

func (c *Client) reprioritised(uint32, exchange.Priority) {}

// A call is an exchange as the client sees it.
type call struct {
	*stream
	request *exchange.Request
	notes   exchange.Notes
	status  int
	fields  []exchange.Field
	unhook  func() bool

	bytes, wire, inFlight int // of the request, for its note
	noted                 bool
}

// noteSent tells that the head was sent, once: when the kernel has it, or when the answer or the end comes before we hear of that. With the lock.
func (k *call) noteSent() {
	if !k.noted {
		k.noted = true
		k.notes.Sent(k.id, k.bytes, k.wire, k.inFlight)
	}
}

// RoundTrip is Start, and waiting for what comes of it.
func (c *Client) RoundTrip(ctx context.Context, request *exchange.Request, notes exchange.Notes) (*exchange.Response, error) {
	return c.Start(ctx, request, notes)()
}

// Start implements exchange.Conn.
func (c *Client) Start(ctx context.Context, request *exchange.Request, notes exchange.Notes) func() (*exchange.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room() == 0 {
		err := fmt.Errorf("no room on the connection: %w", exchange.ErrNotSent)
		return func() (*exchange.Response, error) { return nil, err }
	}
	s := c.newStream(c.next)
	c.next += 2
	k := &call{stream: s, request: request, notes: notes}
	s.call = k
	s.sendEnded = request.Body == nil
	k.inFlight = len(c.streams)
	if len(c.written) == 0 {
		c.unsentFrom = len(c.out)
	}
	parent, weight := c.order.add(s.id, request.Priority.Urgency)
	k.bytes, k.wire = c.writeBlock(s.id, requestFields(request), s.sendEnded,
		http2.PriorityParam{StreamDep: parent, Exclusive: true, Weight: weight})
	c.written = append(c.written, k)
	c.send()
	if request.Body != nil {
		go k.upload()
	}
	// With the lock held, so not at once where ctx is cancelled already: cancel waits for it in a goroutine of its own.
	k.unhook = context.AfterFunc(ctx, k.cancel)
	return k.wait
}

func requestFields(request *exchange.Request) []exchange.Field {
	fields := make([]exchange.Field, 0, len(request.Fields)+4)
	fields = append(fields, // in Chromium's order
		exchange.Field{Name: ":method", Value: request.Method},
		exchange.Field{Name: ":authority", Value: request.Authority},
		exchange.Field{Name: ":scheme", Value: request.Scheme},
		exchange.Field{Name: ":path", Value: request.Path},
	)
	return append(fields, request.Fields...)
}

// Reprioritise implements exchange.Reprioritiser. Chromium sends PRIORITY to every server.
func (c *Client) Reprioritise(notes exchange.Notes, priority exchange.Priority) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.streams {
		if s.call.notes == notes {
			c.reprioritise(id, priority)
			return
		}
	}
}

func (c *Client) reprioritise(id uint32, priority exchange.Priority) {
	for _, moved := range c.order.move(id, priority.Urgency) {
		c.framer.WritePriority(moved.id, http2.PriorityParam{StreamDep: moved.parent, Exclusive: true, Weight: moved.weight})
	}
	if c.peer.newPriorities {
		c.framer.WritePriorityUpdate(id, priority.String())
	}
	c.send()
}

var uploadBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (k *call) upload() {
	buffer := uploadBuffers.Get().(*[32 << 10]byte)
	defer uploadBuffers.Put(buffer)
	for {
		n, err := k.request.Body.Read(buffer[:])
		if sendErr := k.write(buffer[:n], err == io.EOF); sendErr != nil || err == io.EOF {
			return
		}
		if err != nil {
			k.core.mu.Lock()
			k.reset(http2.ErrCodeCancel, fmt.Errorf("the request's body broke off: %w", err))
			k.core.mu.Unlock()
			return
		}
	}
}

func (k *call) cancel() {
	k.core.mu.Lock()
	defer k.core.mu.Unlock()
	k.reset(http2.ErrCodeCancel, errCancelled)
}

// wait returns when the head has come.
func (k *call) wait() (*exchange.Response, error) {
	k.core.mu.Lock()
	defer k.core.mu.Unlock()
	for !k.headed && k.err == nil {
		k.changed.Wait()
	}
	if !k.headed {
		k.unhook()
		return nil, k.err
	}
	return &exchange.Response{
		Status: k.status, Fields: k.fields, Body: body{k}, Trailers: k.allTrailers, Ended: k.recvEnded && k.buffer.size == 0 && k.trailers == nil,
	}, nil
}

func (k *call) allTrailers() []exchange.Field {
	k.core.mu.Lock()
	defer k.core.mu.Unlock()
	return k.trailers
}

type body struct{ *call }

func (b body) Read(p []byte) (int, error) {
	n, err := b.read(p)
	if err != nil {
		b.unhook()
	}
	return n, err
}

func (b body) Close() error {
	b.unhook()
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	b.discard()
	b.reset(http2.ErrCodeCancel, errCancelled)
	return nil
}

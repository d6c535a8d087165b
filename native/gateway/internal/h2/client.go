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
	next     uint32
	order    dependencies
	settings ClientSettings
	promised uint32 // the last stream that was promised
	pushes   int    // of streams, those that are pushed
}

// ClientSettings are what can be chosen. The zero value is as Chromium.
type ClientSettings struct {
	StreamWindow, SessionWindow int64
	MaxStreams                  int               // exchanges under way at once whatever the peer takes; 0: as many as it takes
	Priorities                  Priorities        // what the server is told of them
	TakePush                    exchange.TakePush // nil: the server may not push
	// Changed is called, without waiting, when Room or Leaving may have changed by what the server said.
	Changed func()
}

// Priorities are what a server is told of the urgency of requests.
type Priorities int

// What it can be told.
const (
	AsChromium Priorities = iota // a tree in the order of urgency
	Flat                         // all depend on nothing, with the same weight
	Unsaid                       // nothing
)

// flatWeight is that of a stream of which nothing is said, less one as frames have it.
const flatWeight = UnsaidWeight - 1

// UnsaidWeight is the weight of a stream of which nothing is said.
const UnsaidWeight = 16

// NewClient begins a session on a connection that is ready for it.
func NewClient(conn net.Conn, settings ClientSettings) *Client {
	if settings.StreamWindow == 0 {
		settings.StreamWindow = chromiumStreamWindow
	}
	if settings.SessionWindow == 0 {
		settings.SessionWindow = chromiumSessionWindow
	}
	c := &Client{next: 1, settings: settings}
	c.core = newCore(conn, c, settings.StreamWindow, settings.SessionWindow)
	c.out = append(c.out, http2.ClientPreface...)
	c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingHeaderTableSize, Val: ourTableSize},
		http2.Setting{ID: http2.SettingEnablePush, Val: c.mayPush()},
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
	most := int(min(c.peer.maxStreams, 1<<20))
	if c.settings.MaxStreams > 0 {
		most = min(most, c.settings.MaxStreams)
	}
	return max(0, most-c.inFlight())
}

// inFlight is how many exchanges that we began are under way. With the lock.
func (c *Client) inFlight() int { return len(c.streams) - c.pushes }

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

func (c *Client) forgotten(s *stream) {
	c.turns.Over(s.id)
	c.order.remove(s.id)
	if !c.isOurs(s.id) {
		c.pushes--
	}
}

func (c *Client) settled() {
	if c.settings.Changed != nil {
		c.settings.Changed()
	}
}

func (c *Client) reprioritised(uint32, exchange.Priority) {}

// A call is an exchange as the client sees it.
type call struct {
	*stream
	request *exchange.Request
	notes   exchange.Notes
	status  int
	interim int // answers before the final one
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
	k.inFlight = c.inFlight()
	if len(c.written) == 0 {
		c.unsentFrom = len(c.out)
	}
	k.bytes, k.wire = c.writeBlock(s.id, requestFields(request), s.sendEnded, c.priorityOf(s.id, request.Priority))
	c.written = append(c.written, k)
	c.floods.Step()
	c.send()
	if request.Body != nil {
		go k.upload()
	}
	// With the lock held, so not at once where ctx is cancelled already: cancel waits for it in a goroutine of its own.
	k.unhook = context.AfterFunc(ctx, k.cancel)
	return k.wait
}

// priorityOf is what the head of a request says of its priority. With the lock.
func (c *Client) priorityOf(id uint32, priority exchange.Priority) http2.PriorityParam {
	switch c.settings.Priorities {
	case Flat:
		return http2.PriorityParam{Weight: flatWeight}
	case Unsaid:
		return http2.PriorityParam{}
	}
	parent, weight := c.order.add(id, priority.Urgency)
	return http2.PriorityParam{StreamDep: parent, Exclusive: true, Weight: weight}
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
	if c.settings.Priorities != AsChromium {
		return
	}
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
		Status: k.status, Fields: k.fields, Body: body{k}, Trailers: k.allTrailers, Ended: k.recvEnded && k.buffer.Size() == 0 && k.trailers == nil,
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

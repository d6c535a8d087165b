package spdyconn

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

// clientExchange is one request and its response. Its fields are the link's lock's, but for the body, which has its own.
type clientExchange struct {
	client   *Client
	id       uint32
	notes    exchange.Notes
	asked    *exchange.Request
	pushed   bool
	request  spdy.HeaderSizes
	inFlight int
	noted    struct{ sent, lastByte bool }

	body     *body
	trailers []exchange.Field
	// trailerBytes bounds what a server can make us keep.
	trailerBytes int

	head     chan struct{} // closed when the response's head or a failure is there
	response *exchange.Response
	failure  error
	drained  chan struct{} // has an element when what was written of the request's body is drained
	over     chan struct{} // closed when nothing more is to be written of it
	unwatch  func() bool   // stops watching the request's context
}

// RoundTrip sends a request, and returns when the response's head is there.
func (c *Client) RoundTrip(ctx context.Context, request *exchange.Request, notes exchange.Notes) (*exchange.Response, error) {
	return c.Start(ctx, request, notes)()
}

// Start queues a request behind what was started before it. The function that it returns waits for the response's head.
func (c *Client) Start(ctx context.Context, request *exchange.Request, notes exchange.Notes) func() (*exchange.Response, error) {
	err := ctx.Err()
	var x *clientExchange
	if err == nil {
		x, err = c.begin(ctx, request, notes)
	}
	if err != nil {
		err = fmt.Errorf("spdyconn: %s %s was not sent: %w", request.Method, request.Path, err)
		return func() (*exchange.Response, error) { return nil, err }
	}
	if request.Body != nil {
		go x.upload(request.Body)
	}
	return func() (*exchange.Response, error) { return x.wait(request) }
}

func (x *clientExchange) wait(request *exchange.Request) (*exchange.Response, error) {
	<-x.head
	x.client.mutex.Lock()
	defer x.client.mutex.Unlock()
	if x.response == nil {
		x.unwatch()
		return nil, fmt.Errorf("spdyconn: %s %s on stream %d: %w", request.Method, request.Path, x.id, x.failure)
	}
	return x.response, nil
}

// begin opens the stream.
func (c *Client) begin(ctx context.Context, request *exchange.Request, notes exchange.Notes) (x *clientExchange, err error) {
	version := c.session.Version()
	fields := version.RequestFields(spdy.RequestHead{
		Method: request.Method, Scheme: request.Scheme, Host: request.Authority, Path: request.Path, Fields: request.Fields,
	})
	c.do(func() {
		if c.roomNow() == 0 {
			err = fmt.Errorf("%w: the connection takes no more streams (%d are open)", exchange.ErrNotSent, c.session.OpenStreams())
			return
		}
		x = &clientExchange{
			client: c, notes: notes, asked: request, head: make(chan struct{}), drained: make(chan struct{}, 1), over: make(chan struct{}),
		}
		x.id, x.request, err = c.session.Request(fields, version.Priority(request.Priority.Urgency), request.Body == nil)
		if err != nil {
			return
		}
		x.body = newBody(c.link, x.consumed)
		x.unwatch = context.AfterFunc(ctx, func() { x.cancel(ctx.Err()) })
		c.exchanges[x.id] = x
		x.inFlight = c.session.OpenStreams()
	})
	return x, err
}

// What follows but for cancel is called with the link's lock held.

// noteSent is called when the head was handed to the kernel; where the answer was read before the writer came to say so, by that.
func (x *clientExchange) noteSent() {
	if !x.noted.sent {
		x.noted.sent = true
		x.notes.Sent(x.id, x.request.Expanded, x.request.Wire, x.inFlight)
	}
}

func (x *clientExchange) noteLastByte() {
	if !x.noted.lastByte {
		x.noted.lastByte = true
		x.notes.LastByte()
	}
}

func (x *clientExchange) replied(e spdy.Replied) {
	if x.pushed {
		x.client.session.Reset(x.id, spdy.ProtocolError)
		x.fail(errors.New("a SYN_REPLY came for a pushed stream"))
		return
	}
	x.noteSent()
	x.answered(e.Fields, e.Sizes, e.Fin)
}

// answered takes the head of the response.
func (x *clientExchange) answered(all []spdy.Field, sizes spdy.HeaderSizes, fin bool) {
	x.notes.FirstByte(sizes.Expanded, sizes.Wire)
	status, fields, err := x.client.session.Version().ParseResponse(all)
	if err != nil {
		x.client.session.Reset(x.id, spdy.ProtocolError)
		x.fail(err)
		return
	}
	x.response = &exchange.Response{Status: status, Fields: fields, Body: &responseBody{x}, Trailers: x.trailersNow, Ended: fin}
	close(x.head)
	if fin {
		x.finished()
	}
}

func (x *clientExchange) received(e spdy.Received) {
	if x.response == nil && x.pushed {
		x.client.session.Consume(x.id, len(e.Bytes))
		x.client.session.Reset(x.id, spdy.ProtocolError)
		x.fail(errors.New("a pushed stream has DATA before the head of its answer"))
		return
	}
	unwanted := x.body.add(e.Bytes)
	x.client.held += len(e.Bytes) - unwanted
	if unwanted > 0 {
		x.client.session.Consume(x.id, unwanted)
	}
	if e.Fin {
		x.finished()
	}
}

// moreHeaders takes what comes after the reply as trailers: a response's head was handed over with the reply.
func (x *clientExchange) moreHeaders(e spdy.MoreHeaders) {
	if x.pushed && x.response == nil {
		x.answered(e.Fields, e.Sizes, e.Fin)
		return
	}
	for _, field := range x.client.session.Version().WithoutPseudo(e.Fields) {
		if x.trailerBytes += len(field.Name) + len(field.Value); x.trailerBytes <= x.client.settings.MaxHeaderBytes {
			x.trailers = append(x.trailers, field)
		}
	}
	if e.Fin {
		x.finished()
	}
}

// finished: the response is complete.
func (x *clientExchange) finished() {
	x.noteLastByte()
	x.body.finish(io.EOF, false)
	x.forgetIfOver()
}

// forgetIfOver forgets an exchange whose stream has ended; its body may still be read.
func (x *clientExchange) forgetIfOver() {
	if !x.client.session.IsOpen(x.id) {
		x.forget()
	}
}

func (x *clientExchange) forget() {
	if x.client.exchanges[x.id] == x {
		delete(x.client.exchanges, x.id)
		close(x.over)
	}
}

// fail ends an exchange whose stream is gone. What came of its body can still be read, and then the error comes.
func (x *clientExchange) fail(err error) {
	x.failure = err
	if x.response == nil {
		closeOnce(x.head)
	}
	x.body.finish(err, false)
	x.forget()
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// connectionEnded fails an exchange that was under way at the connection's end.
func (x *clientExchange) connectionEnded(cause error) {
	var broken *spdy.SessionError
	unanswered := x.response == nil && !errors.Is(cause, errClosed) && !errors.As(cause, &broken)
	switch {
	case !x.noted.sent:
		cause = fmt.Errorf("%w: %w", exchange.ErrNotSent, cause)
	case unanswered:
		cause = fmt.Errorf("%w: %w", exchange.ErrNotProcessed, cause)
	}
	x.fail(cause)
}

// cancel ends the exchange from this side.
func (x *clientExchange) cancel(cause error) {
	x.client.do(func() {
		if x.client.exchanges[x.id] != x {
			return // it is over
		}
		x.client.session.Reset(x.id, spdy.Cancel)
		x.giveBack(x.body.finish(cause, !x.noted.lastByte))
		x.fail(cause)
	})
}

// giveBack gives to the windows what nobody will read.
func (x *clientExchange) giveBack(count int) {
	if count > 0 {
		x.consumed(count)
	}
}

func (x *clientExchange) consumed(count int) {
	x.client.held -= count
	x.client.session.Consume(x.id, count)
	x.client.reading.Signal()
}

func (x *clientExchange) trailersNow() []exchange.Field {
	x.client.mutex.Lock()
	defer x.client.mutex.Unlock()
	return x.trailers
}

// responseBody is the body as the exchange's owner sees it.
type responseBody struct{ x *clientExchange }

func (b *responseBody) Read(buffer []byte) (int, error) {
	count, err := b.x.body.Read(buffer)
	if err != nil {
		b.x.unwatch()
	}
	return count, err
}

// Close cancels the exchange where it is not complete.
func (b *responseBody) Close() error {
	b.x.unwatch()
	unread := b.x.body.shut()
	b.x.client.do(func() {
		b.x.giveBack(unread)
		if b.x.client.exchanges[b.x.id] == b.x {
			b.x.client.session.Reset(b.x.id, spdy.Cancel)
			b.x.fail(context.Canceled)
		}
	})
	return nil
}

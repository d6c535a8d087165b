// Package relay carries the browser's requests to the wire and the answers back.
package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/pool"
	"lanelab/gateway/internal/wirelog"
)

// An Asked is a request of the browser, in whatever protocol it came, and our way to answer it.
type Asked interface {
	Context() context.Context // ends when the browser wants the answer no more
	Head() (method, authority, path string, fields []exchange.Field)
	Body() (body io.Reader, size int64) // nil: none. -1: of unknown size
	OnPriority(func(exchange.Priority))

	Inform(status int, fields []exchange.Field)
	Respond(status int, fields []exchange.Field, end bool) error
	Write([]byte) (int, error)
	End(trailers []exchange.Field) error
	Abort(error)
	Finish() // the last call
}

// A Relay is safe for concurrent use.
type Relay struct {
	pools *pool.Pools
	names *dial.Names
	log   *wirelog.Log

	mu     sync.Mutex
	number int
	under  map[*pool.Record]bool // under way
	ended  bool
}

// New makes a relay to pools.
func New(pools *pool.Pools, names *dial.Names, log *wirelog.Log) *Relay {
	return &Relay{pools: pools, names: names, log: log, under: map[*pool.Record]bool{}}
}

// copyBuffers: what one goroutine holds between wire and browser.
var copyBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// Serve takes a request. It does not wait, and the order of its calls is the order in which requests of one urgency go out.
func (r *Relay) Serve(asked Asked) {
	method, authority, path, fields := asked.Head()
	host := hostOf(authority)
	if r.reversed() {
		host = config.BackEnd
	}
	if !r.names.Known(host) {
		go refuse(asked, 421, fmt.Sprintf("%s is not a name of this site; the gateway carries its names only\n", host))
		return
	}
	to := r.pools.Of(host)
	wire, onWire := to.Wire(), authority
	if !r.reversed() {
		onWire = wire.Authority(host)
	}
	body, size := asked.Body()
	request := &exchange.Request{
		Method: method, Scheme: wire.Scheme(), Authority: onWire, Path: path, Fields: r.fieldsForWire(wire, fields),
		Priority: priorityOf(fields), BodySize: size, Informed: asked.Inform,
	}
	if wire.Push {
		request.Informed = func(status int, fields []exchange.Field) {
			if kept := withoutPushed(to, host, fields); len(kept) > 0 || len(fields) == 0 {
				asked.Inform(status, kept)
			}
		}
	}
	record := r.record(method, host+path, wire, request.Priority)
	if record == nil {
		go refuse(asked, 502, "the gateway is ending\n")
		return
	}
	var counted *countedBody
	if body != nil {
		counted = &countedBody{reader: body}
		request.Body = counted
	}
	ctx, cancel := context.WithCancel(asked.Context())
	ticket := to.Begin(ctx, host, request, record)
	asked.OnPriority(ticket.Reprioritise)
	go func() {
		defer cancel()
		r.carry(ctx, &carriage{asked: asked, ticket: ticket, record: record, request: request, host: host, to: to, body: counted})
	}()
}

// reversed tells whether any client is in front, and one server behind.
func (r *Relay) reversed() bool { return r.pools.Usual().Wire().Reverse != nil }

// hostOf is an authority without its port.
func hostOf(authority string) string {
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		authority = authority[:i]
	}
	return strings.ToLower(authority)
}

// record begins a request's record; nil: too late, the log is being closed.
func (r *Relay) record(method, url string, wire *config.Wire, priority exchange.Priority) *pool.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	r.number++
	record := pool.NewRecord(r.log, r.number, method, url, string(wire.Protocol), priority)
	r.under[record] = true
	return record
}

// A carriage is what is known of one request on its way.
type carriage struct {
	asked   Asked
	ticket  *pool.Ticket
	record  *pool.Record
	request *exchange.Request
	host    string
	to      *pool.Pool // that the host is in
	body    *countedBody
	headed  bool // the browser was given the answer's head
}

// carry waits for the answer and passes it on. The record is written before the browser sees the answer's end: who has seen it finds it in the log.
func (r *Relay) carry(ctx context.Context, c *carriage) {
	response, err := c.ticket.Wait()
	var received int64
	if err == nil {
		c.record.Change(func(event *wirelog.Request) { event.Status = &response.Status })
		received, err = r.pass(c, response)
		response.Body.Close()
	}
	cancelled := err != nil && ctx.Err() != nil
	c.record.Change(func(event *wirelog.Request) {
		event.ResponseBodyBytes, event.Cancelled = received, cancelled
		if c.body != nil {
			event.RequestBodyBytes = c.body.count()
		}
		if err != nil && !cancelled {
			event.Error = wirelog.Some(err.Error())
		}
	})
	c.record.End() // first: what is no longer under way must be written
	r.mu.Lock()
	delete(r.under, c.record)
	r.mu.Unlock()
	r.finish(c, response, err)
}

// finish tells the browser how it ended.
func (r *Relay) finish(c *carriage, response *exchange.Response, err error) {
	switch {
	case err == nil && !c.headed:
		c.asked.Respond(response.Status, r.fieldsForBrowser(c, response), true)
	case err == nil:
		c.asked.End(trailersOf(response))
	case c.headed || c.asked.Context().Err() != nil:
		c.asked.Abort(err) // the browser must not take what it has for all
	default:
		refuseOpen(c.asked, 502, fmt.Sprintf("the gateway cannot get %s%s: %v\n", c.host, c.request.Path, err))
	}
	c.asked.Finish()
}

// pass streams an answer to the browser, as fast as the browser takes it; all but its end.
func (r *Relay) pass(c *carriage, response *exchange.Response) (received int64, err error) {
	if response.Status < 200 || response.Status > 999 {
		return 0, fmt.Errorf("the server's answer has the status %d", response.Status)
	}
	if response.Ended {
		return io.Copy(io.Discard, response.Body) // its head says so to the browser, too
	}
	c.headed = true
	if err := c.asked.Respond(response.Status, r.fieldsForBrowser(c, response), false); err != nil {
		return 0, err
	}
	buffer := copyBuffers.Get().(*[32 << 10]byte)
	defer copyBuffers.Put(buffer)
	for {
		n, err := response.Body.Read(buffer[:])
		received += int64(n)
		if n > 0 && c.bodiless(response) {
			return received, errors.New("the answer has a body, where none may be")
		}
		if n > 0 {
			if _, err := c.asked.Write(buffer[:n]); err != nil {
				return received, err
			}
		}
		if err == io.EOF {
			return received, nil
		}
		if err != nil {
			return received, err
		}
	}
}

func (c *carriage) bodiless(response *exchange.Response) bool {
	return c.request.Method == "HEAD" || response.Status == 204 || response.Status == 304
}

func trailersOf(response *exchange.Response) []exchange.Field {
	if response.Trailers == nil {
		return nil
	}
	return response.Trailers()
}

// refuse answers with our own words, without the wire.
func refuse(asked Asked, status int, text string) {
	refuseOpen(asked, status, text)
	asked.Finish()
}

func refuseOpen(asked Asked, status int, text string) {
	fields := []exchange.Field{
		{Name: "content-type", Value: "text/plain; charset=utf-8"}, {Name: "content-length", Value: fmt.Sprint(len(text))},
	}
	if asked.Respond(status, fields, false) == nil {
		if _, err := io.WriteString(asked, text); err == nil {
			asked.End(nil)
		}
	}
}

// Close writes down what is still under way. What comes later is refused: it would be missing in the log.
func (r *Relay) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for record := range r.under {
		record.Change(func(event *wirelog.Request) { event.Error = wirelog.Some("the gateway ended before it") })
		record.End()
	}
}

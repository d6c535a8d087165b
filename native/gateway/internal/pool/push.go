package pool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/wirelog"
)

// mostPushed is how much of pushed answers is held; the rest waits for its windows.
const mostPushed = 64 << 20

// Why a push was refused, as the log has it.
const (
	notOfTheOrigin = "not of this origin" // of another host, scheme or port than the connection is for
	notSafe        = "not a GET"
	askedAlready   = "asked for already" // the browser's request was on its way
	promisedTwice  = "promised already"
	tooLate        = "the gateway was ending"
)

// pushes are the answers that servers sent without having been asked. Its lock may be taken under any other, and takes none but the log's.
type pushes struct {
	pool *Pool

	mu     sync.Mutex
	all    []*push
	by     map[string]*push // host and path -> the one that a request may have
	named  map[string]bool  // promised, whatever became of it
	asked  map[string]bool
	held   int64
	closed bool
}

func newPushes(pool *Pool) *pushes {
	return &pushes{pool: pool, by: map[string]*push{}, asked: map[string]bool{}, named: map[string]bool{}}
}

// A push is one pushed answer. What came of it is kept here, whether somebody wants it or not: as in a browser it is read at once.
type push struct {
	of      *pushes
	conn    *wireConn
	promise exchange.Promise
	pushed  exchange.Pushed
	ctx     context.Context
	cancel  func()

	// guarded by the lock of pushes
	event    wirelog.Push
	logged   bool
	changed  *sync.Cond
	response *exchange.Response
	body     bytes.Buffer
	err      error // why no more comes; io.EOF: it is whole
}

// take decides about a promise: exchange.TakePush.
func (p *pushes) take(c *wireConn, promise exchange.Promise, pushed exchange.Pushed) exchange.Notes {
	now := p.pool.log.Now()
	host, _, _ := strings.Cut(promise.Authority, ":")
	host = strings.ToLower(host)
	url := host + promise.Path
	one := &push{of: p, conn: c, promise: promise, pushed: pushed, changed: sync.NewCond(&p.mu), event: wirelog.Push{
		Event: "push", Connection: c.number, Stream: promise.Stream, Associated: promise.Associated, Method: promise.Method, URL: url, Promised: now,
	}}
	p.mu.Lock()
	defer p.mu.Unlock()
	if refused := p.refused(c, promise, host, url); refused != "" {
		one.event.Refused = &refused
		one.log()
		return nil
	}
	one.ctx, one.cancel = context.WithCancel(context.Background())
	p.by[url], p.named[url] = one, true
	p.all = append(p.all, one)
	go one.receive()
	return one
}

// refused is why a promise is not taken; empty: it is. With the lock.
func (p *pushes) refused(c *wireConn, promise exchange.Promise, host, url string) string {
	wire := p.pool.wire
	switch {
	case p.closed:
		return tooLate
	case promise.Method != "GET":
		return notSafe
	case promise.Scheme != wire.Scheme() || promise.Authority != wire.Authority(host) || !p.pool.names.Known(host),
		host != c.host && !c.dialled.Covers(host):
		return notOfTheOrigin
	case p.by[url] != nil:
		return promisedTwice
	case p.asked[url]:
		return askedAlready
	}
	return ""
}

// Promised tells whether a server promised to push what is at a host and path.
func (p *Pool) Promised(host, path string) bool {
	p.pushes.mu.Lock()
	defer p.pushes.mu.Unlock()
	return p.pushes.named[host+path]
}

// claim gives a request the answer that was pushed for it; nil: there is none. It is used once.
func (p *pushes) claim(w *waiter) *push {
	if !p.pool.wire.Push {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	url := w.host + w.request.Path
	p.asked[url] = true
	one := p.by[url]
	if one == nil || w.request.Method != "GET" || w.request.Body != nil || valueOf(w.request.Fields, "range") != "" {
		return nil
	}
	if one.err != nil && one.err != io.EOF {
		return nil
	}
	delete(p.by, url)
	return one
}

// receive reads all of it.
func (o *push) receive() {
	response, err := o.pushed.Wait(o.ctx)
	o.of.mu.Lock()
	o.response = response
	if err == nil {
		o.event.Status = &response.Status
	}
	o.changed.Broadcast()
	o.of.mu.Unlock()
	if err == nil {
		err = o.readBody(response)
		response.Body.Close()
	}
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.err = err
	if err != io.EOF {
		o.event.Error = wirelog.Some(err.Error())
	}
	o.changed.Broadcast()
	if o.event.AdoptedBy != nil {
		o.log()
	}
}

func (o *push) readBody(response *exchange.Response) error {
	buffer := make([]byte, 32<<10)
	for {
		o.of.mu.Lock()
		for o.of.held >= mostPushed && o.ctx.Err() == nil {
			o.changed.Wait()
		}
		o.of.mu.Unlock()
		n, err := response.Body.Read(buffer)
		o.of.mu.Lock()
		o.body.Write(buffer[:n])
		o.event.BodyBytes += int64(n)
		o.of.held += int64(n)
		o.changed.Broadcast()
		o.of.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// log writes its line, once. With the lock.
func (o *push) log() {
	if !o.logged {
		o.logged = true
		event := o.event
		o.of.pool.log.Write(&event)
	}
}

// Sent implements exchange.Notes; nothing is.
func (o *push) Sent(uint32, int, int, int) {}

// FirstByte implements exchange.Notes.
func (o *push) FirstByte(size, wire int) {
	now := o.of.pool.log.Now()
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.event.FirstByte, o.event.HeaderBytes, o.event.HeaderWireBytes = &now, size, wire
}

// LastByte implements exchange.Notes.
func (o *push) LastByte() {
	now := o.of.pool.log.Now()
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.event.LastByte = &now
}

// answer is the pushed answer for a request that claimed it, when its head is there. An error: the request has to be sent.
func (o *push) answer(w *waiter) (*exchange.Response, error) {
	p := o.of
	stop := context.AfterFunc(w.ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		o.changed.Broadcast()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for o.response == nil && o.err == nil && w.ctx.Err() == nil {
		o.changed.Wait()
	}
	if w.ctx.Err() != nil {
		o.drop("the browser wants it no more")
		return nil, w.ctx.Err()
	}
	if o.response == nil {
		return nil, o.err
	}
	if name := o.varies(w.request.Fields); name != "" {
		o.drop("the request differs in " + name)
		return nil, fmt.Errorf("the pushed answer is for another %s", name)
	}
	o.adopt(w)
	response := *o.response
	response.Ended = false
	response.Body = &pushedBody{o, w}
	return &response, nil
}

// drop: nobody will want it. With the lock.
func (o *push) drop(why string) {
	if o.event.Refused == nil {
		o.event.Refused = &why
	}
	o.cancel()
	o.changed.Broadcast()
}

// varies is the field by which the server chose the answer, and in which the request is another than the one that was promised; empty: none.
func (o *push) varies(fields []exchange.Field) string {
	for name := range strings.SplitSeq(strings.ToLower(valueOf(o.response.Fields, "vary")), ",") {
		name = strings.TrimSpace(name)
		if name == "*" || (name != "" && valueOf(fields, name) != valueOf(o.promise.Fields, name)) {
			return name
		}
	}
	return ""
}

func valueOf(fields []exchange.Field, name string) string {
	var values []string
	for _, field := range fields {
		if field.Name == name {
			values = append(values, field.Value)
		}
	}
	return strings.Join(values, ", ")
}

// adopt notes whose answer it is now. With the lock.
func (o *push) adopt(w *waiter) {
	now := o.of.pool.log.Now()
	o.conn.addHost(w.host)
	w.record.Change(func(event *wirelog.Request) {
		number := event.Request
		o.event.AdoptedBy, o.event.Adopted = &number, &now
		event.Pushed, event.Connection, event.Stream, event.Reused = true, &o.conn.number, &o.promise.Stream, true
		event.TLS = wirelog.Some(o.conn.dialled.TLS)
		event.FirstByte = notBefore(o.event.FirstByte, event.Queued)
		event.ResponseHeaderBytes, event.ResponseHeaderWireBytes = o.event.HeaderBytes, o.event.HeaderWireBytes
	})
	if o.err != nil {
		o.log()
	}
}

// notBefore: what came before the request was there is there at once.
func notBefore(t *wirelog.Time, earliest wirelog.Time) *wirelog.Time {
	if t == nil {
		return nil
	}
	return wirelog.At(max(*t, earliest))
}

// pushedBody is what of a pushed answer was kept, and then what comes.
type pushedBody struct {
	o *push
	w *waiter
}

func (b *pushedBody) Read(buffer []byte) (int, error) {
	o, p := b.o, b.o.of
	p.mu.Lock()
	defer p.mu.Unlock()
	for o.body.Len() == 0 && o.err == nil {
		o.changed.Wait()
	}
	if o.body.Len() == 0 {
		if o.err == io.EOF {
			b.w.record.Change(func(event *wirelog.Request) { event.LastByte = notBefore(o.event.LastByte, event.Queued) })
		}
		return 0, o.err
	}
	n, _ := o.body.Read(buffer)
	p.held -= int64(n)
	for _, other := range p.all {
		other.changed.Broadcast()
	}
	return n, nil
}

func (b *pushedBody) Close() error {
	b.o.cancel()
	b.o.of.mu.Lock()
	defer b.o.of.mu.Unlock()
	b.o.changed.Broadcast()
	return nil
}

var errGatewayEnded = errors.New("the gateway ended before it")

// close writes what is still to be written: what nobody wanted, and what was under way.
func (p *pushes) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, one := range p.all {
		if one.err == nil {
			one.event.Error = wirelog.Some(errGatewayEnded.Error())
		}
		one.log()
		one.cancel()
		one.changed.Broadcast()
	}
}

package pool

import (
	"sync"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/wirelog"
)

// A Record is what becomes of a request, for the log.
type Record struct {
	log *wirelog.Log

	mu    sync.Mutex
	event wirelog.Request
	ended bool
}

// NewRecord begins one now.
func NewRecord(log *wirelog.Log, number int, method, url string, protocol string, priority exchange.Priority) *Record {
	return &Record{log: log, event: wirelog.Request{
		Event: "request", Request: number, Method: method, URL: url, Protocol: protocol, Priority: asLogged(priority), Queued: log.Now(),
	}}
}

func asLogged(priority exchange.Priority) wirelog.Priority {
	return wirelog.Priority{Urgency: priority.Urgency, Incremental: priority.Incremental}
}

// Change lets f change what will be written. Once it is written nothing changes.
func (r *Record) Change(f func(*wirelog.Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		f(&r.event)
	}
}

// End writes it, once.
func (r *Record) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended = true
		r.log.Write(&r.event)
	}
}

// An attempt is one try of a request on one connection. It is told what happens there, with that connection's lock held: so it only notes.
type attempt struct {
	pool         *Pool
	record       *Record
	conn         *wireConn
	wirePriority *int

	mu   sync.Mutex
	read bool // something of the request's body was read for it
	over bool // the request goes another way: what is told of this one is of the past
}

// request is the request as this attempt sends it.
func (a *attempt) request(asked *exchange.Request) *exchange.Request {
	request := *asked
	if request.Body != nil {
		request.Body = &upload{asked.Body, a}
	}
	return &request
}

// Sent implements exchange.Notes.
func (a *attempt) Sent(stream uint32, bytes, wire, inFlight int) {
	now := a.pool.log.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	reused := a.conn.countSent(inFlight)
	if a.over {
		a.record.Change(func(event *wirelog.Request) { event.Tries++ }) // and nothing else: the rest is of where it goes now
		return
	}
	a.record.Change(func(event *wirelog.Request) {
		event.Tries++
		event.Connection = &a.conn.number
		event.TLS = wirelog.Some(a.conn.dialled.TLS)
		event.WirePriority = a.wirePriority
		event.Stream = nil
		if stream != 0 {
			event.Stream = &stream
		}
		event.Reused, event.InFlight = reused, inFlight
		event.RequestHeaderBytes, event.RequestHeaderWireBytes = bytes, wire
		event.Sent, event.FirstByte, event.LastByte = &now, nil, nil
	})
	a.pool.kick()
}

// FirstByte implements exchange.Notes.
func (a *attempt) FirstByte(bytes, wire int) {
	now := a.pool.log.Now()
	a.change(func(event *wirelog.Request) {
		event.FirstByte, event.ResponseHeaderBytes, event.ResponseHeaderWireBytes = &now, bytes, wire
	})
}

// LastByte implements exchange.Notes.
func (a *attempt) LastByte() {
	now := a.pool.log.Now()
	a.change(func(event *wirelog.Request) { event.LastByte = &now })
	a.pool.kick()
}

// change the record, as long as this is the way that the request goes.
func (a *attempt) change(f func(*wirelog.Request)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.record.Change(f)
	}
}

// giveUp ends an attempt so that the request can go another way. false: it cannot, since something of its body was read.
func (a *attempt) giveUp() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = a.over || !a.read
	return a.over
}

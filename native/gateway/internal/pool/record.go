package pool

import (
	"errors"
	"slices"
	"sync"

	"lanelab/gateway/internal/config"
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
		Event: "request", Request: number, Method: method, URL: url, Protocol: protocol, Priority: asLogged(priority), Queued: log.Now(), SentAgain: []string{},
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
	group        *group
	record       *Record
	conn         *wireConn
	wirePriority *int
	body         *source // nil: none
	class        class
	position     int  // in its pipeline when it was sent, from 1
	proven       bool // the connection had carried a request before, or had waited for one

	mu   sync.Mutex
	over bool // the request goes another way: what is told of this one is of the past
}

// request is the request as this attempt sends it.
func (a *attempt) request(asked *exchange.Request) *exchange.Request {
	request := *asked
	if !a.pool.wire.TellsPriorities() {
		request.Priority = exchange.DefaultPriority
	}
	if request.Body != nil {
		request.Body = &upload{source: a.body, attempt: a}
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
		if stream != 0 || a.pool.wire.Protocol == config.H3 { // whose first stream has that number
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

func (a *attempt) isOver() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over
}

// giveUp ends an attempt so that the request can go another way. false: it cannot, since what was read of its body is not there any more.
func (a *attempt) giveUp() bool {
	if a.body != nil {
		a.body.mu.Lock()
		defer a.body.mu.Unlock()
		if a.body.gone {
			return false
		}
		defer a.body.changed.Broadcast()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	return true
}

// learnt tells the host's policy of the attempt. With the pool's lock.
func (a *attempt) learnt(what kind) {
	c := a.conn
	if what == good {
		c.successes++
	}
	a.group.policy.learn(outcome{
		kind: what, class: a.class, conn: c.number, position: a.position, successes: c.successes, alone: c.begun == 1,
	})
}

// heard is called when it is known what became of the attempt. wanted: by the browser, still.
func (a *attempt) heard(wanted bool, response *exchange.Response, err error) {
	a.pool.mu.Lock()
	defer a.pool.mu.Unlock()
	a.conn.unheard--
	switch {
	case errors.Is(err, exchange.ErrEvicted):
		a.learnt(evicted)
	case err != nil && wanted && !a.conn.conn.ClosedByUs() && !errors.Is(err, exchange.ErrNotSent):
		a.learnt(broke)
	case err != nil: // it was cancelled, by the browser or by us, or nothing was sent: that says nothing of the host
	case response.Kept == exchange.OldVersion:
		a.learnt(oldVersion)
	case response.Kept == exchange.ToBeClosed:
		a.learnt(closes)
	case slices.ContainsFunc(response.Fields, func(f exchange.Field) bool { return f.Name == "www-authenticate" }):
		a.learnt(authentication)
	default:
		a.learnt(good)
	}
	a.pool.kick()
}

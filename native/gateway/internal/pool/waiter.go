package pool

import (
	"context"
	"errors"
	"slices"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/wirelog"
)

// Why a request is sent again, as the log has it.
const (
	noRoom      = "no-room"     // the connection took nothing of it, since it was full or ended: this was no try
	refused     = "refused"     // the server said that it did not look at it
	closedOn    = "closed"      // a connection that was in use, or had waited, was closed before a byte of the answer
	unpipelined = "pipeline"    // its pipeline ended before it was its turn
	misdirected = "misdirected" // 421 on another host's connection
)

// mostAgain is how often for each reason. Each connection that was in use may meet the moment at which the server ends what is idle: as in Chromium
// a request goes on until it is the first on its connection, but not for ever.
var mostAgain = map[string]int{noRoom: 20, refused: 2, closedOn: 20, unpipelined: 20, misdirected: 1}

// mostPipelinedAgain is how often a request may be behind others again after it had to leave a pipeline. A server that closes after each answer or
// two would else get each request as often as there are others.
const mostPipelinedAgain = 3

// A waiter is a request on its way to a connection.
type waiter struct {
	pool     *Pool
	ctx      context.Context
	host     string
	request  *exchange.Request
	body     *source // nil: none
	record   *Record
	sequence int
	started  chan started // has room for one

	// guarded by the pool's lock
	needsEmptyConn bool // not behind others: it was, and their connection ended
	noCoalesce     bool // not on another host's connection: its server said 421
	attempt        *attempt
	push           *push // whose answer it takes
}

type started struct {
	attempt *attempt
	wait    func() (*exchange.Response, error)
	err     error
}

func (w *waiter) mayUse(c *wireConn) bool {
	return c.host == w.host || (!w.noCoalesce && c.dialled.Covers(w.host))
}

// A Ticket is a request that was begun.
type Ticket struct{ w *waiter }

// Begin puts a request among those that wait, or starts it at once. It does not wait.
func (p *Pool) Begin(ctx context.Context, host string, request *exchange.Request, record *Record) *Ticket {
	w := &waiter{pool: p, ctx: ctx, host: host, request: request, record: record, started: make(chan started, 1)}
	if request.Body != nil {
		w.body = newSource(request.Body)
	}
	p.mu.Lock()
	p.sequence++ // here, since queue may have to wait for an address; and a request that is sent again keeps its age
	w.sequence = p.sequence
	p.mu.Unlock()
	if w.push = p.pushes.claim(w); w.push == nil {
		w.queue()
	}
	return &Ticket{w}
}

func (w *waiter) queue() {
	p := w.pool
	p.withGroup(w.host, func(g *group, err error) {
		if p.closed {
			err = errEnding
		}
		if err != nil {
			w.started <- started{err: err}
			return
		}
		if w.ctx.Err() != nil {
			return // its address came too late: try has gone already, or will
		}
		g.waiting = append(g.waiting, w)
		p.dispatch(g)
	})
}

// Wait returns when the head of the answer is there. The body's Close must be called.
func (t *Ticket) Wait() (*exchange.Response, error) {
	w := t.w
	if w.push != nil {
		response, err := w.push.answer(w)
		if err == nil || w.ctx.Err() != nil {
			return response, err
		}
		w.push = nil
		w.queue() // it is asked for, as if there had been no push
	}
	times := map[string]int{}
	for {
		response, attempt, err := w.try()
		why := w.againFor(response, attempt, err)
		if times[why]++; why == "" || times[why] > mostAgain[why] || !attempt.giveUp() {
			if err != nil {
				return nil, err
			}
			response.Body = &kicking{response.Body, w.pool} // there may be room when it is closed
			return response, nil
		}
		if err == nil {
			response.Body.Close()
		}
		w.record.Change(func(event *wirelog.Request) { event.SentAgain = append(event.SentAgain, why) })
		w.pool.mu.Lock()
		w.noCoalesce = w.noCoalesce || why == misdirected
		w.needsEmptyConn = w.needsEmptyConn || why == closedOn || why == unpipelined && !w.pipelinesAgain(err, times[why])
		w.pool.mu.Unlock()
		w.queue()
	}
}

// pipelinesAgain tells whether a request that was behind others may be so again: where the server only keeps to its number of requests for each
// connection, and who sends as early as can be. Browsers sent it alone.
func (w *waiter) pipelinesAgain(err error, times int) bool {
	return errors.Is(err, exchange.ErrAnnounced) && w.pool.wire.PipeliningPolicy == config.Eager && times <= mostPipelinedAgain
}

// againFor is why a request should be sent again; empty: it should not. The rules are Chromium's.
func (w *waiter) againFor(response *exchange.Response, attempt *attempt, err error) string {
	switch {
	case err == nil && response.Status == 421 && attempt.conn.host != w.host:
		return misdirected
	case err == nil || w.ctx.Err() != nil || attempt == nil:
		return ""
	case errors.Is(err, exchange.ErrNotSent):
		return noRoom
	case errors.Is(err, exchange.ErrRefused):
		return refused
	case errors.Is(err, exchange.ErrEvicted):
		return unpipelined
	case errors.Is(err, exchange.ErrNotProcessed) && w.pool.wire.Reverse != nil && w.pool.wire.Protocol.Multiplexed():
		return "" // it was under way beside others, not the first after a pause: the client is told
	case errors.Is(err, exchange.ErrNotProcessed) && attempt.proven:
		return closedOn
	}
	return "" // a connection that was closed at its first request was not closed for being idle: the next would be, too
}

func (w *waiter) try() (*exchange.Response, *attempt, error) {
	select {
	case start := <-w.started:
		if start.err != nil {
			return nil, nil, start.err
		}
		response, err := start.wait()
		start.attempt.heard(w.ctx.Err() == nil, response, err)
		return response, start.attempt, err
	case <-w.ctx.Done():
		w.withdraw()
		return nil, nil, w.ctx.Err()
	}
}

// withdraw: the browser wants it no more. If it was started meanwhile, the connection knows by the context.
func (w *waiter) withdraw() {
	w.pool.mu.Lock()
	for _, g := range w.pool.groups {
		g.waiting = slices.DeleteFunc(g.waiting, func(other *waiter) bool { return other == w })
	}
	w.pool.mu.Unlock()
	select {
	case start := <-w.started:
		if start.wait != nil {
			response, err := start.wait()
			if err == nil {
				response.Body.Close()
			}
			start.attempt.heard(false, response, err)
		}
	default:
	}
}

// Reprioritise gives a request that waits another place, and tells the server where it was sent.
func (t *Ticket) Reprioritise(priority exchange.Priority) {
	w := t.w
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.request.Priority = priority
	if !w.pool.wire.TellsPriorities() {
		return
	}
	if w.pool.wire.Protocol == config.H2 {
		w.request.Fields = withPriority(w.request.Fields, priority)
	}
	if w.attempt == nil {
		return
	}
	if conn, can := w.attempt.conn.conn.(exchange.Reprioritiser); can {
		conn.Reprioritise(w.attempt, priority)
	}
}

// withPriority says a priority in the fields too, where and how the browser would have.
func withPriority(fields []exchange.Field, priority exchange.Priority) []exchange.Field {
	kept := make([]exchange.Field, 0, len(fields)+1)
	said := priority.String()
	for _, field := range fields {
		if field.Name == "priority" {
			if said == "" {
				continue
			}
			field.Value, said = said, ""
		}
		kept = append(kept, field)
	}
	if said != "" {
		kept = append(kept, exchange.Field{Name: "priority", Value: said})
	}
	return kept
}

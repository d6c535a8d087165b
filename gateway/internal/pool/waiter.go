package pool

import (
	"context"
	"errors"
	"slices"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/h2"
)

// mostTries of a request on connections that carry many at once: one, and two more where the server did not look at it.
const mostTries = 3

// mostReuses: each try of HTTP/1.1's, but one on a new connection, may meet the moment at which the server ends what was idle. As Chromium
// does, a request then goes on until it was the first on its connection, which retryable sees; a busy server may take some.
const mostReuses = 20

// mostRefusals of connections that took nothing of a request, since they had no room or ended: they are no tries.
const mostRefusals = 20

func h2Weight(urgency int) int { return h2.Weight(urgency) }

// A waiter is a request on its way to a connection.
type waiter struct {
	pool     *Pool
	ctx      context.Context
	host     string
	request  *exchange.Request
	record   *Record
	sequence int
	started  chan started // has room for one

	// guarded by the pool's lock
	needsEmptyConn bool // not behind others: it was, and their connection ended
	noCoalesce     bool // not on another host's connection: its server said 421
	attempt        *attempt
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
	p.mu.Lock()
	p.sequence++ // here, since queue may have to wait for an address; and a request that is sent again keeps its age
	w.sequence = p.sequence
	p.mu.Unlock()
	w.queue()
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
	refusals := 0
	for tries := 1; ; tries++ {
		response, attempt, err := w.try()
		switch {
		case err == nil && response.Status == 421 && attempt.conn.host != w.host && attempt.giveUp():
			response.Body.Close()
			w.pool.mu.Lock()
			w.noCoalesce = true
			w.pool.mu.Unlock()
		case err == nil:
			return w.pool.kickedAtEnd(response), nil
		case w.ctx.Err() != nil || attempt == nil:
			return nil, err
		case errors.Is(err, exchange.ErrNotSent) && refusals < mostRefusals && attempt.giveUp():
			refusals++
			tries--
		case tries >= w.mostTries() || !w.retryable(attempt, err) || !attempt.giveUp():
			return nil, err
		}
		w.pool.mu.Lock()
		w.needsEmptyConn = true
		w.pool.mu.Unlock()
		w.queue()
	}
}

func (w *waiter) mostTries() int {
	if w.pool.wire.Protocol.Multiplexed() {
		return mostTries
	}
	return mostReuses
}

func (w *waiter) try() (*exchange.Response, *attempt, error) {
	select {
	case start := <-w.started:
		if start.err != nil {
			return nil, nil, start.err
		}
		response, err := start.wait()
		if err != nil {
			w.pool.kick()
		}
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
			if response, err := start.wait(); err == nil {
				response.Body.Close()
			}
			w.pool.kick()
		}
	default:
	}
}

// retryable: only what the server did not act on.
func (w *waiter) retryable(attempt *attempt, err error) bool {
	if !errors.Is(err, exchange.ErrNotProcessed) {
		return false
	}
	var sure interface{ Unprocessed() bool }
	if errors.As(err, &sure) && sure.Unprocessed() {
		return true
	}
	if !idempotent[w.request.Method] {
		return false
	}
	// A connection that was closed at its first request was not closed for being idle: the next would be, too.
	attempt.conn.mu.Lock()
	defer attempt.conn.mu.Unlock()
	return attempt.conn.requests > 1 || w.pool.wire.Protocol.Multiplexed()
}

var idempotent = map[string]bool{"GET": true, "HEAD": true, "OPTIONS": true, "TRACE": true, "PUT": true, "DELETE": true}

// Reprioritise gives a request that waits another place, and tells the server where it was sent.
func (t *Ticket) Reprioritise(priority exchange.Priority) {
	w := t.w
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.request.Priority = priority
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

// kickedAtEnd looks for room when an answer has been closed.
func (p *Pool) kickedAtEnd(response *exchange.Response) *exchange.Response {
	response.Body = &kicking{response.Body, p}
	return response
}

package pool

import (
	"cmp"
	"slices"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/http1"
	"lanelab/gateway/internal/spdy"
)

// inOrder sorts those who wait: by urgency, then age.
func (p *Pool) inOrder(g *group) []*waiter {
	slices.SortStableFunc(g.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.request.Priority.Urgency, b.request.Priority.Urgency), cmp.Compare(a.sequence, b.sequence))
	})
	return g.waiting
}

// dispatch starts what can be started, and begins connections for the rest. With the lock.
func (p *Pool) dispatch(g *group) {
	if len(g.waiting) == 0 || p.closed {
		return
	}
	p.inOrder(g)
	if p.wire.Protocol.Multiplexed() {
		p.dispatchMultiplexed(g)
	} else {
		p.dispatchHTTP1(g)
	}
}

// startWhere starts, in order, each waiter for which find has a connection.
func (p *Pool) startWhere(g *group, waiting []*waiter, find func(*waiter) *wireConn) {
	for _, w := range slices.Clone(waiting) {
		if c := find(w); c != nil {
			g.waiting = slices.DeleteFunc(g.waiting, func(other *waiter) bool { return other == w })
			p.start(w, c)
		}
	}
}

// dispatchMultiplexed: one connection carries all; another is begun where there is none that could, not where it is only full.
func (p *Pool) dispatchMultiplexed(g *group) {
	p.startWhere(g, g.waiting, func(w *waiter) *wireConn {
		for _, c := range g.conns {
			if w.mayUse(c) && c.conn.Room() > 0 {
				return c
			}
		}
		return nil
	})
	for _, w := range g.waiting {
		served := false
		for _, host := range g.connecting {
			// Another host's connection may turn out to cover this one: at the same address, one is waited for.
			served = served || host == w.host || !w.noCoalesce
		}
		for _, c := range g.conns {
			served = served || (w.mayUse(c) && !p.leaving(c))
		}
		if !served {
			p.connect(g, w.host)
		}
	}
}

// leaving tells whether a connection takes nothing new, ever.
func (p *Pool) leaving(c *wireConn) bool {
	select {
	case <-c.conn.Done():
		return true
	default:
	}
	leaving, knows := c.conn.(interface{ Leaving() bool })
	return knows && leaving.Leaving()
}

// dispatchHTTP1: an idle connection, else a new one; and then a place behind others where the arm pipelines.
func (p *Pool) dispatchHTTP1(g *group) {
	p.startWhere(g, g.waiting, func(*waiter) *wireConn { return p.idle(g) })
	for len(g.waiting) > len(g.connecting) && len(g.conns)+len(g.connecting) < p.wire.ConnectionsPerHost {
		p.connect(g, g.waiting[0].host)
	}
	if p.wire.Pipelining > 1 && len(g.waiting) > len(g.connecting) {
		// The last ones are left to the connections that are being made: the urgent ones are on their way now.
		p.startWhere(g, g.waiting[:len(g.waiting)-len(g.connecting)], func(w *waiter) *wireConn { return p.shortest(g, w) })
	}
}

// idle finds a connection without a request: the one that was used last, else the oldest. That is Chromium's choice.
func (p *Pool) idle(g *group) *wireConn {
	var best *wireConn
	for _, c := range g.conns {
		if c.conn.Room() == p.wire.Pipelining && (best == nil || c.lastUsed > best.lastUsed) {
			best = c
		}
	}
	return best
}

// shortest finds the connection with the fewest unanswered requests, if the host is known to keep its connections.
func (p *Pool) shortest(g *group, w *waiter) *wireConn {
	if w.needsIdle() {
		return nil
	}
	var best, second *wireConn
	for _, c := range g.conns {
		if conn, ok := c.conn.(*http1.Conn); ok && conn.Lasting() {
			g.lasting[w.host] = true
		}
		switch room := c.conn.Room(); {
		case room > 0 && (best == nil || room > best.conn.Room()):
			best, second = c, best
		case room > 0 && (second == nil || room > second.conn.Room()):
			second = c
		}
	}
	switch {
	case !g.lasting[w.host]:
		return nil
	case g.idleWantedBefore(w):
		return second // nothing is put on the best, so that it becomes idle
	}
	return best
}

// needsIdle tells whether a request can only be the first on its connection.
func (w *waiter) needsIdle() bool { return w.needsEmptyConn || !http1.Pipelinable(w.request) }

// idleWantedBefore tells whether requests before w need connections without any other, more of them than are being made.
func (g *group) idleWantedBefore(w *waiter) bool {
	wanted := 0
	for _, other := range g.waiting {
		if other == w {
			break
		}
		if other.needsIdle() {
			wanted++
		}
	}
	return wanted > len(g.connecting)
}

// start hands a request over to a connection. With the lock: so requests are on a connection in this order.
func (p *Pool) start(w *waiter, c *wireConn) {
	p.uses++
	c.lastUsed = p.uses
	c.addHost(w.host)
	a := &attempt{pool: p, record: w.record, conn: c, wirePriority: p.wirePriority(w.request.Priority)}
	wait := c.conn.Start(w.ctx, a.request(w.request), a)
	w.attempt = a
	w.started <- started{attempt: a, wait: wait}
}

func (p *Pool) wirePriority(priority exchange.Priority) *int {
	value := 0
	switch {
	case p.wire.Protocol.SPDY():
		version, err := spdy.ParseVersion(string(p.wire.Protocol))
		if err != nil {
			return nil
		}
		value = int(version.Priority(priority.Urgency))
	case p.wire.Protocol.Multiplexed():
		value = h2Weight(priority.Urgency)
	default:
		return nil
	}
	return &value
}

package pool

import (
	"cmp"
	"slices"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/h2"
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

// dispatchMultiplexed: one connection carries all; another is begun where there is none that could, not where it is only full. A reverse proxy has
// clients who know nothing of each other: there another is begun where all are full.
func (p *Pool) dispatchMultiplexed(g *group) {
	for _, w := range slices.Clone(g.waiting) {
		if c := p.connFor(g, w); c != nil {
			p.start(g, w, c, solo)
		}
	}
	for _, w := range g.waiting {
		served := false
		for _, making := range g.connecting {
			// Another host's connection may turn out to cover this one: at the same address, one is waited for.
			served = served || (!making.backup && (making.host == w.host || !w.noCoalesce))
		}
		for _, c := range g.conns {
			served = served || (w.mayUse(c) && !c.conn.Leaving() && p.wire.Reverse == nil)
		}
		if !served {
			p.connect(g, w.host)
		}
	}
}

// connFor is the connection that a request goes to now; nil: none has room. With several, as a reverse proxy may have, the one with the most, and of
// equal ones the one that waits longest.
func (p *Pool) connFor(g *group, w *waiter) (found *wireConn) {
	most := 0
	for _, c := range g.conns {
		room := c.conn.Room()
		if room == 0 || !w.mayUse(c) {
			continue
		}
		if p.wire.Reverse == nil {
			return c
		}
		if room > most || (room == most && c.lastUsed < found.lastUsed) {
			found, most = c, room
		}
	}
	if p.wire.Reverse != nil && found != nil && len(g.conns)+len(g.connecting) < p.wire.Reverse.Connections {
		p.connect(g, w.host) // so many shall there be; this request does not wait for the next
	}
	return found
}

// dispatchHTTP1 does what the host's policy decides.
func (p *Pool) dispatchHTTP1(g *group) {
	now := p.situationOf(g)
	g.policy.settle(now)
	decided := g.policy.decide(now)
	waiting, conns := slices.Clone(g.waiting), slices.Clone(g.conns)
	for _, one := range decided.starts {
		p.start(g, waiting[one.waiting], conns[one.conn], now.waiting[one.waiting])
	}
	for range decided.connect {
		p.connect(g, waiting[0].host)
	}
}

func (p *Pool) situationOf(g *group) situation {
	s := situation{depth: p.wire.Pipelining, limit: p.wire.ConnectionsPerHost, connecting: len(g.connecting)}
	for _, making := range g.connecting {
		if !making.backup {
			s.promised++
		}
	}
	for _, c := range g.conns {
		room := c.conn.Room()
		s.conns = append(s.conns, connState{
			number: c.number, unanswered: p.wire.Pipelining - room, unheard: c.unheard, room: room, class: c.class, lastUsed: c.lastUsed,
		})
	}
	for _, w := range g.waiting {
		if w.needsEmptyConn {
			s.waiting = append(s.waiting, solo)
		} else {
			s.waiting = append(s.waiting, g.policy.classOf(w.request))
		}
	}
	return s
}

// start hands a request over to a connection. With the lock: so requests are on a connection in this order.
func (p *Pool) start(g *group, w *waiter, c *wireConn, class class) {
	g.waiting = slices.DeleteFunc(g.waiting, func(other *waiter) bool { return other == w })
	unanswered := p.wire.Pipelining - c.conn.Room()
	if unanswered == 0 {
		c.class, c.begun, c.successes = class, 0, 0
	}
	a := &attempt{
		pool: p, group: g, record: w.record, conn: c, wirePriority: p.wirePriority(w.request.Priority), body: w.body,
		class: class, position: unanswered + 1, proven: c.lastUsed > 0 || c.wasIdle,
	}
	p.uses++
	c.lastUsed = p.uses
	c.begun++
	c.unheard++
	c.addHost(w.host)
	wait := c.conn.Start(w.ctx, a.request(w.request), a)
	a.learnt(begun)
	w.attempt = a
	w.started <- started{attempt: a, wait: wait}
}

func (p *Pool) wirePriority(priority exchange.Priority) *int {
	value := 0
	switch p.wire.Priorities {
	case config.FlatPriorities:
		priority = exchange.DefaultPriority
	case config.NoPriorities:
		return nil
	}
	switch {
	case p.wire.Protocol.SPDY():
		version, err := spdy.ParseVersion(string(p.wire.Protocol))
		if err != nil {
			return nil
		}
		value = int(version.Priority(priority.Urgency))
	case p.wire.Protocol == config.H2 && p.wire.Priorities == config.FlatPriorities:
		value = h2.UnsaidWeight
	case p.wire.Protocol == config.H2:
		value = h2.Weight(priority.Urgency)
	default:
		return nil
	}
	return &value
}

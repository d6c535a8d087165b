package pool

import (
	"errors"
	"time"

	"lanelab/gateway/internal/wirelog"
)

// farewell is how long connections may take to say good-bye when the gateway ends.
const farewell = 50 * time.Millisecond

// errEnding is what requests get that come too late.
var errEnding = errors.New("the gateway is ending")

// Close ends all connections in their protocol's way. What does not end soon is logged as it is.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, g := range p.groups {
		for _, c := range g.conns {
			c.conn.Close()
		}
		for _, s := range g.spares {
			s.dialled.Close()
		}
	}
	p.mu.Unlock()
	p.cancel()
	p.waitUntilLogged(time.After(farewell))
	p.logUnended()
	p.pushes.close()
}

// logUnended writes down the connections that did not end in time. What ends now is not written a second time.
func (p *Pool) logUnended() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.groups {
		for _, c := range g.conns {
			c.logged = true
			event := c.event(string(p.wire.Protocol))
			event.EndedBy = wirelog.Some("gateway")
			p.log.Write(event)
		}
	}
}

// waitUntilLogged waits until every connection that ended is out of the pool, and so in the log.
func (p *Pool) waitUntilLogged(patience <-chan time.Time) {
	for {
		left := 0
		p.mu.Lock()
		for _, g := range p.groups {
			left += len(g.conns) + len(g.connecting) + len(g.spares)
		}
		p.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-patience:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

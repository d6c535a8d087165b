// Package pool decides which connection on the wire carries which request, as Chromium does with its own: when connections are begun, how many
// there are, which request waits and which goes first.
package pool

import (
	"context"
	"sync"
	"time"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/wirelog"
)

// chromiumsFirst connections are begun for a page's own host while Chromium still prepares the navigation.
const chromiumsFirst = 2

// A Pool is safe for concurrent use.
//
//	Begin          -> a waiter in its group
//	dispatch       every waiter that a connection has room for is started there, in order; connections are begun for the others
//	kick           something may have changed (an answer ended, settings came): dispatch soon
type Pool struct {
	wire   *config.Wire
	log    *wirelog.Log
	names  *dial.Names
	dialer *dial.Dialer
	kicks  chan struct{}
	wait   time.Duration // until a backup connection
	ctx    context.Context
	cancel func()

	pushes *pushes

	mu       sync.Mutex
	groups   map[string]*group
	looking  map[string][]func(*group, error) // what waits for a host's address
	sequence int
	uses     int
	closed   bool
}

// A group is what shares connections: a host, or an address where connections are coalesced.
type group struct {
	waiting    []*waiter
	conns      []*wireConn
	connecting map[int]*making
	spares     []*spare // connected, and nobody needed them yet
	backup     *time.Timer
	policy     policy // of HTTP/1.1
}

// New makes a pool for one wire.
func New(wire *config.Wire, names *dial.Names, dialer *dial.Dialer, log *wirelog.Log) *Pool {
	p := &Pool{wire: wire, log: log, names: names, dialer: dialer, kicks: make(chan struct{}, 1), wait: backupWait, groups: map[string]*group{},
		looking: map[string][]func(*group, error){}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.pushes = newPushes(p)
	go p.dispatchWhenKicked()
	return p
}

// Wire is what its connections speak.
func (p *Pool) Wire() *config.Wire { return p.wire }

func (p *Pool) kick() {
	select {
	case p.kicks <- struct{}{}:
	default:
	}
}

func (p *Pool) dispatchWhenKicked() {
	for {
		select {
		case <-p.kicks:
		case <-p.ctx.Done():
			return
		}
		p.mu.Lock()
		for _, g := range p.groups {
			p.dispatch(g)
		}
		p.mu.Unlock()
	}
}

// Prepare begins a connection for a host that has none, as a browser does when it knows which it will need.
func (p *Pool) Prepare(host string) {
	if !p.names.Known(host) {
		return
	}
	p.withGroup(host, func(g *group, err error) {
		if err != nil || len(g.conns) > 0 || len(g.connecting) > 0 {
			return
		}
		count := 1
		if p.log.Connections() == 0 && !p.wire.Protocol.Multiplexed() {
			count = min(chromiumsFirst, p.wire.ConnectionsPerHost)
		}
		for range count {
			p.connect(g, host)
		}
	})
}

// withGroup calls act with the lock held and the group in which a host's connections are: at once, unless its address must be looked up.
func (p *Pool) withGroup(host string, act func(*group, error)) {
	if p.wire.Coalescing != config.Address {
		p.mu.Lock()
		defer p.mu.Unlock()
		act(p.group(host), nil)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	addresses, ready := p.names.Ready(host)
	if acts := p.looking[host]; ready && acts == nil {
		act(p.group(addresses[0].String()), nil)
	} else if p.looking[host] = append(acts, act); acts == nil {
		go p.look(host)
	}
}

// look waits for a host's address, and then does what waited for it, in the order in which it came.
func (p *Pool) look(host string) {
	addresses, err := p.names.Addresses(p.ctx, host)
	p.mu.Lock()
	defer p.mu.Unlock()
	acts := p.looking[host]
	delete(p.looking, host)
	for _, act := range acts {
		if err != nil {
			act(nil, err)
		} else {
			act(p.group(addresses[0].String()), nil)
		}
	}
}

func (p *Pool) group(key string) *group {
	g := p.groups[key]
	if g == nil {
		g = &group{connecting: map[int]*making{}, policy: newPolicy(p.wire)}
		p.groups[key] = g
	}
	return g
}

// watch takes a connection out of the pool when it has ended, and writes it to the log.
func (p *Pool) watch(g *group, c *wireConn) {
	go func() {
		<-c.conn.Done()
		p.mu.Lock()
		defer p.mu.Unlock()
		for i, other := range g.conns {
			if other == c {
				g.conns = append(g.conns[:i:i], g.conns[i+1:]...)
				break
			}
		}
		p.logEnd(c)
		p.dispatch(g)
	}()
}

func (p *Pool) logEnd(c *wireConn) {
	if !c.logged {
		c.logged = true
		p.logEnded(c, c.conn.ClosedByUs(), c.conn.Err())
	}
}

func (p *Pool) logEnded(c *wireConn, byUs bool, err error) {
	event := c.event(string(p.wire.Protocol))
	event.Closed = wirelog.At(p.log.Now())
	switch {
	case byUs:
		event.EndedBy = wirelog.Some("gateway")
	case err != nil:
		event.EndedBy, event.Error = wirelog.Some("error"), wirelog.Some(err.Error())
	default:
		event.EndedBy = wirelog.Some("server")
	}
	p.log.Write(event)
}

// failWaiting: a connection that could not be made is the end of the request that it was for; where one would have carried all, of all.
func (p *Pool) failWaiting(g *group, host string, err error) {
	kept := g.waiting[:0]
	failed := false
	for _, w := range p.inOrder(g) {
		if w.host != host || (failed && !p.wire.Protocol.Multiplexed()) {
			kept = append(kept, w)
			continue
		}
		failed = true
		w.started <- started{err: err}
	}
	g.waiting = kept
}

// Waiting is how many requests have no connection yet.
func (p *Pool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	count := 0
	for _, g := range p.groups {
		count += len(g.waiting)
	}
	return count
}

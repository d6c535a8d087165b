package pool

import (
	"errors"
	"net"
	"os"
	"slices"
	"time"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/h2"
	"lanelab/gateway/internal/h3"
	"lanelab/gateway/internal/http1"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
)

// Chromium's figures: for how long a host's first connection may be on its way before a second is begun, and for how long one stays that nobody
// needed.
const (
	backupWait = 250 * time.Millisecond
	spareTime  = 10 * time.Second
)

// proxyStreams are how many requests a reverse proxy has under way at once on a connection whose server says nothing of it: Jetty does not.
const proxyStreams = 100_000

// A making is a connection that is being made.
type making struct {
	number    int
	host      string
	backup    bool // nobody waits for it as long as the others go on. Of a connection and its backup, the one that is late
	resolved  bool // its address is known
	connected bool
}

// A spare is a connection that a backup made superfluous: connected, and nothing more. The next connection of its group is made of it.
type spare struct {
	*wireConn
	over chan error // why nobody listens on it any more
}

// connect begins a connection. With the lock.
func (p *Pool) connect(g *group, host string) {
	if p.closed {
		return
	}
	if last := len(g.spares) - 1; last >= 0 {
		s := g.spares[last]
		g.spares = g.spares[:last]
		g.connecting[s.number] = &making{number: s.number, host: host, resolved: true, connected: true}
		go p.takeSpare(g, g.connecting[s.number], s)
		return
	}
	first := len(g.conns)+len(g.connecting) == 0
	p.beginConnection(g, host, false)
	if first && p.wire.BackupConnections && g.backup == nil {
		p.backUpLater(g, host)
	}
}

func (p *Pool) beginConnection(g *group, host string, backup bool) {
	m := &making{number: p.log.NextConnection(), host: host, backup: backup}
	g.connecting[m.number] = m
	go p.establish(g, m, backup)
}

// awaited is the oldest connection that is on its way and no backup; nil: none. With the lock.
func (g *group) awaited() (oldest *making) {
	for _, m := range g.connecting {
		if !m.backup && !m.connected && (oldest == nil || m.number < oldest.number) {
			oldest = m
		}
	}
	return oldest
}

func (p *Pool) backUpLater(g *group, host string) {
	g.backup = time.AfterFunc(p.wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.backUp(g, host)
	})
}

// backUp begins a second connection where the first is still on its way: its SYN may be lost, and is sent again after a second only. With the lock.
func (p *Pool) backUp(g *group, host string) {
	g.backup = nil
	if p.closed || g.awaited() == nil {
		return
	}
	full := !p.wire.Protocol.Multiplexed() && len(g.conns)+len(g.connecting) >= p.wire.ConnectionsPerHost
	resolving := true
	for _, m := range g.connecting {
		resolving = resolving && !m.resolved
	}
	switch {
	case full || resolving:
		p.backUpLater(g, host)
	case p.wire.Secure() || len(g.waiting) > 0: // with TLS Chromium's handshake waits for it, whoever waits for the handshake
		p.beginConnection(g, host, true)
	}
}

// establish makes a connection. Who connects first goes on, whether it was begun first or as a backup: what is late is the backup then.
func (p *Pool) establish(g *group, m *making, backup bool) {
	c, err := p.dial(m, backup)
	p.mu.Lock()
	if m.connected = err == nil; m.connected && m.backup {
		if late := g.awaited(); late != nil {
			m.backup, late.backup = false, true
		}
	}
	ready := !p.wire.Secure() && !p.wire.Protocol.Multiplexed() // HTTP/1.1 in clear is idle once it is connected
	if m.connected && m.backup && !ready && !p.closed {
		delete(g.connecting, m.number)
		p.setAside(g, c)
		p.dispatch(g) // who waits now may wait for this one
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	p.join(g, m, c, err)
}

// dial is the address and TCP.
func (p *Pool) dial(m *making, backup bool) (*wireConn, error) {
	c := &wireConn{number: m.number, host: m.host, hosts: []string{m.host}, backup: backup, dialled: dial.NoConn()}
	addresses, err := p.names.Addresses(p.ctx, m.host)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	m.resolved = true
	p.mu.Unlock()
	c.dialled, err = p.dialer.Dial(p.ctx, m.host, addresses)
	return c, err
}

// join makes a connection that is connected ready for requests, and takes it into the pool.
func (p *Pool) join(g *group, m *making, c *wireConn, err error) {
	if err == nil {
		if err = p.dialer.Secure(p.ctx, c.dialled, c.host); err == nil {
			c.conn, err = p.speak(c)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(g.connecting, m.number)
	switch {
	case err != nil:
		if c != nil { // else its address is not known, and there was no connection
			p.logEnded(c, false, err)
		}
		if !m.backup {
			p.failWaiting(g, m.host, err)
		}
	default:
		g.conns = append(g.conns, c) // even if the pool is closed: so its end is waited for
		p.watch(g, c)
		if p.closed {
			go c.conn.Close()
		}
	}
	p.dispatch(g)
	if c != nil {
		c.wasIdle = c.lastUsed == 0
	}
}

// speak begins the wire's protocol on a connection.
func (p *Pool) speak(c *wireConn) (exchange.Conn, error) {
	conn := c.dialled
	var takePush exchange.TakePush
	if p.wire.Push {
		takePush = func(promise exchange.Promise, pushed exchange.Pushed) exchange.Notes {
			return p.pushes.take(c, promise, pushed)
		}
	}
	switch {
	case p.wire.Protocol == config.HTTP1:
		return http1.NewClient(conn, http1.Settings{
			Depth: p.wire.Pipelining, Keepalive: p.wire.Keepalive, EndsAtCancelled: p.wire.PipeliningPolicy != config.Eager,
		}), nil
	case p.wire.Protocol == config.H2:
		settings := h2.ClientSettings{
			Changed: p.kick, StreamWindow: int64(p.wire.StreamWindow), SessionWindow: int64(p.wire.ConnectionWindow), MaxStreams: p.wire.MaxConcurrentStreams,
			Priorities: priorities[p.wire.Priorities], TakePush: takePush,
		}
		if p.wire.Reverse != nil {
			settings = h2.ClientSettings{Changed: p.kick, StreamWindow: int64(p.wire.Reverse.Window)}
		}
		return h2.NewClient(conn, settings), nil
	case p.wire.Protocol == config.H3:
		client, err := h3.NewClient(conn.QUIC(), h3.Settings{Changed: p.kick, MaxStreams: p.wire.MaxConcurrentStreams})
		if err != nil {
			return nil, err // and no client that is none
		}
		return client, nil
	}
	version, err := spdy.ParseVersion(string(p.wire.Protocol))
	if err != nil {
		conn.Close()
		return nil, err
	}
	settings := spdyconn.Settings{
		Changed: p.kick, StreamWindow: p.wire.StreamWindow, SessionWindow: p.wire.ConnectionWindow, MaxStreams: p.wire.MaxConcurrentStreams,
		HeaderLevel: &p.wire.SPDYHeaderCompression, TakePush: takePush,
	}
	if p.wire.Reverse != nil {
		settings.StreamWindow = p.wire.Reverse.Window
		settings.MaxStreams, settings.StreamsAtFirst = proxyStreams, proxyStreams
	}
	return spdyconn.NewClient(conn, version, settings)
}

var priorities = map[string]h2.Priorities{
	config.ChromiumPriorities: h2.AsChromium, config.FlatPriorities: h2.Flat, config.NoPriorities: h2.Unsaid,
}

// setAside keeps a connection for the next that is begun, until the server or time ends it. With the lock.
func (p *Pool) setAside(g *group, c *wireConn) {
	s := &spare{c, make(chan error, 1)}
	g.spares = append(g.spares, s)
	c.dialled.SetReadDeadline(time.Now().Add(spareTime))
	go func() {
		_, err := c.dialled.Read(make([]byte, 1))
		p.mu.Lock()
		defer p.mu.Unlock()
		if i := slices.Index(g.spares, s); i >= 0 {
			g.spares = slices.Delete(g.spares, i, i+1)
			p.endSpare(c, err)
		}
		s.over <- err
	}()
}

func (p *Pool) endSpare(c *wireConn, err error) {
	byUs := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed)
	c.dialled.Close()
	p.logEnded(c, byUs, nil)
}

// takeSpare makes a connection of a spare, or a new one if the server has just closed that.
func (p *Pool) takeSpare(g *group, m *making, s *spare) {
	s.dialled.SetReadDeadline(time.Unix(1, 0)) // so that nobody listens on it
	if err := <-s.over; !errors.Is(err, os.ErrDeadlineExceeded) {
		p.mu.Lock()
		p.endSpare(s.wireConn, err)
		delete(g.connecting, m.number)
		p.beginConnection(g, m.host, false)
		p.mu.Unlock()
		return
	}
	s.dialled.SetReadDeadline(time.Time{})
	p.join(g, m, s.wireConn, nil)
}

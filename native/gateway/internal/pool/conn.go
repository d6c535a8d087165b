package pool

import (
	"slices"
	"sync"

	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/wirelog"
)

// A wireConn is a connection of the pool.
type wireConn struct {
	number  int
	host    string // for which it was made
	backup  bool   // begun because another was late
	dialled *dial.Conn
	conn    exchange.Conn // nil until it speaks its protocol

	// guarded by the pool's lock
	lastUsed  int  // order of use; 0: never
	wasIdle   bool // ready before a request was there for it
	logged    bool
	class     class // of what is on it, or was last
	begun     int   // requests since it was idle last
	successes int   // of these
	unheard   int   // requests of which the policy has not learnt what became of them

	mu           sync.Mutex
	hosts        []string
	requests     int
	mostInFlight int
}

// countSent tells whether another request was sent on it before.
func (c *wireConn) countSent(inFlight int) (reused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.mostInFlight = max(c.mostInFlight, inFlight)
	return c.requests > 1
}

func (c *wireConn) addHost(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.hosts, host) {
		c.hosts = append(c.hosts, host)
	}
}

// event is the connection as the log has it.
func (c *wireConn) event(protocol string) *wirelog.Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	var streams *wirelog.Streams
	if conn, multiplexes := c.conn.(exchange.Multiplexer); multiplexes {
		use := conn.StreamUse()
		streams = &wirelog.Streams{
			Told: use.Told, Acknowledged: use.Acknowledged, Heard: use.Heard, DataFrames: use.DataFrames, Switches: use.Switches,
			RefusedPushes: use.Refused,
		}
	}
	return &wirelog.Connection{
		Streams: streams,
		Event:   "connection", Connection: c.number, Host: c.host, Hosts: slices.Clone(c.hosts), Backup: c.backup, Protocol: protocol,
		Remote: c.dialled.Remote, Local: c.dialled.Local, ALPN: wirelog.Some(c.dialled.ALPN), TLS: wirelog.Some(c.dialled.TLS),
		TLSResumed: c.dialled.Resumed, Began: c.dialled.Began, Connected: c.dialled.Connected, Secured: c.dialled.Secured,
		SentBytes: c.dialled.Sent(), ReceivedBytes: c.dialled.Received(), Requests: c.requests, MostInFlight: c.mostInFlight,
	}
}

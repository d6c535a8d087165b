package main

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"lanelab/gateway/internal/exchange"
)

// client has one connection at a time. Where the server ends it, the next request opens another; a server that ends one on which nothing was
// answered is not asked again.
type client struct {
	load     *load
	counters *result
	mutex    sync.Mutex
	current  *connection // nil: the client has given up
	all      []*connection
}

func newClient(l *load, counters *result, first *connection) *client {
	return &client{load: l, counters: counters, current: first, all: []*connection{first}}
}

// request makes one request and counts what came of it. A request that the server says it did not process is made again on the next
// connection. False: the client has given up, and the request was not made.
func (c *client) request(ctx context.Context, target *url.URL) bool {
	for {
		conn := c.connection(ctx)
		if conn == nil {
			return false
		}
		s := c.load.request(ctx, conn, target)
		if errors.Is(s.err, exchange.ErrNotProcessed) && conn.over() && ctx.Err() == nil {
			continue
		}
		if s.err == nil {
			conn.served.Store(true)
		}
		c.counters.add(s)
		return true
	}
}

func (c *client) connection(ctx context.Context) *connection {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.current == nil || !c.current.over() {
		return c.current
	}
	before := c.current
	c.current = nil
	if !before.served.Load() {
		c.counters.failed(errors.New("the server ended a connection on which it had answered nothing"), 0)
		return nil
	}
	began := time.Now()
	next, err := c.load.connectOne(ctx, c.counters)
	if err != nil {
		c.counters.failed(err, time.Since(began))
		return nil
	}
	c.counters.reconnected()
	c.current, c.all = next, append(c.all, next)
	return next
}

// close ends its connections, and counts what they have received.
func (c *client) close() {
	for _, conn := range c.all {
		_ = conn.Close() // never fails
		<-conn.Done()
		c.counters.WireBytes += conn.wire.received.Load()
	}
}

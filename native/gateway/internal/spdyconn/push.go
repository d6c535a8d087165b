package spdyconn

import (
	"context"
	"fmt"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

// promised takes a stream that the server opened: an answer that nobody has asked for. The session has seen that it belongs to a request under way.
func (c *Client) promised(e spdy.Opened) {
	version := c.session.Version()
	request, err := version.ParsePush(e.Fields)
	owner := c.exchanges[e.AssociatedID]
	if err != nil || owner == nil || owner.pushed || c.settings.TakePush == nil {
		c.session.Reset(e.StreamID, spdy.ProtocolError)
		return
	}
	x := &clientExchange{
		client: c, id: e.StreamID, pushed: true, head: make(chan struct{}), drained: make(chan struct{}, 1), over: make(chan struct{}),
		unwatch: func() bool { return true },
	}
	x.noted.sent = true
	x.body = newBody(c.link, x.consumed)
	promise := exchange.Promise{
		Stream: e.StreamID, Associated: e.AssociatedID, Method: request.Method, Scheme: request.Scheme, Authority: request.Host, Path: request.Path,
		Fields: owner.asked.Fields,
	}
	if x.notes = c.settings.TakePush(promise, pushed{x}); x.notes == nil {
		c.session.Reset(e.StreamID, spdy.Cancel)
		return
	}
	c.exchanges[x.id] = x
	switch {
	case version.Answers(e.Fields):
		x.answered(e.Fields, e.Sizes, e.Fin)
	case e.Fin:
		x.fail(fmt.Errorf("the pushed stream %d ended before its answer's head", e.StreamID))
	}
}

// pushed is an exchange that the server began.
type pushed struct{ x *clientExchange }

// Wait implements exchange.Pushed.
func (p pushed) Wait(ctx context.Context) (*exchange.Response, error) {
	unwatch := context.AfterFunc(ctx, func() { p.x.cancel(ctx.Err()) })
	p.x.client.mutex.Lock()
	p.x.unwatch = unwatch
	p.x.client.mutex.Unlock()
	<-p.x.head
	p.x.client.mutex.Lock()
	defer p.x.client.mutex.Unlock()
	if p.x.response == nil {
		unwatch()
		return nil, fmt.Errorf("spdyconn: the pushed stream %d: %w", p.x.id, p.x.failure)
	}
	return p.x.response, nil
}

// StreamUse implements exchange.Multiplexer.
func (c *Client) StreamUse() exchange.StreamUse {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	version := c.session.Version()
	told := map[string]uint32{}
	if version >= spdy.V3 {
		told["initial_window_size"] = uint32(c.settings.StreamWindow)
	}
	if version >= spdy.V31 {
		told["connection_window"] = uint32(c.settings.SessionWindow)
	}
	names := map[spdy.SettingID]string{spdy.SettingMaxConcurrentStreams: "max_concurrent_streams", spdy.SettingInitialWindowSize: "initial_window_size"}
	heard := map[string]uint32{}
	for id, value := range c.session.Heard() {
		heard[names[id]] = value
	}
	return exchange.StreamUse{Told: told, Heard: heard, DataFrames: c.turns.DataFrames, Switches: c.turns.Switches, Refused: c.refused}
}

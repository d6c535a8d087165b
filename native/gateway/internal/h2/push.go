package h2

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/flood"
)

// mayPush is what the server is told of it.
func (c *Client) mayPush() uint32 {
	if c.settings.TakePush != nil {
		return 1
	}
	return 0
}

// promise takes a PUSH_PROMISE. Its head has to fit into the frame: x/net's framer reads no continuation of it.
func (c *Client) promise(f *http2.PushPromiseFrame) error {
	if c.settings.TakePush == nil {
		return broken(http2.ErrCodeProtocol, "PUSH_PROMISE, which was switched off")
	}
	if !f.HeadersEnded() {
		return broken(http2.ErrCodeEnhanceYourCalm, "a PUSH_PROMISE of more than one frame")
	}
	// Of every promise, also of those that nobody wants: the compression goes over them all.
	fields, err := c.promisedFields(f.HeaderBlockFragment())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.PromiseID%2 == 1 || f.PromiseID <= c.promised {
		return broken(http2.ErrCodeProtocol, "PUSH_PROMISE of stream %d after stream %d", f.PromiseID, c.promised)
	}
	if f.StreamID%2 == 0 {
		return broken(http2.ErrCodeProtocol, "PUSH_PROMISE for stream %d, which is not ours", f.StreamID)
	}
	if err := c.mustHaveBeen(f.StreamID, "PUSH_PROMISE"); err != nil {
		return err
	}
	c.promised = f.PromiseID
	h, err := parsePromise(fields)
	if err != nil || c.draining {
		return c.refusePush(f.PromiseID, http2.ErrCodeProtocol)
	}
	return c.open(f, h)
}

// open makes a stream of a promise that is wanted. With the lock.
func (c *Client) open(f *http2.PushPromiseFrame, h *head) error {
	k := &call{request: &exchange.Request{Method: h.method}, noted: true, unhook: func() bool { return true }}
	promise := exchange.Promise{
		Stream: f.PromiseID, Associated: f.StreamID, Method: h.method, Scheme: h.scheme, Authority: h.authority, Path: h.path, Fields: h.fields,
	}
	k.stream = c.newStream(f.PromiseID)
	k.stream.call, k.sendEnded = k, true
	c.pushes++
	if k.notes = c.settings.TakePush(promise, pushed{k}); k.notes == nil {
		c.forget(k.stream)
		return c.refusePush(f.PromiseID, http2.ErrCodeCancel)
	}
	return nil
}

// refusePush: with the lock.
func (c *Client) refusePush(id uint32, code http2.ErrCode) error {
	before := len(c.out)
	c.framer.WriteRSTStream(id, code)
	c.sendReply(before)
	return c.floods.Count(flood.Refused)
}

// promisedFields decodes a promise's head, as the framer decodes those of HEADERS.
func (c *Client) promisedFields(block []byte) ([]exchange.Field, error) {
	var fields []exchange.Field
	size := 0
	decoder := c.framer.ReadMetaHeaders
	decoder.SetEmitEnabled(true)
	decoder.SetMaxStringLength(mostHeaderBytes)
	decoder.SetEmitFunc(func(field hpack.HeaderField) {
		if size += int(field.Size()); size <= mostHeaderBytes {
			fields = append(fields, exchange.Field{Name: field.Name, Value: field.Value})
		}
	})
	defer decoder.SetEmitFunc(func(hpack.HeaderField) {})
	_, err := decoder.Write(block)
	if err == nil {
		err = decoder.Close()
	}
	if err != nil {
		return nil, broken(http2.ErrCodeCompression, "a PUSH_PROMISE that cannot be decoded: %v", err)
	}
	if size > mostHeaderBytes {
		return nil, broken(http2.ErrCodeEnhanceYourCalm, "a PUSH_PROMISE of more than %d bytes", mostHeaderBytes)
	}
	return fields, nil
}

// parsePromise takes a promise's head apart, strictly: the framer has not looked at it.
func parsePromise(fields []exchange.Field) (*head, error) {
	seen, plain := map[string]bool{}, false
	for _, field := range fields {
		pseudo := strings.HasPrefix(field.Name, ":")
		switch {
		case pseudo && (plain || seen[field.Name]):
			return nil, fmt.Errorf("%q is out of place", field.Name)
		case pseudo:
			seen[field.Name] = true
		case field.Name != strings.ToLower(field.Name) || !httpguts.ValidHeaderFieldName(field.Name):
			return nil, fmt.Errorf("%q is no name of a field", field.Name)
		}
		if !httpguts.ValidHeaderFieldValue(field.Value) {
			return nil, errors.New("a value that cannot be")
		}
		plain = plain || !pseudo
	}
	h, err := parseHead(fields)
	if err == nil {
		err = h.checkRequest()
	}
	if err == nil && h.authority == "" {
		err = errors.New("a promise without :authority")
	}
	return h, err
}

// pushed is a call that the server began.
type pushed struct{ call *call }

// Wait implements exchange.Pushed.
func (p pushed) Wait(ctx context.Context) (*exchange.Response, error) {
	p.call.core.mu.Lock()
	p.call.unhook = context.AfterFunc(ctx, p.call.cancel)
	p.call.core.mu.Unlock()
	return p.call.wait()
}

// StreamUse implements exchange.Multiplexer.
func (c *Client) StreamUse() exchange.StreamUse {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := map[string]uint32{
		"initial_window_size": uint32(c.settings.StreamWindow), "connection_window": uint32(c.settings.SessionWindow), "enable_push": c.mayPush(),
	}
	heard := make(map[string]uint32, len(c.heard))
	for name, value := range c.heard {
		heard[name] = value
	}
	return exchange.StreamUse{
		Told: told, Acknowledged: c.acknowledged, Heard: heard, DataFrames: c.turns.DataFrames, Switches: c.turns.Switches,
	}
}

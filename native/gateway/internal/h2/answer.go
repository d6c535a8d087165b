package h2

import (
	"errors"
	"fmt"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/flood"
)

// headers takes a response's head, one before it, or its trailers.
func (c *Client) headers(id uint32, block *headerBlock) error {
	c.mu.Lock()
	s := c.streams[id]
	if s == nil {
		defer c.mu.Unlock()
		return errors.Join(c.mustHaveBeen(id, "HEADERS"), c.floods.Count(flood.Empty))
	}
	k := s.call
	if s.recvEnded {
		c.mu.Unlock()
		return http2.StreamError{StreamID: id, Code: http2.ErrCodeStreamClosed}
	}
	c.mu.Unlock()
	if s.headed {
		return k.takeTrailers(block)
	}
	return k.takeHead(block)
}

func (k *call) takeTrailers(block *headerBlock) error {
	if err := checkFields(block.fields); err != nil || !block.end || block.tooLarge {
		return k.malformed(errors.Join(errors.New("trailers that cannot be"), err))
	}
	k.core.mu.Lock()
	k.endReceiving(block.fields)
	k.core.mu.Unlock()
	return nil
}

func (k *call) takeHead(block *headerBlock) error {
	h, err := parseHead(block.fields)
	if err != nil {
		return k.malformed(err)
	}
	status, err := h.checkResponse()
	switch {
	case err != nil:
		return k.malformed(err)
	case block.tooLarge:
		return k.malformed(fmt.Errorf("a head of more than %d bytes", mostHeaderBytes))
	case status < 200 && block.end:
		return k.malformed(errors.New("an interim response that ends the stream"))
	case status < 200:
		if k.interim++; k.interim > exchange.MostInterim {
			return k.malformed(exchange.ErrTooManyInterim)
		}
		if k.request.Informed != nil {
			k.request.Informed(status, h.fields)
		}
		return nil
	}
	k.core.mu.Lock()
	k.noteSent()
	k.notes.FirstByte(block.bytes, block.wire)
	k.status, k.fields, k.headed = status, h.fields, true
	if block.end {
		k.endReceiving(nil)
	}
	k.changed.Broadcast()
	k.core.mu.Unlock()
	return nil
}

// malformed ends one exchange, and leaves the connection.
func (k *call) malformed(err error) error {
	k.core.mu.Lock()
	defer k.core.mu.Unlock()
	k.reset(http2.ErrCodeProtocol, fmt.Errorf("the server's answer is malformed: %w", err))
	return nil
}

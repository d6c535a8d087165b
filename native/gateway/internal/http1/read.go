package http1

import (
	"fmt"
	"io"
	"net/http"
	"slices"

	"lanelab/gateway/internal/exchange"
)

// readLoop answers the requests in their order.
func (c *Conn) readLoop() {
	for {
		// What comes while nothing is asked ends the connection too: this is how a server closes an idle one.
		if _, err := c.reader.Peek(1); err != nil {
			c.end(receiving(err))
			return
		}
		x := c.first()
		if x == nil {
			c.end(c.unasked())
			return
		}
		if err := c.answer(x); err != nil {
			c.end(receiving(err))
			return
		}
	}
}

func receiving(err error) error {
	if err == io.EOF || err == errClosed {
		return err
	}
	return fmt.Errorf("cannot receive: %w", err)
}

// first is the oldest unanswered request, which has an answer now.
func (c *Conn) first() *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 || !c.waiting[0].sent {
		return nil
	}
	c.waiting[0].begun = true
	c.waiting[0].noteSent()
	return c.waiting[0]
}

// answer reads one answer. An error ends the connection; io.EOF does in an orderly way.
func (c *Conn) answer(x *call) error {
	h, err := c.finalHead(x)
	if err != nil {
		return err
	}
	if err := h.frame(); err != nil {
		return err
	}
	from, lasts := h.body(x.request.Method, c.reader)
	kept := lasts && h.keepsConnection()
	lasts = kept && c.settings.Keepalive
	x.notes.FirstByte(h.bytes, h.bytes)
	b := &body{call: x, from: from}
	x.response = &exchange.Response{Status: h.status, Fields: h.endToEnd(), Body: b, Trailers: b.trailers, Ended: from == http.NoBody}
	c.mu.Lock()
	if !lasts {
		c.ending, c.said, x.response.Kept = true, true, exchange.ToBeClosed
	}
	if h.minor == 0 {
		x.response.Kept = exchange.OldVersion
	}
	abandoned := x.cancelled
	x.finish(nil)
	c.mu.Unlock()
	if from == http.NoBody {
		b.complete()
	} else if abandoned {
		b.Close()
	}
	if complete := <-x.bodyDone; !complete {
		return c.dropRest(x, b, lasts)
	}
	switch {
	case lasts && x.isWhole():
		return nil
	case kept && x.isWhole():
		return errClosed // the server would have kept it
	}
	return io.EOF
}

func (x *call) isWhole() bool {
	x.conn.mu.Lock()
	defer x.conn.mu.Unlock()
	return x.whole
}

// finalHead reads the heads up to the final one.
func (c *Conn) finalHead(x *call) (*head, error) {
	for range exchange.MostInterim {
		h, err := readHead(c.reader)
		switch {
		case err != nil:
			return nil, noEOF(err)
		case h.status == http.StatusSwitchingProtocols:
			return nil, fmt.Errorf("the server switched protocols, which nobody had asked for")
		case h.status >= 200:
			return h, nil
		}
		if h.status == http.StatusContinue {
			c.mu.Lock()
			if !x.proceeded {
				x.proceeded = true
				close(x.proceed)
			}
			c.mu.Unlock()
		}
		if x.request.Informed != nil {
			x.request.Informed(h.status, h.endToEnd())
		}
	}
	return nil, exchange.ErrTooManyInterim
}

// dropRest deals with an answer that nobody wants any more. It is read to its end only where others wait behind it: else ending the connection
// is the one way to tell the server.
func (c *Conn) dropRest(x *call, b *body, lasts bool) error {
	if b.broken != nil {
		return b.broken
	}
	c.mu.Lock()
	x.cancelled = true
	unwanted := c.endIfUnwanted()
	c.mu.Unlock()
	if !lasts || unwanted {
		return errClosed
	}
	if err := b.drop(); err != nil {
		return err
	}
	if !x.isWhole() {
		return io.EOF
	}
	return nil
}

// leave takes an answered request out of those that wait.
func (c *Conn) leave(x *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !x.whole {
		c.ending = true
	}
	c.remove(x)
	c.endIfUnwanted()
	if c.reader.Buffered() > 0 && !slices.ContainsFunc(c.waiting, func(other *call) bool { return other.sent }) {
		c.endLocked(c.unasked()) // now: the next request would take it for its answer
	}
}

// A TrailingError ends a connection on which the server sent what belongs to no answer, as a body that is longer than its Content-Length.
type TrailingError struct{ Begins string }

func (e *TrailingError) Error() string {
	return fmt.Sprintf("the server sent what belongs to no answer: %q", e.Begins)
}

// unasked is what it means that the server says something which nobody has asked for. 408 is how some close a connection that is idle.
func (c *Conn) unasked() error {
	said, _ := c.reader.Peek(min(c.reader.Buffered(), 100))
	if status := statusLine.FindSubmatch(said); status != nil && string(status[2]) == "408" {
		return io.EOF
	}
	return &TrailingError{string(said)}
}

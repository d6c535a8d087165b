package http1

import (
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"time"

	"lanelab/gateway/internal/exchange"
)

// continueTime is how long a request's body waits for a server that does not know `Expect: 100-continue`.
const continueTime = time.Second

var bodyBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

func (c *Conn) writeLoop() {
	for {
		burst := c.nextBurst()
		if burst == nil {
			return
		}
		if err := c.writeBurst(burst); err != nil {
			c.stopWriting(err)
			return
		}
	}
}

// nextBurst waits for requests and takes all there are; up to the first that has a body. nil: the connection has ended.
func (c *Conn) nextBurst() []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.unsent) == 0 && !c.ended {
		c.wake.Wait()
	}
	if c.ended {
		return nil
	}
	count := 1
	for count < len(c.unsent) && c.unsent[count-1].request.Body == nil {
		count++
	}
	burst := c.unsent[:count:count]
	c.unsent = c.unsent[count:]
	return burst
}

func (c *Conn) writeBurst(burst []*call) error {
	heads := make([]byte, 0, 1024*len(burst))
	sizes := make([]int, len(burst))
	for i, x := range burst {
		before := len(heads)
		heads = appendHead(heads, x.request)
		sizes[i] = len(heads) - before
	}
	if !c.willSend(burst, sizes) {
		return nil
	}
	if _, err := c.conn.Write(heads); err != nil {
		return fmt.Errorf("cannot send: %w", err)
	}
	c.mu.Lock()
	for _, x := range burst {
		x.noteSent()
	}
	c.mu.Unlock()
	last := burst[len(burst)-1]
	if last.request.Body != nil {
		return last.writeBody()
	}
	return nil
}

// willSend gets everything ready that is to be known when the answers come: that may be before Write returns. false: the connection has ended, and
// who waits was told that nothing was sent.
func (c *Conn) willSend(burst []*call, sizes []int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	for i, x := range burst {
		x.sent, x.size = true, sizes[i]
		x.whole = x.request.Body == nil
		for place, other := range c.waiting {
			if other == x {
				x.place = place + 1
			}
		}
	}
	return true
}

// noteSent tells that a head was sent, once: when the kernel has it, or when the answer or the end comes before we hear of that. With the lock.
func (x *call) noteSent() {
	if !x.noted {
		x.noted = true
		x.notes.Sent(0, x.size, x.size, x.place)
	}
}

// nothingMore: what is written next is the request's end.
func (x *call) nothingMore() {
	x.conn.mu.Lock()
	defer x.conn.mu.Unlock()
	x.whole = true
}

// stopWriting: what the server has already said may still be read; it closes then.
func (c *Conn) stopWriting(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	var source *sourceError
	if errors.As(err, &source) {
		c.endLocked(err) // the server would wait for the rest
		return
	}
	c.conn.SetReadDeadline(time.Now().Add(continueTime))
}

// A sourceError: the browser's body broke off, so the request cannot be completed.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return fmt.Sprintf("the request's body broke off: %v", e.err) }
func (e *sourceError) Unwrap() error { return e.err }

func (x *call) writeBody() error {
	if expectsContinue(x.request) && !x.mayProceed() {
		return nil
	}
	buffer := bodyBuffers.Get().(*[32 << 10]byte)
	defer bodyBuffers.Put(buffer)
	left := x.request.BodySize
	for {
		n, err := x.request.Body.Read(buffer[:])
		if left >= 0 && int64(n) > left {
			return &sourceError{errors.New("it is longer than its content-length")}
		}
		if err == io.EOF || int64(n) == left {
			x.nothingMore()
		}
		if writeErr := x.writePart(buffer[:n], err == io.EOF); writeErr != nil {
			return fmt.Errorf("cannot send the body: %w", writeErr)
		}
		if left >= 0 {
			left -= int64(n)
		}
		switch {
		case err == io.EOF && left > 0:
			return &sourceError{io.ErrUnexpectedEOF}
		case err == io.EOF:
			return nil
		case err != nil:
			return &sourceError{err}
		}
	}
}

// mayProceed waits for 100 (Continue). false: a final answer came first.
func (x *call) mayProceed() bool {
	timer := time.NewTimer(continueTime)
	defer timer.Stop()
	select {
	case <-x.proceed:
	case <-timer.C:
	}
	x.conn.mu.Lock()
	defer x.conn.mu.Unlock()
	if x.finished {
		x.conn.ending = true // the body that was announced does not come: nothing else can be sent here
		return false
	}
	return true
}

func (x *call) writePart(part []byte, last bool) error {
	if x.request.BodySize >= 0 {
		if len(part) == 0 {
			return nil
		}
		_, err := x.conn.conn.Write(part)
		return err
	}
	var framed []byte
	if len(part) > 0 {
		framed = strconv.AppendInt(make([]byte, 0, len(part)+16), int64(len(part)), 16)
		framed = append(append(append(framed, "\r\n"...), part...), "\r\n"...)
	}
	if last {
		framed = append(framed, "0\r\n\r\n"...)
	}
	if len(framed) == 0 {
		return nil
	}
	_, err := x.conn.conn.Write(framed)
	return err
}

func expectsContinue(request *exchange.Request) bool {
	for _, field := range request.Fields {
		if field.Name == "expect" && strings.EqualFold(field.Value, "100-continue") {
			return true
		}
	}
	return false
}

// appendHead writes the request line and the fields as Chromium does: Host, Connection, then the rest in its order. Chromium always asks to keep the
// connection, so we do even where it will carry nothing else: what a server that does not keep it gets must not differ.
func appendHead(to []byte, request *exchange.Request) []byte {
	to = append(to, request.Method...)
	to = append(to, ' ')
	to = append(to, request.Path...)
	to = append(to, " HTTP/1.1\r\nHost: "...)
	to = append(to, request.Authority...)
	to = append(to, "\r\nConnection: keep-alive\r\n"...)
	to = append(to, bodyField(request)...)
	for _, field := range exchange.JoinCookies(request.Fields) {
		if ours[field.Name] {
			continue
		}
		to = append(to, Name(field.Name)...)
		to = append(to, ": "...)
		to = append(to, field.Value...)
		to = append(to, "\r\n"...)
	}
	return append(to, "\r\n"...)
}

// ours are fields that this package writes itself, or that Chromium does not send in HTTP/1.1.
var ours = map[string]bool{
	"host": true, "connection": true, "keep-alive": true, "proxy-connection": true, "transfer-encoding": true, "upgrade": true, "te": true,
	"content-length": true, "priority": true,
}

func bodyField(request *exchange.Request) string {
	switch {
	case request.Body != nil && request.BodySize < 0:
		return "Transfer-Encoding: chunked\r\n"
	case request.Body != nil:
		return "Content-Length: " + strconv.FormatInt(request.BodySize, 10) + "\r\n"
	case request.Method == "POST" || request.Method == "PUT" || request.Method == "PATCH":
		return "Content-Length: 0\r\n"
	}
	return ""
}

// Name writes a field's name as Chromium does in HTTP/1.1: each word begins with a capital, but for client hints.
func Name(name string) string {
	switch {
	case strings.HasPrefix(name, "sec-ch-"):
		return name
	case name == "dnt":
		return "DNT"
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

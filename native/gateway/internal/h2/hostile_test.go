package h2

import (
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/testkit"
)

func TestServersThatBreakTheProtocol(t *testing.T) {
	huge := strings.Repeat("x", 60_000)
	for name, act := range map[string]struct {
		do    func(*raw)
		whole bool // the connection ends, not only the stream
	}{
		"DATA before the head":   {func(r *raw) { r.WriteData(1, false, []byte("x")) }, false},
		"no status":              {func(r *raw) { r.head(1, true, "x", "y") }, false},
		"a status of letters":    {func(r *raw) { r.head(1, true, ":status", "2x0") }, false},
		"a line break":           {func(r *raw) { r.head(1, true, ":status", "200", "x", "a\r\nb: c") }, false},
		"connection":             {func(r *raw) { r.head(1, true, ":status", "200", "connection", "close") }, false},
		"capitals":               {func(r *raw) { r.head(1, true, ":status", "200", "X-Y", "z") }, false},
		"pseudo at the end":      {func(r *raw) { r.head(1, true, "x", "y", ":status", "200") }, false},
		"an interim that ends":   {func(r *raw) { r.head(1, true, ":status", "100") }, false},
		"fields without measure": {func(r *raw) { r.large(1, huge) }, false},
		"trailers with pseudo":   {func(r *raw) { r.head(1, false, ":status", "200"); r.head(1, true, ":status", "200") }, false},
		"a stream of its own":    {func(r *raw) { r.head(2, true, ":status", "200") }, true},
		"a stream nobody began":  {func(r *raw) { r.WriteData(9, true, nil) }, true},
		"push": {func(r *raw) {
			r.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: r.fields(":method", "GET"), EndHeaders: true})
		}, true},
		"no header compression": {func(r *raw) {
			r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true})
		}, true},
		"a window too large": {func(r *raw) { r.WriteWindowUpdate(0, 1<<31-1) }, true},
		"a head without end": {func(r *raw) {
			r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: r.fields(":status", "200")})
			for range 100 {
				if r.WriteContinuation(1, false, make([]byte, 16000)) != nil {
					return
				}
			}
		}, true},
		"empty continuations": {func(r *raw) {
			r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: r.fields(":status", "200")})
			for range 100_000 {
				if r.WriteContinuation(1, false, nil) != nil {
					return
				}
			}
		}, true},
		"more than the window": {func(r *raw) {
			r.head(1, false, ":status", "200")
			for range 1000 {
				if r.WriteData(1, false, make([]byte, 16384)) != nil {
					return
				}
			}
		}, false},
		"not HTTP/2": {func(r *raw) { io.WriteString(r.conn, strings.Repeat("HTTP/1.1 400 Bad Request\r\n\r\n", 10)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, server := rawServer(t, ClientSettings{})
			go io.Copy(io.Discard, server.conn) // what we say about it must not block the server
			wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
			act.do(server)
			response, err := wait()
			if err == nil { // it shows in the body, which nobody reads at first
				if !act.whole {
					testkit.Eventually(t, "the stream ends", func() bool {
						c.mu.Lock()
						defer c.mu.Unlock()
						return c.streams[1] == nil
					})
				} else {
					<-c.Done()
				}
				_, err = io.ReadAll(response.Body)
			}
			if err == nil && name != "an interim that ends" {
				t.Error("it was taken")
			}
			if act.whole {
				<-c.Done()
				if c.Err() == nil {
					t.Error("the connection ended for no reason")
				}
			} else if c.Room() == 0 {
				t.Errorf("the whole connection ended: %v", c.Err())
			}
		})
	}
}

// large sends a head whose fields are more than is taken, in CONTINUATION frames.
func (r *raw) large(id uint32, value string) {
	block := r.fields(":status", "200", "a", value, "b", value, "c", value, "d", value, "e", value)
	first := true
	for len(block) > 0 {
		part := block[:min(len(block), 16000)]
		block = block[len(part):]
		if first {
			r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: part, EndHeaders: len(block) == 0})
		} else {
			r.WriteContinuation(id, len(block) == 0, part)
		}
		first = false
	}
}

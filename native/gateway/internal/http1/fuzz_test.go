package http1

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		ok("hello"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nA: b\r\n\r\n" + ok("x"), "HTTP/1.0 304 x\n\n",
		"HTTP/1.1 100 \r\n\r\nHTTP/1.1 204 \r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhelloHTTP",
	} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, answers []byte, pipelined bool) {
		c := NewClient(&deaf{reader: bytes.NewReader(answers), written: make(chan struct{})}, Settings{Depth: 4, Keepalive: true})
		defer c.Close()
		methods := []string{"GET", "HEAD", "GET"}
		if !pipelined {
			methods = methods[:1]
		}
		var waits []func() (*exchange.Response, error)
		for _, method := range methods {
			request := get("/")
			request.Method = method
			waits = append(waits, c.Start(t.Context(), request, testkit.NewNotes(t)))
		}
		for _, wait := range waits {
			response, err := wait()
			if err != nil {
				continue
			}
			n, _ := io.Copy(io.Discard, response.Body)
			if n > int64(len(answers)) {
				t.Errorf("%d bytes of %d", n, len(answers))
			}
			response.Body.Close()
		}
	})
}

// deaf is a connection whose answers are all there as soon as something was written.
type deaf struct {
	net.Conn
	reader  *bytes.Reader
	once    sync.Once
	written chan struct{}
}

func (d *deaf) Read(p []byte) (int, error) {
	<-d.written
	return d.reader.Read(p)
}

func (d *deaf) Write(p []byte) (int, error) { return len(p), d.Close() }

func (d *deaf) Close() error {
	d.once.Do(func() { close(d.written) })
	return nil
}

func (d *deaf) SetReadDeadline(time.Time) error  { return nil }
func (d *deaf) SetWriteDeadline(time.Time) error { return nil }

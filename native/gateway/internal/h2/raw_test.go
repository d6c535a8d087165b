package h2

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// A raw is the other end of a connection, frame by frame.
type raw struct {
	*http2.Framer
	t       *testing.T
	conn    net.Conn
	encoder *hpack.Encoder
	block   bytes.Buffer
}

func newRaw(t *testing.T, conn net.Conn) *raw {
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	r := &raw{Framer: http2.NewFramer(conn, conn), t: t, conn: conn}
	r.ReadMetaHeaders = hpack.NewDecoder(65536, nil)
	r.encoder = hpack.NewEncoder(&r.block)
	return r
}

// rawServer gives a client of ours and the server that it speaks to.
func rawServer(t *testing.T, settings ClientSettings, ours ...http2.Setting) (*Client, *raw) {
	t.Helper()
	near, far := testkit.Pair(t)
	c := NewClient(near, settings)
	t.Cleanup(func() { c.Close() })
	r := newRaw(t, far)
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(far, preface); err != nil || string(preface) != http2.ClientPreface {
		t.Fatalf("%q, %v", preface, err)
	}
	r.WriteSettings(ours...)
	return c, r
}

// rawClient gives a server of ours and the client that speaks to it.
func rawClient(t *testing.T, handle func(*Exchange)) (*Server, *raw) {
	t.Helper()
	near, far := testkit.Pair(t)
	return serveRaw(t, near, far, handle)
}

func serveRaw(t *testing.T, near, far net.Conn, handle func(*Exchange)) (*Server, *raw) {
	t.Helper()
	s := Serve(near, handle)
	t.Cleanup(s.Close)
	r := newRaw(t, far)
	io.WriteString(far, http2.ClientPreface)
	r.WriteSettings()
	return s, r
}

// frame gives the next frame of a kind. Others are passed over.
func frame[F http2.Frame](r *raw) F {
	r.t.Helper()
	for {
		f, err := r.ReadFrame()
		if err != nil {
			var none F
			r.t.Errorf("instead of a %T: %v", none, err)
			r.t.FailNow()
		}
		if found, ok := f.(F); ok {
			return found
		}
	}
}

// fields encodes a head.
func (r *raw) fields(pairs ...string) []byte {
	r.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		r.encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return bytes.Clone(r.block.Bytes())
}

func (r *raw) head(id uint32, end bool, pairs ...string) {
	r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.fields(pairs...), EndHeaders: true, EndStream: end})
}

func (r *raw) request(id uint32, end bool, more ...string) {
	r.head(id, end, append([]string{":method", "GET", ":authority", "a.example", ":scheme", "https", ":path", "/"}, more...)...)
}

// goneAway reads until the other side says good-bye, and gives its reason.
func (r *raw) goneAway() http2.ErrCode {
	r.t.Helper()
	return frame[*http2.GoAwayFrame](r).ErrCode
}

func get(path string) *exchange.Request {
	return &exchange.Request{Method: "GET", Scheme: "http", Authority: "a.example", Path: path, Priority: exchange.DefaultPriority}
}

type outcome struct {
	response *exchange.Response
	body     string
	err      error
}

func ask(ctx context.Context, t *testing.T, c *Client, request *exchange.Request) <-chan outcome {
	done := make(chan outcome, 1)
	wait := c.Start(ctx, request, testkit.NewNotes(t))
	go func() {
		response, err := wait()
		if err != nil {
			done <- outcome{err: err}
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		done <- outcome{response, string(body), err}
	}()
	return done
}

func notProcessed(err error) bool { return errors.Is(err, exchange.ErrNotProcessed) }

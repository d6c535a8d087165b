package spdyconn

import (
	"context"
	"io"
	"testing"
	"time"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

// patience is how long a test waits for what must happen: long, for only a failing test waits it out.
const patience = 60 * time.Second

// quiet is a Notes that notes nothing.
type quiet struct{}

func (quiet) Sent(uint32, int, int, int) {}
func (quiet) FirstByte(int, int)         {}
func (quiet) LastByte()                  {}

// pair is a client connected to a server over loopback.
type pair struct {
	client *Client
	conn   *ServerConn
}

func connect(t testing.TB, server *Server, settings Settings) pair {
	t.Helper()
	wire, accepted := testkit.Pair(t)
	conn := server.Start(accepted)
	client, err := NewClient(wire, server.Version, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		<-client.Done()
		conn.Close()
		<-conn.Done()
		conn.handlers.Wait()
	})
	return pair{client, conn}
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func get(path string) *exchange.Request {
	return &exchange.Request{Method: "GET", Scheme: "http", Authority: "a.example", Path: path, BodySize: 0, Priority: exchange.Priority{Urgency: 3}}
}

func eachVersion(t *testing.T, run func(*testing.T, spdy.Version)) {
	for _, version := range spdy.Versions {
		t.Run(version.String()[len("spdy/"):], func(t *testing.T) { run(t, version) })
	}
}

func readAll(t testing.TB, response *exchange.Response) string {
	t.Helper()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading the body: %v after %d bytes", err, len(text))
	}
	return string(text)
}

func TestExchange(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		server := &Server{Version: version, Handler: func(st *ServerStream) {
			_ = st.Reply(201, false, exchange.Field{Name: "x-path", Value: st.Head.Method + " " + st.Head.Scheme + "://" + st.Head.Host + st.Head.Path})
			_, _ = st.Write([]byte("hello"))
		}}
		p := connect(t, server, Settings{})
		response, err := p.client.RoundTrip(deadline(t), get("/x?y"), quiet{})
		if err != nil {
			t.Fatal(err)
		}
		if text := readAll(t, response); response.Status != 201 || text != "hello" {
			t.Errorf("got %d %q", response.Status, text)
		}
		want := exchange.Field{Name: "x-path", Value: "GET http://a.example/x?y"}
		if len(response.Fields) != 1 || response.Fields[0] != want {
			t.Errorf("got fields %q", response.Fields)
		}
	})
}

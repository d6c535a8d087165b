package relay

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/pool"
	"lanelab/gateway/internal/testkit"
	"lanelab/gateway/internal/wirelog"
)

// An asker is a browser with one GET.
type asker struct {
	ctx      context.Context
	status   atomic.Int64
	finished chan struct{}
}

func (a *asker) Context() context.Context { return a.ctx }
func (a *asker) Head() (method, authority, path string, fields []exchange.Field) {
	return "GET", "a.example", "/", nil
}
func (a *asker) Body() (io.Reader, int64)           { return nil, 0 }
func (a *asker) OnPriority(func(exchange.Priority)) {}
func (a *asker) Inform(int, []exchange.Field)       {}
func (a *asker) Write(p []byte) (int, error)        { return len(p), nil }
func (a *asker) End([]exchange.Field) error         { return nil }
func (a *asker) Abort(error)                        {}
func (a *asker) Finish()                            { close(a.finished) }
func (a *asker) Respond(status int, _ []exchange.Field, _ bool) error {
	a.status.Store(int64(status))
	return nil
}

// site gives a relay to an origin that answers each request when the test lets it, and the relay's log.
func site(t *testing.T) (r *Relay, asked <-chan bool, answer chan<- bool, log *wirelog.Log, path string) {
	t.Helper()
	listener := testkit.Listen(t)
	came, let := make(chan bool, 10), make(chan bool)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(t, conn, came, let)
		}
	}()
	path = filepath.Join(t.TempDir(), "log")
	log, err := wirelog.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	wire := config.Wire{
		Protocol: config.HTTP1, Port: testkit.Port(listener.Addr()), TLS: "off", Keepalive: true, Pipelining: 1, ConnectionsPerHost: 6,
	}
	names := dial.NewNames(&config.DNS{Mode: config.Instant, Hosts: config.Hosts{"a.example": "127.0.0.1"}}, log)
	connections := pool.NewPools(&config.Config{Wire: wire}, names, log, nil)
	t.Cleanup(func() { connections.Close(); log.Close() })
	return New(connections, names, log), came, let, log, path
}

func serve(t *testing.T, conn net.Conn, came chan<- bool, let <-chan bool) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if lines.Text() != "" {
			continue
		}
		came <- true
		select {
		case <-let:
		case <-t.Context().Done():
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
}

func begin(t *testing.T, r *Relay) *asker {
	a := &asker{ctx: t.Context(), finished: make(chan struct{})}
	r.Serve(a)
	return a
}

func requests(t *testing.T, path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), `"event":"request"`)
}

func TestARequestIsWrittenBeforeItCountsAsOver(t *testing.T) {
	r, asked, answer, _, path := site(t)
	a := begin(t, r)
	<-asked
	r.mu.Lock() // as Close does, when it looks for what is under way
	answer <- true
	testkit.Eventually(t, "the request is in the log", func() bool { return requests(t, path) == 1 })
	r.mu.Unlock()
	<-a.finished
}

func TestWhatComesTooLateForTheLogIsRefused(t *testing.T) {
	r, asked, _, log, path := site(t)
	first := begin(t, r)
	<-asked
	r.Close()
	late := begin(t, r)
	<-late.finished
	if late.status.Load() != 502 || first.status.Load() != 0 {
		t.Errorf("%d, %d", late.status.Load(), first.status.Load())
	}
	if log.Close(); requests(t, path) != 1 {
		t.Errorf("%d requests in the log", requests(t, path))
	}
}

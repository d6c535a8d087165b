package lab

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"lanelab/gateway/internal/testkit"
)

// One worker is a server that answers its first connection alone. To others it does not speak before they are released.
type oneWorker struct {
	identity *testkit.Identity
	port     int
	answered atomic.Int64 // on the first connection
	release  chan struct{}
}

func newOneWorker(t *testing.T) *oneWorker {
	listener := testkit.Listen(t)
	s := &oneWorker{identity: testkit.NewIdentity(t, host), port: testkit.Port(listener.Addr()), release: make(chan struct{})}
	go func() {
		for first := true; ; first = false {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn, first)
		}
	}()
	return s
}

func (s *oneWorker) serve(conn net.Conn, first bool) {
	defer conn.Close()
	if !first {
		<-s.release
	}
	secured := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{s.identity.TLS}, NextProtos: []string{http1}})
	buffer := make([]byte, 4096)
	for {
		if _, err := secured.Read(buffer); err != nil {
			return
		}
		if first {
			s.answered.Add(1)
		}
		if _, err := secured.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")); err != nil {
			return
		}
	}
}

// By itself a request goes over whichever connection is first ready, so one worker answers all. Where it takes a connection with TCP, one
// worker answers what came to the first connection, and the others wait for theirs.
func TestWhatARequestWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		forTCP bool
		whole  func(answered int64) bool
	}{
		"handshake": {false, func(answered int64) bool { return answered == 6 }},
		"tcp":       {true, func(answered int64) bool { return answered >= 1 && answered < 6 }},
	} {
		t.Run(name, func(t *testing.T) {
			server := newOneWorker(t)
			w := newWorld(t, http1, "1.3", func(s *Settings) {
				s.WaitForTCP, s.Port, s.Authority = c.forTCP, server.port, server.identity.Certificate
			})
			var all sync.WaitGroup
			for range 6 {
				all.Go(func() {
					if text, _, err := w.ask(t.Context(), "GET", "/a", ""); err != nil || text != "ok" {
						t.Errorf("%q, %v", text, err)
					}
				})
			}
			testkit.Eventually(t, "the worker answers what it can", func() bool { return c.whole(server.answered.Load()) })
			close(server.release)
			all.Wait()
			if answered := server.answered.Load(); !c.whole(answered) {
				t.Errorf("the first connection carried %d of 6 requests", answered)
			}
			if report := w.report(); report.Protocol != http1 || report.TLS != "1.3" || report.Requests.Ended != 6 || report.Parts[partTLS].Count == 0 {
				t.Errorf("%+v", report)
			}
		})
	}
}

func TestInClearThereIsNothingElseToWaitFor(t *testing.T) {
	w := newWorld(t, http1, "off", func(s *Settings) { s.WaitForTCP = true })
	w.mustAsk("/a")
	if report := w.report(); report.Protocol != http1 || report.TLS != "off" {
		t.Errorf("it spoke %q in TLS %q", report.Protocol, report.TLS)
	}
}

func TestAHandshakeThatBeginsLateAndFails(t *testing.T) {
	other := testkit.NewIdentity(t, host)
	w := newWorld(t, http1, "1.3", func(s *Settings) { s.WaitForTCP, s.Authority = true, other.Certificate })
	if _, _, err := w.ask(t.Context(), "GET", "/", ""); err == nil {
		t.Error("a certificate of another authority is trusted")
	}
	if report := w.report(); report.Errors[kindTLS].Count != 1 {
		t.Errorf("%+v", report.Errors)
	}
}

package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
	"lanelab/gateway/internal/testkit"
)

const host = "a.example"

// A site is a server with bodies by path, that counts connections and the most requests at once.
type site struct {
	port  int
	pin   string
	delay time.Duration

	mu          sync.Mutex
	connections int
	now, most   int
}

func (s *site) counts() (connections, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connections, s.most
}

func body(path string) string { return strings.Repeat(path+" ", 3000) }

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(s.delay)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	switch r.URL.Path {
	case "/absent":
		http.NotFound(w, r)
	case "/short":
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "less than that")
	case "/never":
		<-r.Context().Done()
	default:
		fmt.Fprint(w, body(r.URL.Path))
	}
}

func serve(t *testing.T, protocol string, version uint16) *site {
	t.Helper()
	s := &site{}
	listener := testkit.Listen(t)
	s.port = testkit.Port(listener.Addr())
	server := &http.Server{
		Handler: http.HandlerFunc(s.serve), Protocols: new(http.Protocols),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.mu.Lock()
				s.connections++
				s.mu.Unlock()
			}
		},
	}
	server.Protocols.SetHTTP1(protocol == "http/1.1")
	server.Protocols.SetHTTP2(protocol == "h2" && version != 0)
	server.Protocols.SetUnencryptedHTTP2(protocol == "h2" && version == 0)
	identity := testkit.NewIdentity(t, host)
	s.pin = identity.Pin
	if version != 0 {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{identity.TLS}, MinVersion: tls.VersionTLS12, MaxVersion: version}
		go server.ServeTLS(listener, "", "")
	} else {
		go server.Serve(listener)
	}
	t.Cleanup(func() { server.Close() })
	return s
}

func serveSPDY(t *testing.T) *site {
	t.Helper()
	s := &site{pin: testkit.NewIdentity(t, host).Pin}
	listener := testkit.Listen(t)
	s.port = testkit.Port(listener.Addr())
	server := &spdyconn.Server{
		Version: spdy.V31,
		Handler: func(stream *spdyconn.ServerStream) {
			stream.Reply(200, false, exchange.Field{Name: "content-type", Value: "text/plain"})
			fmt.Fprint(stream, body(stream.Head.Path))
		},
		Accepted: func(*spdyconn.ServerConn) {
			s.mu.Lock()
			s.connections++
			s.mu.Unlock()
		},
	}
	go server.Listen(listener)
	return s
}

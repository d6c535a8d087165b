package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"lanelab/gateway/internal/testkit"
)

func TestCoalescing(t *testing.T) {
	for _, c := range []struct {
		coalescing, tls string
		connections     int
	}{{"origin", "1.3", 2}, {"address", "1.3", 1}, {"address", "off", 1}, {"origin", "off", 2}} {
		t.Run(c.coalescing+" "+c.tls, func(t *testing.T) {
			o := serveHTTP(t, "h2", map[string]uint16{"1.3": tls.VersionTLS13}[c.tls], site)
			w := begin(t, o.pin, o.port, settings{"protocol": "h2", "tls": c.tls, "coalescing": c.coalescing}, nil)
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() { w.get(url(names[i%2], "/10")) })
			}
			all.Wait()
			connections := w.events("connection")
			if len(connections) != c.connections {
				t.Errorf("%d connections", len(connections))
			}
			if c.connections == 1 && len(connections[0]["hosts"].([]any)) != 2 {
				t.Errorf("%v", connections[0])
			}
		})
	}
}

func TestACertificateThatDoesNotCoverIsNotShared(t *testing.T) {
	identity := testkit.NewIdentity(t, names[0])
	o := serveTLS(t, identity, tls.VersionTLS13, site)
	w := begin(t, identity.Pin, o.port, settings{"protocol": "h2", "tls": "1.3", "coalescing": "address"}, nil)
	w.get(url(names[0], "/10"))
	w.get(url(names[1], "/10"))
	if connections := w.events("connection"); len(connections) != 2 {
		t.Errorf("%v", connections)
	}
}

func TestAMisdirectedRequestGetsItsOwnConnection(t *testing.T) {
	o := serveHTTP(t, "h2", tls.VersionTLS13, func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.ServerName != strings.Split(r.Host, ":")[0] {
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	})
	w := begin(t, o.pin, o.port, settings{"protocol": "h2", "tls": "1.3", "coalescing": "address"}, nil)
	for _, host := range names {
		if response, _ := w.get(url(host, "/")); response.StatusCode != 200 {
			t.Errorf("%s: %d", host, response.StatusCode)
		}
	}
	if r := w.events("request")[1]; r.number("tries") != 2 || r.number("connection") != 2 {
		t.Errorf("%v", r)
	}
}

func serveTLS(t testing.TB, identity *testkit.Identity, version uint16, handler http.HandlerFunc) *origin {
	t.Helper()
	listener := testkit.Listen(t)
	server := &http.Server{Handler: handler, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{identity.TLS}, MinVersion: version, MaxVersion: version,
	}}
	go server.ServeTLS(listener, "", "")
	t.Cleanup(func() { server.Close() })
	return &origin{port: testkit.Port(listener.Addr()), pin: identity.Pin}
}

func TestTLSIsAsAsked(t *testing.T) {
	for _, version := range []string{"1.2", "1.3"} {
		for _, resumption := range []bool{true, false} {
			t.Run(fmt.Sprint(version, resumption), func(t *testing.T) {
				o := serveHTTP(t, "http/1.1", tls.VersionTLS12, site)
				w := begin(t, o.pin, o.port, settings{"tls": version, "tls_resumption": resumption, "keepalive": false, "connections_per_host": 1}, nil)
				for range 4 {
					w.get(url(names[0], "/10"))
				}
				resumed := 0
				for _, c := range w.events("connection") {
					if c["tls"] != "TLS "+version || c["alpn"] != "http/1.1" || c.number("secured_ms") < c.number("connected_ms") {
						t.Errorf("%v", c)
					}
					if c["tls_resumed"] == true {
						resumed++
					}
				}
				if (resumed > 0) != resumption {
					t.Errorf("%d connections resumed", resumed)
				}
				if keys, err := os.ReadFile(w.keys); err != nil || !strings.Contains(string(keys), "CLIENT_") {
					t.Errorf("keys: %q, %v", keys, err)
				}
			})
		}
	}
}

func TestWhatIsNotAsAskedFails(t *testing.T) {
	identity := testkit.NewIdentity(t, names...)
	for name, c := range map[string]struct {
		origin *origin
		pin    string
		wire   settings
		says   string
	}{
		"another key":     {serveTLS(t, identity, tls.VersionTLS13, site), testkit.NewIdentity(t, "x").Pin, settings{"tls": "1.3"}, identity.Pin},
		"another version": {serveTLS(t, identity, tls.VersionTLS12, site), identity.Pin, settings{"tls": "1.3"}, "TLS 1.3"},
		"no h2":           {serveHTTP1Only(t, identity), identity.Pin, settings{"tls": "1.3", "protocol": "h2"}, "h2"},
		"no SPDY":         {serveTLS(t, identity, tls.VersionTLS13, site), identity.Pin, settings{"tls": "1.3", "protocol": "spdy/3.1"}, "spdy/3.1"},
		"nobody":          {&origin{port: 1}, identity.Pin, nil, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, c.pin, c.origin.port, c.wire, nil)
			response, body := w.get(url(names[0], "/10"))
			if response.StatusCode != 502 || !strings.Contains(body, c.says) {
				t.Errorf("%d %q", response.StatusCode, body)
			}
			if r := w.events("request")[0]; !strings.Contains(fmt.Sprint(r["error"]), c.says) || r["sent_ms"] != nil {
				t.Errorf("%v", r)
			}
			for _, c := range w.events("connection") {
				if c["error"] == nil || c["ended_by"] != "error" || c.number("requests") != 0 {
					t.Errorf("%v", c)
				}
			}
		})
	}
}

func serveHTTP1Only(t testing.TB, identity *testkit.Identity) *origin {
	t.Helper()
	listener := testkit.Listen(t)
	secured := tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{identity.TLS}, NextProtos: []string{}})
	server := &http.Server{Handler: http.HandlerFunc(site)}
	go server.Serve(secured)
	t.Cleanup(func() { server.Close() })
	return &origin{port: testkit.Port(listener.Addr()), pin: identity.Pin}
}

func TestNamesThatAreNotOfTheSiteDoNotReachTheWire(t *testing.T) {
	o := serveHTTP(t, "http/1.1", 0, site)
	w := begin(t, o.pin, o.port, nil, nil)
	response, body := w.get(url("elsewhere.example", "/10"))
	if response.StatusCode != 421 || !strings.Contains(body, "elsewhere.example") {
		t.Errorf("%d %q", response.StatusCode, body)
	}
	if len(w.events("connection")) > 0 || len(w.events("request")) > 0 || o.connections() > 0 {
		t.Error("it reached the wire")
	}
}

func TestAServerThatGoesAwayWhileLoadedLosesNothing(t *testing.T) {
	for _, version := range []uint16{0, tls.VersionTLS13} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			o := serveHTTP(t, "h2", version, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/50" || r.URL.Path == "/150" { // so often that nothing is hit three times
					w.Header().Set("Connection", "close") // net/http sends GOAWAY for it
				}
				io.WriteString(w, r.URL.Path)
			})
			wire := settings{"protocol": "h2"}
			if version != 0 {
				wire["tls"] = "1.3"
			}
			w := begin(t, o.pin, o.port, wire, nil)
			w.getAll(200)
			w.getAll(1)
			if o.connections() < 2 {
				t.Error("it never went away")
			}
			for _, r := range w.events("request") {
				if r["error"] != nil {
					t.Errorf("%v", r)
				}
			}
		})
	}
}

func TestAConnectionBeginsWithTheHandshake(t *testing.T) {
	for protocol, count := range map[string]int{"http/1.1": 2, "h2": 1} {
		t.Run(protocol, func(t *testing.T) {
			o := rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) { io.Copy(io.Discard, reader) })
			w := begin(t, o.pin, o.port, settings{"protocol": protocol}, nil)
			conn, err := tls.Dial("tcp", w.gateway.front.Address().String(), &tls.Config{
				ServerName: names[0], InsecureSkipVerify: true, NextProtos: []string{"h2"},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			testkit.Eventually(t, "connections without a request", func() bool { return o.connections() == count })
			if connections := w.events("connection"); len(connections) != count || connections[0]["host"] != names[0] {
				t.Errorf("%v", connections)
			}
		})
	}
}

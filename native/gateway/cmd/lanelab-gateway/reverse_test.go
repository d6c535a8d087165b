package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
	"lanelab/gateway/internal/testkit"
)

// atOnce is more than a browser's limits let through on one connection.
const atOnce = 170

// reverse starts a gateway as a reverse proxy in front of a port, for clients in clear.
func reverse(t testing.TB, protocol string, port int, changed settings) *world {
	t.Helper()
	folder := t.TempDir()
	whole := settings{
		"on": true, "address": "127.0.0.1", "protocol": "http/1.1", "tls": "off", "keepalive": true, "keepalive_ms": 5000, "window": 65536,
		"connections": 1,
	}
	for key, value := range changed {
		whole[key] = value
	}
	log := filepath.Join(folder, "gateway.jsonl")
	wire := settings{"protocol": protocol, "port": port, "tls": "off"}
	if protocol == "http/1.1" {
		wire["connections_per_host"] = 256
	}
	text, err := json.Marshal(settings{"version": 1, "listen": "127.0.0.1:0", "log": log, "wire": wire, "reverse": whole})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	gateway, failed := start(path)
	if failed != nil {
		t.Fatal(failed)
	}
	w := &world{t: t, gateway: gateway, log: log}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(whole["protocol"] == "http/1.1")
	protocols.SetUnencryptedHTTP2(whole["protocol"] == "h2")
	w.browser = &http.Client{Transport: &http.Transport{Protocols: protocols}, Timeout: testkit.Patience}
	t.Cleanup(w.end)
	return w
}

func (w *world) at(path string) string {
	return "http://" + w.gateway.front.Address().String() + path
}

// onEachBackEnd runs a test with each protocol to the server behind, and each towards clients.
func onEachBackEnd(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, multiplexed bool, o *origin, w *world)) {
	for _, spoken := range []string{"http/1.1", "h2", "spdy/3", "spdy/3.1"} {
		for _, front := range []string{"http/1.1", "h2"} {
			t.Run(spoken+" behind "+front, func(t *testing.T) {
				var o *origin
				if version, err := spdy.ParseVersion(spoken); err == nil {
					o = serveSPDY(t, version, handler)
				} else {
					o = serveHTTP(t, spoken, 0, handler)
				}
				test(t, spoken != "http/1.1", o, reverse(t, spoken, o.port, settings{"protocol": front}))
			})
		}
	}
}

func TestAReverseProxyHandsOnWhatWasAskedAndAnswered(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Said", fmt.Sprintf("%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("X-Asked"), text))
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Location", "http://elsewhere.example/")
		w.WriteHeader(203)
		io.WriteString(w, "page")
	}
	onEachBackEnd(t, handler, func(t *testing.T, _ bool, _ *origin, w *world) {
		request, _ := http.NewRequest("POST", w.at("/a%20b?c=d"), strings.NewReader("body"))
		request.Header.Set("X-Asked", "this")
		response, err := w.browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if said := response.Header.Get("X-Said"); said != "POST /a%20b?c=d this body" || string(text) != "page" || err != nil {
			t.Errorf("said %q, %q, %v", said, text, err)
		}
		if response.StatusCode != 203 || response.Header.Get("Location") != "http://elsewhere.example/" {
			t.Errorf("status %d, %v", response.StatusCode, response.Header)
		}
		if policy := response.Header.Get("Content-Security-Policy"); policy != "" {
			t.Errorf("a field for browsers beside the gateway: %s", policy)
		}
	})
}

func TestAReverseProxyCarriesAllAtOnceOnOneConnection(t *testing.T) {
	var under atomic.Int64
	all := make(chan bool)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/warm" {
			return
		}
		if under.Add(1) == atOnce {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
		}
		io.WriteString(w, "done")
	}
	for _, version := range []spdy.Version{spdy.V3, spdy.V31} {
		t.Run(version.String(), func(t *testing.T) {
			under.Store(0)
			all = make(chan bool)
			o := serveSPDY(t, version, handler)
			w := reverse(t, version.String(), o.port, nil)
			w.get(w.at("/warm"))
			var group sync.WaitGroup
			for range atOnce {
				group.Go(func() {
					if _, text, err := w.fetch("GET", w.at("/"), nil); text != "done" || err != nil {
						t.Errorf("%q, %v", text, err)
					}
				})
			}
			group.Wait()
			if o.connections() != 1 {
				t.Errorf("%d connections", o.connections())
			}
		})
	}
}

func TestAReverseProxyHasAsManyConnectionsAsItIsTold(t *testing.T) {
	o := serveSPDY(t, spdy.V3, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "done") })
	w := reverse(t, "spdy/3", o.port, settings{"connections": 3})
	for range 10 {
		w.get(w.at("/"))
	}
	testkit.Eventually(t, "three connections", func() bool { return o.connections() == 3 })
	for range 10 {
		w.get(w.at("/"))
	}
	used := map[float64]bool{}
	for _, request := range w.events("request") {
		used[request.number("connection")] = true
	}
	if o.connections() != 3 || len(used) < 2 {
		t.Errorf("%d connections, %d used", o.connections(), len(used))
	}
}

func TestAReverseProxyBeginsAnotherConnectionWhereAllAreFull(t *testing.T) {
	const most, asked = 4, 10
	var under atomic.Int64
	all := make(chan bool)
	greeting := func(s *spdy.Session) { s.Tell(spdy.Setting{ID: spdy.SettingMaxConcurrentStreams, Value: most}) }
	var conns atomic.Int64
	server := &spdyconn.Server{Version: spdy.V3, Greet: greeting, Accepted: func(*spdyconn.ServerConn) { conns.Add(1) },
		Handler: func(st *spdyconn.ServerStream) {
			if st.Head.Path == "/held" {
				if under.Add(1) == asked {
					close(all)
				}
				select {
				case <-all:
				case <-st.Over():
				}
			}
			_ = st.Reply(200, false)
		}}
	listener := testkit.Listen(t)
	go server.Listen(listener)
	w := reverse(t, "spdy/3", testkit.Port(listener.Addr()), nil)
	w.get(w.at("/")) // so its SETTINGS are there
	var group sync.WaitGroup
	for range asked {
		group.Go(func() {
			if response, _, err := w.fetch("GET", w.at("/held"), nil); err != nil || response.StatusCode != 200 {
				t.Errorf("%v, %v", response, err)
			}
		})
	}
	group.Wait()
	if conns.Load() < 2 {
		t.Errorf("%d connections of %d for %d requests", conns.Load(), most, asked)
	}
}

func TestRequestsUnderWayFailWhenTheServerBehindGoesAway(t *testing.T) {
	site := &spdySite{held: make(chan bool, 10), let: make(chan bool)}
	server := &spdyconn.Server{Version: spdy.V3, Accepted: site.accepted, Handler: func(st *spdyconn.ServerStream) {
		if st.Head.Path == "/begun" {
			_ = st.Reply(200, false)
			_, _ = st.Write([]byte("half"))
		}
		if st.Head.Path != "/" {
			site.held <- true
			<-st.Over()
			return
		}
		_ = st.Reply(200, false)
	}}
	listener := testkit.Listen(t)
	go server.Listen(listener)
	w := reverse(t, "spdy/3", testkit.Port(listener.Addr()), nil)
	w.get(w.at("/"))
	status, broken := make(chan int, 1), make(chan error, 1)
	go func() {
		response, _, err := w.fetch("GET", w.at("/held"), nil)
		if err != nil {
			t.Error(err)
			response = &http.Response{}
		}
		status <- response.StatusCode
	}()
	go func() {
		_, _, err := w.fetch("GET", w.at("/begun"), nil)
		broken <- err
	}()
	<-site.held
	<-site.held
	first := site.connections()[0]
	first.GoAway()
	testkit.Eventually(t, "a new connection", func() bool {
		w.get(w.at("/"))
		return len(site.connections()) == 2
	})
	first.Cut()
	if got := <-status; got != 502 {
		t.Errorf("status %d where no answer had begun", got)
	}
	if err := <-broken; err == nil {
		t.Error("an answer that broke off looks whole")
	}
	failed := 0
	for _, request := range w.events("request") {
		if request["error"] != nil {
			failed++
		}
	}
	if failed != 2 {
		t.Errorf("%d requests failed by the log", failed)
	}
}

func TestASlowClientHoldsAWindowAndNoMore(t *testing.T) {
	const window = 128 << 10
	var sent atomic.Int64
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			io.WriteString(w, "small")
			return
		}
		piece := make([]byte, 32<<10)
		for range 32 << 10 { // a gigabyte
			n, err := w.Write(piece)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
	for _, version := range []spdy.Version{spdy.V3, spdy.V31} {
		t.Run(version.String(), func(t *testing.T) {
			sent.Store(0)
			o := serveSPDY(t, version, handler)
			w := reverse(t, version.String(), o.port, settings{"window": window})
			response, err := w.browser.Get(w.at("/large"))
			if err != nil {
				t.Fatal(err)
			}
			before := int64(-1)
			testkit.Eventually(t, "a standstill", func() bool {
				now := sent.Load()
				still := now == before && now > 0
				before = now
				time.Sleep(50 * time.Millisecond)
				return still
			})
			// What the kernel holds of both connections comes to some megabytes; all else is windows.
			if now := sent.Load(); now > 64<<20 {
				t.Errorf("%d bytes were sent to a client that reads nothing", now)
			}
			if _, text := w.get(w.at("/small")); text != "small" {
				t.Errorf("beside it: %q", text)
			}
			response.Body.Close()
		})
	}
}

func TestWhatAReverseProxyCannotBe(t *testing.T) {
	for words, changed := range map[string]settings{
		"reverse.address":      {"address": "nowhere"},
		"reverse.protocol":     {"protocol": "spdy/3"},
		"reverse.tls":          {"tls": "1.1"},
		"certificate: missing": {"tls": "1.3"},
		"reverse.window":       {"window": 1024},
		"reverse.connections":  {"connections": 0},
		"reverse.keepalive_ms": {"keepalive_ms": 0},
		"reverse.on":           {"on": false},
	} {
		whole := settings{"on": true, "address": "127.0.0.1", "protocol": "h2", "tls": "off", "keepalive_ms": 1, "window": 65536, "connections": 1}
		for key, value := range changed {
			whole[key] = value
		}
		text, _ := json.Marshal(settings{
			"version": 1, "listen": "127.0.0.1:0", "log": "/x", "wire": settings{"protocol": "h2"}, "reverse": whole,
			"dns": settings{"mode": "instant", "hosts": settings{"a": "127.0.0.1"}},
		})
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := start(path)
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

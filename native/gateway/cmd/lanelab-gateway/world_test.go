package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

var names = []string{"a.example", "b.example"}

// settings are what a test changes in the configuration's wire.
type settings map[string]any

// A world is a gateway with a browser (net/http's own HTTP/2 client) in front of it.
type world struct {
	t       testing.TB
	gateway *gateway
	browser *http.Client
	log     string
	keys    string
	once    sync.Once
}

// writeConfig writes a configuration for an origin on a port of the loopback.
func writeConfig(t testing.TB, front *testkit.Identity, pin string, port int, wire settings, dns any, beside ...settings) (path, log string) {
	t.Helper()
	folder := t.TempDir()
	log = filepath.Join(folder, "gateway.jsonl")
	whole := settings{"protocol": "http/1.1", "port": port, "tls": "off", "trust": []string{pin}}
	for key, value := range wire {
		whole[key] = value
	}
	if dns == nil {
		dns = settings{"mode": "instant", "hosts": settings{names[0]: "127.0.0.1", names[1]: "127.0.0.1"}}
	}
	text, err := json.Marshal(settings{
		"version": 1, "listen": "127.0.0.1:0", "certificate": front.Certificate, "key": front.Key, "log": log,
		"keylog": filepath.Join(folder, "keys"), "dns": dns, "wire": whole, "beside": beside,
	})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(folder, "config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, log
}

// begin starts a gateway in this process.
func begin(t testing.TB, pin string, port int, wire settings, dns any, beside ...settings) *world {
	t.Helper()
	front := testkit.NewIdentity(t, names...)
	path, log := writeConfig(t, front, pin, port, wire, dns, beside...)
	gateway, err := start(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, gateway: gateway, log: log, keys: filepath.Join(filepath.Dir(path), "keys")}
	w.browser = browserOf(t, gateway.front.Address().String())
	t.Cleanup(func() { w.end() })
	return w
}

// browserOf is a client that takes every name to the gateway, in HTTP/2.
func browserOf(t testing.TB, address string) *http.Client {
	transport := &http.Transport{
		ForceAttemptHTTP2: true, DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: testkit.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// end stops the gateway as SIGTERM does.
func (w *world) end() {
	w.once.Do(func() {
		w.browser.CloseIdleConnections()
		stop := make(chan os.Signal, 1)
		stop <- os.Interrupt
		var said bytes.Buffer
		if status := w.gateway.runUntil(stop, &said); status != 0 {
			w.t.Errorf("status %d: %s", status, &said)
		}
	})
}

// fetch gets a whole answer.
func (w *world) fetch(method, url string, body io.Reader) (*http.Response, string, error) {
	request, err := http.NewRequestWithContext(w.t.Context(), method, url, body)
	if err != nil {
		return nil, "", err
	}
	response, err := w.browser.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

// get is a fetch that must succeed.
func (w *world) get(url string) (*http.Response, string) {
	w.t.Helper()
	response, text, err := w.fetch("GET", url, nil)
	if err != nil {
		w.t.Fatalf("%s: %v", url, err)
	}
	return response, text
}

// An event is a line of the log.
type event map[string]any

func (e event) number(key string) float64 {
	number, _ := e[key].(float64)
	return number
}

// events ends the gateway and reads its log.
func (w *world) events(kind string) []event {
	w.t.Helper()
	w.end()
	return readLog(w.t, w.log, kind)
}

func readLog(t testing.TB, path, kind string) []event {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var found []event
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one event
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if one["event"] == kind {
			found = append(found, one)
		}
	}
	return found
}

// An arm is a protocol on the wire and an origin that speaks it.
type arm struct {
	name   string
	wire   settings
	origin func(testing.TB, http.HandlerFunc) *origin
}

func arms() []arm {
	byHTTP := func(protocol string, version uint16) func(testing.TB, http.HandlerFunc) *origin {
		return func(t testing.TB, handler http.HandlerFunc) *origin { return serveHTTP(t, protocol, version, handler) }
	}
	bySPDY := func(version spdy.Version) func(testing.TB, http.HandlerFunc) *origin {
		return func(t testing.TB, handler http.HandlerFunc) *origin { return serveSPDY(t, version, handler) }
	}
	return []arm{
		{"http1", settings{}, byHTTP("http/1.1", 0)},
		{"http1-tls", settings{"tls": "1.2"}, byHTTP("http/1.1", tls.VersionTLS12)},
		{"http1-close", settings{"keepalive": false}, byHTTP("http/1.1", 0)},
		{"pipelined", settings{"pipelining": 4}, byHTTP("http/1.1", 0)},
		{"h2c", settings{"protocol": "h2"}, byHTTP("h2", 0)},
		{"h2", settings{"protocol": "h2", "tls": "1.3"}, byHTTP("h2", tls.VersionTLS13)},
		{"spdy2", settings{"protocol": "spdy/2"}, bySPDY(spdy.V2)},
		{"spdy3", settings{"protocol": "spdy/3"}, bySPDY(spdy.V3)},
		{"spdy31", settings{"protocol": "spdy/3.1"}, bySPDY(spdy.V31)},
	}
}

// onEachArm runs a test with every protocol.
func onEachArm(t *testing.T, handler http.HandlerFunc, test func(*testing.T, arm, *world)) {
	for _, a := range arms() {
		t.Run(a.name, func(t *testing.T) {
			o := a.origin(t, handler)
			test(t, a, begin(t, o.pin, o.port, a.wire, nil))
		})
	}
}

func url(host, format string, values ...any) string {
	return "https://" + host + fmt.Sprintf(format, values...)
}

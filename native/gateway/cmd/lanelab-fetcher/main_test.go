package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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

// settings are what a test changes in a plan.
type settings map[string]any

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

// plan writes a plan; what is changed of it and of its wire is in the two last.
func plan(t *testing.T, s *site, paths []string, changed, wire settings) string {
	t.Helper()
	folder := t.TempDir()
	whole := settings{"protocol": "http/1.1", "port": s.port, "tls": "off"}
	for key, value := range wire {
		whole[key] = value
	}
	if whole["tls"] != "off" {
		whole["trust"] = []string{s.pin}
	}
	objects := make([]string, 0, len(paths))
	for _, path := range paths {
		objects = append(objects, host+path)
	}
	said := settings{
		"version": 1, "log": filepath.Join(folder, "wire.jsonl"), "keylog": filepath.Join(folder, "keys.log"), "wire": whole,
		"dns": settings{"mode": "instant", "hosts": settings{host: "127.0.0.1"}}, "objects": objects, "timeout_ms": 60_000,
	}
	for key, value := range changed {
		said[key] = value
	}
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "plan.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fetch(t *testing.T, path string) *Report {
	t.Helper()
	var out, complaints bytes.Buffer
	if status := run(t.Context(), []string{path}, &out, &complaints); status != ended {
		t.Fatalf("status %d: %s", status, &complaints)
	}
	report := new(Report)
	var plain map[string]any
	if err := json.Unmarshal(out.Bytes(), &plain); err != nil {
		t.Fatal(err)
	}
	report.Version, report.InTime = plain["version"].(string), plain["in_time"].(bool)
	for _, each := range plain["objects"].([]any) {
		report.Objects = append(report.Objects, objectOf(each.(map[string]any)))
	}
	return report
}

func objectOf(plain map[string]any) Object {
	object := Object{Request: int(plain["request"].(float64)), URL: plain["url"].(string), Measured: plain["measured"].(bool)}
	object.BodyBytes = int64(plain["body_bytes"].(float64))
	if status, is := plain["status"].(float64); is {
		number := int(status)
		object.Status = &number
	}
	if text, is := plain["sha256"].(string); is {
		object.SHA256 = &text
	}
	if text, is := plain["error"].(string); is {
		object.Error = &text
	}
	return object
}

func requireWhole(t *testing.T, object Object, path string) {
	t.Helper()
	hash := sha256.Sum256([]byte(body(path)))
	if object.URL != host+path || object.Status == nil || *object.Status != 200 || object.Error != nil {
		t.Errorf("%s: %+v", path, object)
	}
	if object.SHA256 == nil || *object.SHA256 != hex.EncodeToString(hash[:]) || object.BodyBytes != int64(len(body(path))) {
		t.Errorf("%s is not whole: %+v", path, object)
	}
}

// events are the lines of a kind in the log beside a plan.
func events(t *testing.T, path, kind string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "wire.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var found []map[string]any
	for line := range strings.Lines(string(text)) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if one["event"] == kind {
			found = append(found, one)
		}
	}
	return found
}

var paths = []string{"/", "/one", "/two?q=1", "/three"}

func pathOnly(path string) string {
	only, _, _ := strings.Cut(path, "?")
	return only
}

func TestEachProtocolBringsEachObjectWholeOverOneConnection(t *testing.T) {
	for _, one := range []struct {
		name string
		site func(*testing.T) *site
		wire settings
	}{
		{"http1", func(t *testing.T) *site { return serve(t, "http/1.1", 0) }, settings{}},
		{"http1-tls", func(t *testing.T) *site { return serve(t, "http/1.1", tls.VersionTLS12) }, settings{"tls": "1.2"}},
		{"h2c", func(t *testing.T) *site { return serve(t, "h2", 0) }, settings{"protocol": "h2"}},
		{"h2", func(t *testing.T) *site { return serve(t, "h2", tls.VersionTLS13) }, settings{"protocol": "h2", "tls": "1.3"}},
		{"spdy", serveSPDY, settings{"protocol": "spdy/3.1"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			s := one.site(t)
			path := plan(t, s, paths, nil, one.wire)
			report := fetch(t, path)
			if len(report.Objects) != len(paths) || !report.InTime {
				t.Fatalf("%+v", report)
			}
			for i, object := range report.Objects {
				served := paths[i]
				if one.name != "spdy" {
					served = pathOnly(served)
				}
				hash := sha256.Sum256([]byte(body(served)))
				if object.SHA256 == nil || *object.SHA256 != hex.EncodeToString(hash[:]) || !object.Measured || object.Request != i+1 {
					t.Errorf("%+v", object)
				}
			}
			if connections, _ := s.counts(); connections != 1 {
				t.Errorf("%d connections", connections)
			}
			if requests := events(t, path, "request"); len(requests) != len(paths) || requests[3]["status"] != float64(200) {
				t.Errorf("%v", requests)
			}
		})
	}
}

func TestWithoutKeepaliveEachObjectHasAConnectionOfItsOwn(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	fetch(t, plan(t, s, paths, nil, settings{"keepalive": false, "connections_per_host": 1}))
	if connections, most := s.counts(); connections != len(paths) || most != 1 {
		t.Errorf("%d connections, %d at once", connections, most)
	}
}

func TestSoManyAreUnderWayAtOnceAsThePlanSays(t *testing.T) {
	s := serve(t, "h2", 0)
	s.delay = 50 * time.Millisecond
	many := []string{"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"}
	fetch(t, plan(t, s, many, settings{"at_once": 3}, settings{"protocol": "h2"}))
	if _, most := s.counts(); most != 3 {
		t.Errorf("%d at once", most)
	}
}

func TestAWarmFetchAsksTwiceOverTheSameConnection(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	report := fetch(t, plan(t, s, []string{"/one", "/three"}, settings{"warm": true}, nil))
	measured := []bool{}
	for _, object := range report.Objects {
		requireWhole(t, object, strings.TrimPrefix(object.URL, host))
		measured = append(measured, object.Measured)
	}
	if connections, _ := s.counts(); fmt.Sprint(measured) != "[false false true true]" || connections != 1 {
		t.Errorf("%v over %d connections", measured, connections)
	}
}

func TestAnAnswerThatIsNoObjectOrNotWholeIsToldAsItIs(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	objects := fetch(t, plan(t, s, []string{"/absent", "/short", "/one"}, nil, nil)).Objects
	if objects[0].Status == nil || *objects[0].Status != 404 {
		t.Errorf("%+v", objects[0])
	}
	if objects[1].SHA256 != nil || objects[1].Error == nil {
		t.Errorf("%+v", objects[1])
	}
	requireWhole(t, objects[2], "/one")
}

func TestWhatTakesTooLongIsGivenUpAndTheRestIsNotAskedFor(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	report := fetch(t, plan(t, s, []string{"/one", "/never", "/three"}, settings{"timeout_ms": 1500}, nil))
	if report.InTime || len(report.Objects) != 2 || report.Objects[1].Error == nil {
		t.Errorf("%+v", report)
	}
	requireWhole(t, report.Objects[0], "/one")
}

func TestWhoIsAskedToEndTellsWhatThereIs(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	ctx, cancel := context.WithCancel(t.Context())
	path := plan(t, s, []string{"/never"}, nil, nil)
	var out, complaints bytes.Buffer
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{path}, &out, &complaints) }()
	testkit.Eventually(t, "the request came", func() bool {
		_, most := s.counts()
		return most == 1
	})
	cancel()
	if got := <-status; got != ended || !strings.Contains(out.String(), `"in_time":false`) {
		t.Errorf("status %d: %s%s", got, &out, &complaints)
	}
}

func TestWhoHoldsKeepsConnectionsUntilASignal(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	path := plan(t, s, []string{"/one"}, settings{"hold": true}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	reading, writing := io.Pipe()
	var complaints bytes.Buffer
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{path}, writing, &complaints) }()
	report, err := bufio.NewReader(reading).ReadString('\n')
	if err != nil || !strings.Contains(report, `"in_time":true`) {
		t.Errorf("%v: %s", err, report)
	}
	if logged := events(t, path, "connection"); len(logged) != 0 {
		t.Errorf("a connection has ended: %v", logged)
	}
	cancel()
	if got := <-status; got != ended {
		t.Errorf("status %d: %s", got, &complaints)
	}
	if logged := events(t, path, "connection"); len(logged) != 1 || logged[0]["ended_by"] != "gateway" {
		t.Errorf("%v", logged)
	}
}

func TestKeysOfTLSAreWritten(t *testing.T) {
	s := serve(t, "h2", tls.VersionTLS13)
	path := plan(t, s, []string{"/one"}, nil, settings{"protocol": "h2", "tls": "1.3"})
	fetch(t, path)
	keys, err := os.ReadFile(filepath.Join(filepath.Dir(path), "keys.log"))
	if err != nil || !bytes.Contains(keys, []byte("CLIENT_TRAFFIC_SECRET_0")) {
		t.Errorf("%v: %s", err, keys)
	}
}

func TestAServerWithAnotherKeyIsRefused(t *testing.T) {
	s := serve(t, "h2", tls.VersionTLS13)
	s.pin = testkit.NewIdentity(t, host).Pin
	objects := fetch(t, plan(t, s, []string{"/one"}, nil, settings{"protocol": "h2", "tls": "1.3"})).Objects
	if objects[0].Error == nil || objects[0].SHA256 != nil {
		t.Errorf("%+v", objects[0])
	}
}

func TestAPlanThatCannotBeIsRefusedByName(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	for _, one := range []struct {
		changed, wire settings
		says          string
	}{
		{settings{"at_onse": 2}, nil, `did you mean "at_once"`},
		{settings{"at_once": 0}, nil, "at_once: 0"},
		{settings{"objects": []string{}}, nil, "objects: none"},
		{settings{"objects": []string{"b.example/"}}, nil, "objects[0]"},
		{settings{"warm": true}, settings{"keepalive": false}, "warm: "},
		{settings{"version": 2}, nil, "version: 2"},
		{settings{"timeout_ms": 0}, nil, "timeout_ms"},
		{nil, settings{"protocol": "h4"}, "wire.protocol"},
		{nil, settings{"protocol": "h2", "push": true}, "wire.push"},
	} {
		var out, complaints bytes.Buffer
		status := run(t.Context(), []string{plan(t, s, []string{"/one"}, one.changed, one.wire)}, &out, &complaints)
		if status != refused || !strings.Contains(complaints.String(), one.says) {
			t.Errorf("%v %v: status %d: %s", one.changed, one.wire, status, &complaints)
		}
	}
}

func TestArgumentsAndVersion(t *testing.T) {
	var out, complaints bytes.Buffer
	if run(t.Context(), nil, &out, &complaints) != refused || run(t.Context(), []string{"/nowhere/plan.json"}, &out, &complaints) != refused {
		t.Error("it began without a plan")
	}
	if run(t.Context(), []string{"--version"}, &out, &complaints) != ended || out.String() != "lanelab-fetcher 1\n" {
		t.Errorf("%q", out.String())
	}
}

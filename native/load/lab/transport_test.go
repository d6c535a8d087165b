package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/netext"
	"go.k6.io/k6/lib/netext/httpext"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
	"lanelab/gateway/internal/testkit"
)

const host = "a.example"

// A world is a server, and a user who asks it.
type world struct {
	t        *testing.T
	settings *Settings
	recorder *recorder
	user     *user
	end      context.CancelFunc // of the trial
	accepted atomic.Int64
	release  chan struct{} // answers to /wait wait for it
}

var versions = map[string]spdy.Version{"spdy/2": spdy.V2, "spdy/3": spdy.V3, "spdy/3.1": spdy.V31}

func newWorld(t *testing.T, protocol, version string, change func(*Settings)) *world {
	t.Helper()
	w := &world{t: t, release: make(chan struct{})}
	w.settings = &Settings{
		Protocol: protocol, TLS: version, TLSResumption: true, TLSKeyShare: "x25519", Address: "127.0.0.1", Connections: 6, RequestTimeoutS: 60,
		StreamWindow: 1 << 20, Sizes: map[string]int64{}, DurationS: 3600,
	}
	listener := net.Listener(counted{testkit.Listen(t), &w.accepted})
	w.settings.Port = testkit.Port(listener.Addr())
	if version != "off" {
		identity := testkit.NewIdentity(t, host)
		w.settings.Authority = identity.Certificate
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{identity.TLS}, NextProtos: []string{protocol}})
	}
	if change != nil {
		change(w.settings)
	}
	if err := w.settings.check(); err != nil {
		t.Fatal(err)
	}
	if kind, there := versions[protocol]; there {
		go w.serveSPDY(listener, kind)
	} else {
		w.serveHTTP(listener)
	}
	w.recorder = newRecorder(w.settings)
	w.recorder.begins(time.Now())
	w.user = newUser(w.settings, w.recorder, &lib.State{Dialer: netext.NewDialer(net.Dialer{}, nil), TLSConfig: &tls.Config{}})
	ctx, end := context.WithCancel(t.Context())
	w.end = end
	t.Cleanup(end)
	t.Cleanup(w.user.inner.CloseIdleConnections)
	w.user.begins(ctx, nil)
	return w
}

type counted struct {
	net.Listener
	count *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.count.Add(1)
	}
	return conn, err
}

func (w *world) answer(path string) string {
	if path == "/wait" {
		<-w.release
	}
	return strings.Repeat("x", len(path)*1000)
}

func (w *world) serveHTTP(listener net.Listener) {
	server := &http.Server{Protocols: &http.Protocols{}, Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.Host != host {
			w.t.Errorf("asked %s", in.Host)
		}
		if in.URL.Path == "/gone" {
			out.WriteHeader(http.StatusGone)
		}
		body, _ := io.ReadAll(in.Body)
		fmt.Fprint(out, w.answer(in.URL.Path), string(body))
	})}
	server.Protocols.SetHTTP1(w.settings.Protocol == http1)
	server.Protocols.SetUnencryptedHTTP2(w.settings.Protocol == h2)
	server.Protocols.SetHTTP2(w.settings.Protocol == h2)
	if w.settings.TLS != "off" {
		server.TLSConfig = &tls.Config{NextProtos: []string{w.settings.Protocol}}
	}
	go server.Serve(listener)
	w.t.Cleanup(func() { server.Close() })
}

func (w *world) serveSPDY(listener net.Listener, version spdy.Version) {
	server := &spdyconn.Server{Version: version, Handler: func(stream *spdyconn.ServerStream) {
		status := 200
		if stream.Head.Path == "/gone" {
			status = 410
		}
		if stream.Head.Path == "/last" {
			defer stream.Conn().Do(func(session *spdy.Session) { session.GoAway(spdy.GoAwayOK) })
		}
		body, _ := io.ReadAll(stream.Body)
		_ = stream.Reply(status, false, exchange.Field{Name: "content-type", Value: "text/plain"})
		_, _ = stream.Write([]byte(w.answer(stream.Head.Path) + string(body)))
	}}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			if secured, ok := conn.(*tls.Conn); ok && secured.Handshake() != nil {
				conn.Close()
				return
			}
			_ = server.Serve(conn)
		}()
	}
}

func (w *world) url(path string) string {
	scheme := "https"
	if w.settings.TLS == "off" {
		scheme = "http"
	}
	return scheme + "://" + host + path
}

// ask makes a request as k6 does, and says what came and what k6 made of its times.
func (w *world) ask(ctx context.Context, method, path, body string) (string, *httpext.Trail, error) {
	tracer := &httpext.Tracer{}
	ctx = httptrace.WithClientTrace(ctx, tracer.Trace())
	request, err := http.NewRequestWithContext(ctx, method, w.url(path), strings.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	if body == "" {
		request.Body = nil
	}
	response, err := w.user.RoundTrip(request)
	if err != nil {
		return "", tracer.Done(), err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), tracer.Done(), err
}

func (w *world) mustAsk(path string) *httpext.Trail {
	w.t.Helper()
	text, trail, err := w.ask(w.t.Context(), "GET", path, "")
	if err != nil || len(text) != len(path)*1000 {
		w.t.Errorf("%s: %d bytes, %v", path, len(text), err)
	}
	return trail
}

func (w *world) report() Report { return w.recorder.report(time.Now()) }

func each(t *testing.T, test func(t *testing.T, protocol, version string)) {
	for _, protocol := range []string{http1, h2, "spdy/2", "spdy/3", "spdy/3.1"} {
		for _, version := range []string{"off", "1.2", "1.3"} {
			t.Run(protocol+" "+version, func(t *testing.T) { test(t, protocol, version) })
		}
	}
}

// fifty requests at once, again and again, as the pages of one user.
func TestAUserHasABrowsersConnections(t *testing.T) {
	each(t, func(t *testing.T, protocol, version string) {
		w := newWorld(t, protocol, version, nil)
		for range 3 {
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() { w.mustAsk(fmt.Sprintf("/%d", i)) })
			}
			all.Wait()
			w.user.begins(t.Context(), nil)
		}
		want := int64(1)
		if protocol == http1 {
			want = 6
		}
		report := w.report()
		if w.accepted.Load() > want || report.Connections != w.accepted.Load() {
			t.Errorf("%d connections, %d in the report", w.accepted.Load(), report.Connections)
		}
		if report.Protocol != protocol || report.TLS != version || report.Requests.Ended != 150 || report.Statuses["200"] != 150 {
			t.Errorf("%+v", report)
		}
		if parts := slices.Sorted(maps.Keys(report.Parts)); version != "off" && !slices.Equal(parts, []string{"connect", "receive", "tls", "wait"}) {
			t.Errorf("parts: %v", parts)
		}
		if report.Requests.MS.Count != 150 || report.Parts[partConnect].Count != report.Connections {
			t.Errorf("%+v", report.Requests)
		}
	})
}

func TestK6SeesAllTimes(t *testing.T) {
	each(t, func(t *testing.T, protocol, version string) {
		w := newWorld(t, protocol, version, nil)
		first, second := w.mustAsk("/a"), w.mustAsk("/b")
		if first.ConnReused || first.Connecting <= 0 || first.Waiting <= 0 || first.Receiving <= 0 || first.ConnRemoteAddr == nil {
			t.Errorf("the first request: %+v", first)
		}
		if (first.TLSHandshaking > 0) != (version != "off") {
			t.Errorf("TLS took %v", first.TLSHandshaking)
		}
		if !second.ConnReused || second.Connecting != 0 || second.TLSHandshaking != 0 || second.Waiting <= 0 {
			t.Errorf("the second request: %+v", second)
		}
	})
}

func TestBodiesOfRequestsArrive(t *testing.T) {
	each(t, func(t *testing.T, protocol, version string) {
		w := newWorld(t, protocol, version, nil)
		text, _, err := w.ask(t.Context(), "POST", "/", "hello")
		if err != nil || !strings.HasSuffix(text, "xhello") {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}

func TestWhatFails(t *testing.T) {
	each(t, func(t *testing.T, protocol, version string) {
		w := newWorld(t, protocol, version, func(s *Settings) { s.RequestTimeoutS = 0.2 })
		w.settings.Sizes[w.url("/wrong")] = 5
		if err := w.settings.sort(); err != nil {
			t.Fatal(err)
		}
		if err := w.user.beginPage(); err != nil {
			t.Fatal(err)
		}
		_, _, wrong := w.ask(t.Context(), "GET", "/wrong", "")
		var coded httpext.K6Error
		if !errors.As(wrong, &coded) || coded.Code != codeBody {
			t.Errorf("a wrong body: %v", wrong)
		}
		_, _, late := w.ask(t.Context(), "GET", "/wait", "")
		if late == nil {
			t.Error("a late answer is fine")
		}
		_, _, _ = w.ask(t.Context(), "GET", "/gone", "")
		close(w.release)
		if err := w.user.endPage(); err != nil {
			t.Fatal(err)
		}
		report := w.report()
		for _, kind := range []string{kindBody, kindTimeout, "status 410"} {
			if report.Errors[kind].Count != 1 {
				t.Errorf("%s: %+v", kind, report.Errors)
			}
		}
		if r := report.Requests; r.Begun != 3 || r.Failed != 3 || r.TimedOut != 1 || report.Pages.Failed != 1 || report.Pages.TimedOut != 1 {
			t.Errorf("%+v", report)
		}
	})
}

// What the end of the trial cuts off is unfinished, and no error.
func TestTheEndOfTheTrial(t *testing.T) {
	each(t, func(t *testing.T, protocol, version string) {
		w := newWorld(t, protocol, version, nil)
		defer close(w.release)
		if err := w.user.beginPage(); err != nil {
			t.Fatal(err)
		}
		ctx, _ := w.user.now()
		asked := make(chan error, 1)
		go func() {
			_, _, err := w.ask(ctx, "GET", "/wait", "")
			asked <- err
		}()
		testkit.Eventually(t, "the request is under way", func() bool { return w.accepted.Load() == 1 })
		w.end()
		if err := <-asked; err == nil {
			t.Error("it was answered")
		}
		report := w.report()
		if r := report.Requests; r.Begun != 1 || r.Unfinished != 1 || r.Longest <= 0 || len(report.Errors) != 0 {
			t.Errorf("%+v", report)
		}
		if p := report.Pages; p.Begun != 1 || p.Unfinished != 1 || p.Failed != 0 {
			t.Errorf("%+v", p)
		}
	})
}

func TestConnectionsThatEndAreOpenedAgain(t *testing.T) {
	for protocol := range versions {
		w := newWorld(t, protocol, "off", nil)
		for i := range 5 {
			w.mustAsk("/last")
			var left func() bool
			m := w.user.inner.(*multiplexed)
			left = func() bool {
				m.mutex.Lock()
				defer m.mutex.Unlock()
				s := m.sessions["http://"+host]
				return s == nil || s.over()
			}
			testkit.Eventually(t, "GOAWAY comes", left)
			if w.accepted.Load() != int64(i+1) {
				t.Errorf("%s: %d connections after %d times GOAWAY", protocol, w.accepted.Load(), i+1)
			}
		}
		if report := w.report(); report.Requests.Ended != 5 {
			t.Errorf("%+v", report)
		}
	}
}

func TestFreshConnections(t *testing.T) {
	for _, protocol := range []string{http1, "spdy/3.1"} {
		w := newWorld(t, protocol, "off", func(s *Settings) { s.Fresh = true })
		for range 3 {
			w.mustAsk("/a")
			w.user.begins(t.Context(), nil)
		}
		if w.accepted.Load() != 3 {
			t.Errorf("%s: %d connections in 3 iterations", protocol, w.accepted.Load())
		}
	}
}

func TestKindsOfErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Settings)
		kind   string
	}{
		"nobody listens":    {func(s *Settings) { s.Port = 1 }, kindRefused},
		"another authority": {func(s *Settings) { s.Authority = testkit.NewIdentity(t, host).Certificate }, kindTLS},
		"another TLS":       {func(s *Settings) { s.TLS = "1.2" }, kindTLS},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, h2, "1.3", nil)
			changed := *w.settings
			c.change(&changed)
			if name == "another TLS" {
				changed.Protocol = "spdy/3.1" // which this server does not offer
			}
			if err := changed.check(); err != nil {
				t.Fatal(err)
			}
			w.user = newUser(&changed, w.recorder, &lib.State{Dialer: netext.NewDialer(net.Dialer{}, nil)})
			w.user.begins(t.Context(), nil)
			if _, _, err := w.ask(t.Context(), "GET", "/", ""); err == nil {
				t.Error("it went well")
			}
			if report := w.report(); report.Errors[c.kind].Count != 1 {
				t.Errorf("%+v", report.Errors)
			}
		})
	}
}

func TestSettingsAreWhole(t *testing.T) {
	fine := Settings{Protocol: h2, TLS: "off", Address: "127.0.0.1", Port: 80, Connections: 6, RequestTimeoutS: 1}
	if err := fine.check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Settings){
		"protocol": func(s *Settings) { s.Protocol = "spdy/4" }, "tls": func(s *Settings) { s.TLS = "1.1" },
		"authority": func(s *Settings) { s.TLS, s.Authority = "1.3", filepath.Join(t.TempDir(), "none") },
		"port":      func(s *Settings) { s.Port = 0 }, "connections": func(s *Settings) { s.Connections = 0 },
		"timeout": func(s *Settings) { s.RequestTimeoutS = 0 },
	} {
		wrong := fine
		change(&wrong)
		if wrong.check() == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}

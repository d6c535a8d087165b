package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
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
	waiting  atomic.Int64  // requests for /wait that have come
	release  chan struct{} // answers to /wait wait for it
	quic     *quicServer   // of HTTP/3
}

var versions = map[string]spdy.Version{"spdy/2": spdy.V2, "spdy/3": spdy.V3, "spdy/3.1": spdy.V31}

func newWorld(t *testing.T, protocol, version string, change func(*Settings)) *world {
	t.Helper()
	w := &world{t: t, release: make(chan struct{})}
	w.settings = &Settings{
		Protocol: protocol, TLS: version, TLSResumption: true, TLSKeyShare: "x25519", Address: "127.0.0.1", Connections: 6, RequestTimeoutS: 60,
		StreamWindow: 1 << 20, Sizes: map[string]int64{}, DurationS: 3600,
	}
	if protocol == h3 {
		return w.overQUIC(change)
	}
	listener := net.Listener(counted{testkit.Listen(t), &w.accepted})
	w.settings.Port = testkit.Port(listener.Addr())
	if version != "off" {
		identity := testkit.NewIdentity(t, host)
		w.settings.Authority = identity.Certificate
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{identity.TLS}, NextProtos: []string{protocol}})
	}
	w.settle(change)
	if kind, there := versions[protocol]; there {
		go w.serveSPDY(listener, kind)
	} else {
		w.serveHTTP(listener)
	}
	return w.begun()
}

// settle changes the settings, which then are whole.
func (w *world) settle(change func(*Settings)) {
	w.t.Helper()
	if change != nil {
		change(w.settings)
	}
	if err := w.settings.check(); err != nil {
		w.t.Fatal(err)
	}
}

// begun has a user who is in an iteration.
func (w *world) begun() *world {
	w.recorder = newRecorder(w.settings)
	w.recorder.begins(time.Now())
	w.user = newUser(w.settings, w.recorder, &lib.State{Dialer: netext.NewDialer(net.Dialer{}, nil), TLSConfig: &tls.Config{}})
	ctx, end := context.WithCancel(w.t.Context())
	w.end = end
	w.t.Cleanup(end)
	w.t.Cleanup(w.user.inner.CloseIdleConnections)
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
		w.waiting.Add(1)
		<-w.release
	}
	return strings.Repeat("x", len(path)*1000)
}

// handle answers with 1000 bytes for each of the path, and with what it was sent.
func (w *world) handle(out http.ResponseWriter, in *http.Request) {
	if in.Host != host {
		w.t.Errorf("asked %s", in.Host)
	}
	if in.URL.Path == "/gone" {
		out.WriteHeader(http.StatusGone)
	}
	body, _ := io.ReadAll(in.Body)
	fmt.Fprint(out, w.answer(in.URL.Path), string(body))
}

func (w *world) serveHTTP(listener net.Listener) {
	server := &http.Server{Protocols: &http.Protocols{}, Handler: http.HandlerFunc(w.handle)}
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
	t.Run("h3", func(t *testing.T) { test(t, h3, "1.3") })
	for _, protocol := range []string{http1, h2, "spdy/2", "spdy/3", "spdy/3.1"} {
		for _, version := range []string{"off", "1.2", "1.3"} {
			t.Run(protocol+" "+version, func(t *testing.T) { test(t, protocol, version) })
		}
	}
}

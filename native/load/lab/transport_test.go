package lab

import (
	"context"
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
	"testing"
	"testing/iotest"
	"time"

	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/netext"
	"go.k6.io/k6/lib/netext/httpext"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

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
		wanted := []string{"connect", "receive", "tls", "wait"}
		if protocol == h3 { // whose handshake is one
			wanted = []string{"connect", "receive", "wait"}
		}
		if parts := slices.Sorted(maps.Keys(report.Parts)); version != "off" && !slices.Equal(parts, wanted) {
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
		if (first.TLSHandshaking > 0) != (version != "off" && protocol != h3) {
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

// A broken is a transport whose connection ends amid every body.
type broken struct{}

func (broken) RoundTrip(request *http.Request) (*http.Response, error) {
	ended := fmt.Errorf("the peer ended the connection with an exchange under way: %w", io.EOF) // as h2 and spdyconn say it
	body := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(ended))
	return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(body), Request: request}, nil
}

func (broken) CloseIdleConnections() {}

// Half an answer is none, whether or not its size is known: it is no object of another length, for which the whole load would not count.
func TestAConnectionThatEndsAmidABodyHasNotAnswered(t *testing.T) {
	w := newWorld(t, http1, "off", nil)
	w.user.inner = broken{}
	w.settings.Sizes[w.url("/known")] = 8
	if err := w.settings.sort(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/known", "/unknown"} {
		if _, _, err := w.ask(t.Context(), "GET", path, ""); err == nil {
			t.Errorf("%s came to its end", path)
		}
	}
	if report := w.report(); report.Requests.Ended != 0 || report.Requests.Failed != 2 || report.Errors[kindClosed].Count != 2 {
		t.Errorf("%+v", report)
	}
}

// A narrow connection has room for one request. It answers those that have all the time there is, and no others.
type narrow struct {
	exchange.Conn
	room  chan struct{} // has an element where there is some
	begun chan struct{} // closed when one has begun that is not answered
}

func (n *narrow) Start(ctx context.Context, _ *exchange.Request, _ exchange.Notes) func() (*exchange.Response, error) {
	select {
	case <-n.room:
	default:
		return func() (*exchange.Response, error) { return nil, exchange.ErrNotSent }
	}
	return func() (*exchange.Response, error) {
		defer func() { n.room <- struct{}{} }()
		if _, limited := ctx.Deadline(); limited {
			close(n.begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return &exchange.Response{Status: http.StatusOK, Body: http.NoBody}, nil
	}
}

func (n *narrow) Done() <-chan struct{} { return nil }
func (n *narrow) Leaving() bool         { return false }

// Who waits for room hears of it too where a request gave up, and not with the next thing that the server says.
func TestARequestThatGivesUpLeavesItsRoom(t *testing.T) {
	conn := &narrow{room: make(chan struct{}, 1), begun: make(chan struct{})}
	conn.room <- struct{}{}
	s := &streams{conn: conn, protocol: h2}
	s.signal.changed = make(chan struct{})
	ask := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			request, err := http.NewRequestWithContext(ctx, "GET", "http://"+host+"/", nil)
			if err == nil {
				_, err = s.roundTrip(request, &httptrace.ClientTrace{})
			}
			done <- err
		}()
		return done
	}
	limited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	first := ask(limited)
	<-conn.begun
	select {
	case err := <-ask(t.Context()):
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("nobody told the second request that there is room")
	}
	if err := <-first; !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
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
	for protocol, version := range map[string]string{http1: "off", "spdy/3.1": "off", h3: "1.3"} {
		w := newWorld(t, protocol, version, func(s *Settings) { s.Fresh = true })
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
		"protocol": func(s *Settings) { s.Protocol = "spdy/4" }, "HTTP/3 in clear": func(s *Settings) { s.Protocol = h3 },
		"tls":       func(s *Settings) { s.TLS = "1.1" },
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

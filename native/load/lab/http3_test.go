package lab

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/netext"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// A quicServer is that of a world. It takes early data, which nobody should send.
type quicServer struct {
	mutex sync.Mutex
	conns []*quic.Conn
}

// overQUIC is a world whose server speaks HTTP/3.
func (w *world) overQUIC(change func(*Settings)) *world {
	w.t.Helper()
	identity := testkit.NewIdentity(w.t, host)
	w.settings.Authority = identity.Certificate
	w.quic = &quicServer{}
	settings := &quic.Config{Allow0RTT: true, MaxIncomingStreams: 10}
	w.settings.Port = testkit.ServeHTTP3(w.t, identity, settings, w.handle, func(conn *quic.Conn) {
		w.quic.mutex.Lock()
		defer w.quic.mutex.Unlock()
		w.quic.conns = append(w.quic.conns, conn)
		w.accepted.Add(1)
	})
	w.settle(change)
	return w.begun()
}

// end ends all connections with a code.
func (s *quicServer) end(code http3.ErrCode) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, conn := range s.conns {
		_ = conn.CloseWithError(quic.ApplicationErrorCode(code), "")
	}
	s.conns = nil
}

func (w *world) carrier() *quicConn {
	w.t.Helper()
	m := w.user.inner.(*multiplexed)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	s := m.sessions["https://"+host]
	if s == nil || !s.isReady() || s.err != nil {
		w.t.Fatalf("there is no connection: %+v", s)
	}
	return s.carrier.(*quicConn)
}

// Sessions are resumed, and early data is never sent, though the server takes it.
func TestASecondConnectionIsResumedWithoutEarlyData(t *testing.T) {
	for _, resumption := range []bool{true, false} {
		w := newWorld(t, h3, "1.3", func(s *Settings) { s.TLSResumption, s.Fresh = resumption, true })
		w.mustAsk("/a")
		w.user.begins(t.Context(), nil)
		w.mustAsk("/b")
		state := w.carrier().conn.ConnectionState()
		if state.TLS.DidResume != resumption || state.Used0RTT {
			t.Errorf("resumption %v: %v, early data %v", resumption, state.TLS.DidResume, state.Used0RTT)
		}
		if w.accepted.Load() != 2 {
			t.Errorf("%d connections", w.accepted.Load())
		}
	}
}

// The server allows ten at once.
func TestRequestsWaitForRoom(t *testing.T) {
	w := newWorld(t, h3, "1.3", nil)
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() { w.mustAsk(fmt.Sprintf("/%d", i)) })
	}
	all.Wait()
	if report := w.report(); report.Requests.Ended != 60 || report.Connections != 1 {
		t.Errorf("%+v", report)
	}
}

func TestAConnectionThatTheServerEndsIsMadeAgain(t *testing.T) {
	w := newWorld(t, h3, "1.3", nil)
	w.mustAsk("/a")
	first := w.carrier()
	w.quic.end(http3.ErrCodeNoError)
	testkit.Eventually(t, "it has ended", first.over)
	w.mustAsk("/b")
	if report := w.report(); w.accepted.Load() != 2 || report.Requests.Ended != 2 || report.Requests.Failed != 0 {
		t.Errorf("%d connections, %+v", w.accepted.Load(), report)
	}
}

// What was asked on a connection that ends before any answer is asked again on another one, as over TCP.
func TestAnAnswerThatCannotComeIsAskedForAgain(t *testing.T) {
	w := newWorld(t, h3, "1.3", nil)
	asked := make(chan error, 1)
	go func() {
		_, _, err := w.ask(t.Context(), "GET", "/wait", "")
		asked <- err
	}()
	testkit.Eventually(t, "it is asked", func() bool { return w.waiting.Load() == 1 })
	w.quic.end(http3.ErrCodeNoError)
	close(w.release)
	if err := <-asked; err != nil {
		t.Error(err)
	}
	if report := w.report(); report.Requests.Ended != 1 || report.Connections != 2 {
		t.Errorf("%+v", report)
	}
}

func TestErrorsOfHTTP3(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Settings)
		kind   string
	}{
		"nobody listens":    {func(s *Settings) { s.Port, s.RequestTimeoutS = 1, 0.3 }, kindTimeout},
		"another authority": {func(s *Settings) { s.Authority = testkit.NewIdentity(t, host).Certificate }, kindTLS},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, h3, "1.3", nil)
			changed := *w.settings
			c.change(&changed)
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

func TestKindsOfQUIC(t *testing.T) {
	for want, all := range map[string][]error{
		kindReset:    {&quic.StatelessResetError{}},
		kindTLS:      {&quic.TransportError{ErrorCode: 0x100 + 42}},
		kindRefused:  {&quic.TransportError{ErrorCode: quic.ConnectionRefused, Remote: true}},
		kindClosed:   {&http3.Error{ErrorCode: http3.ErrCodeNoError}, &quic.ApplicationError{ErrorCode: 0x100}},
		kindGoAway:   {fmt.Errorf("%w: %w", exchange.ErrRefused, &http3.Error{ErrorCode: http3.ErrCodeRequestRejected})},
		kindTimeout:  {&quic.IdleTimeoutError{}, &quic.HandshakeTimeoutError{}},
		kindProtocol: {&http3.Error{ErrorCode: http3.ErrCodeFrameError}, &quic.TransportError{ErrorCode: quic.ProtocolViolation}, &quic.VersionNegotiationError{}},
	} {
		for _, err := range all {
			if kind := kindOf(fmt.Errorf("around: %w", err)); kind != want {
				t.Errorf("%v is %s, not %s", err, kind, want)
			}
		}
	}
	if kind := kindOfQUIC(errors.New("none of QUIC's")); kind != "" {
		t.Error(kind)
	}
}

// A probe would be sent when five round trips have passed since the handshake.
func TestNoPathIsProbedAndNothingIsMarked(t *testing.T) {
	var heard *testkit.Overheard
	w := newWorld(t, h3, "1.3", func(s *Settings) {
		heard = testkit.Overhear(t, s.Port)
		s.Port = heard.Port
	})
	for range 8 {
		w.mustAsk("/a")
		time.Sleep(30 * time.Millisecond)
	}
	heard.RequirePlain(t)
}

func TestSecretsOfTheFirstConnectionsAreKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys.log")
	w := newWorld(t, h3, "1.3", func(s *Settings) { s.KeyLog = name })
	w.mustAsk("/a")
	text, err := os.ReadFile(name)
	for _, secret := range []string{"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_HANDSHAKE_TRAFFIC_SECRET ", "CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "} {
		if strings.Count(string(text), secret) != 1 {
			t.Errorf("%s in %q, %v", secret, text, err)
		}
	}
	w.settings.keys.size = mostKeyLog
	if count, err := w.settings.keys.Write([]byte("more\n")); count != 5 || err != nil {
		t.Errorf("a long load: %d, %v", count, err)
	}
	if after, _ := os.ReadFile(name); len(after) != len(text) {
		t.Error("a long load has all of them")
	}
}

func TestDatagramsAreCounted(t *testing.T) {
	before, err := datagramsIn(countersOfUDP)
	if err != nil {
		t.Fatal(err)
	}
	newWorld(t, h3, "1.3", nil).mustAsk("/a")
	now, err := datagramsIn(countersOfUDP)
	if told := now.since(before); err != nil || told.Received < 4 || told.Dropped < 0 {
		t.Errorf("%+v, %v", told, err)
	}
	if _, err := datagramsOf([]string{"Udp:", "InDatagrams"}, []string{"Udp:", "3"}); err == nil {
		t.Error("a counter that is not there is none")
	}
	if _, err := datagramsOf([]string{"Udp:", "InDatagrams", "RcvbufErrors"}, []string{"Udp:", "3"}); err == nil {
		t.Error("a value that is not there is none")
	}
}

// A load whose warm-up ended without a count would else tell the datagrams of the warm-up, too.
func TestAWarmUpThatEndsUncountedIsTold(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "snmp")
	for protocol, told := range map[string]bool{h3: true, h2: false} {
		o := &labOutput{settings: &Settings{Protocol: protocol}, counters: absent, lag: newLag()}
		o.warmedUp()
		o.counters = countersOfUDP
		if datagrams, err := o.datagrams(); (err != nil) != told || datagrams != nil {
			t.Errorf("%s: %+v, %v", protocol, datagrams, err)
		}
		close(o.lag.stop)
	}
}

package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"

	"lanelab/gateway/internal/exchange"
)

// mostAttempts of a request that the server says it has not processed: it is made again on another connection.
const mostAttempts = 5

// multiplexed has one connection to each host, which carries all requests. One that is lost or leaves is replaced.
type multiplexed struct {
	connector *connector

	mutex    sync.Mutex
	sessions map[string]*session // by scheme and host
	all      map[*session]struct{}
}

// A carrier is a connection that carries requests side by side: over TCP in streams.go, over QUIC in http3.go.
type carrier interface {
	// roundTrip's error is an exchange.ErrNotProcessed where the request may be made again on another connection.
	roundTrip(request *http.Request, trace *httptrace.ClientTrace) (*http.Response, error)
	over() bool // nothing new can begin on it
	done() <-chan struct{}
	close()
	seen() net.Conn // as k6 is told of it
	secured() *tls.ConnectionState
}

// A session is a connection, or one that is being made.
type session struct {
	ready   chan struct{} // closed when the rest is there
	err     error
	carrier carrier
}

func newMultiplexed(c *connector) *multiplexed {
	return &multiplexed{connector: c, sessions: map[string]*session{}, all: map[*session]struct{}{}}
}

// RoundTrip implements http.RoundTripper.
func (m *multiplexed) RoundTrip(request *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(request.Context())
	if trace == nil {
		trace = &httptrace.ClientTrace{}
	}
	if trace.GetConn != nil {
		trace.GetConn(request.URL.Host)
	}
	for attempt := 1; ; attempt++ {
		response, err := m.attempt(request, trace)
		again := errors.Is(err, exchange.ErrNotProcessed) && (request.Body == nil || request.GetBody != nil)
		if !again || attempt == mostAttempts || request.Context().Err() != nil {
			return response, err
		}
	}
}

func (m *multiplexed) attempt(request *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	s, reused, err := m.session(request)
	if err != nil {
		return nil, err
	}
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: s.carrier.seen(), Reused: reused})
	}
	return s.carrier.roundTrip(request, trace)
}

// cause is the context's own error where that is why.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (s *session) over() bool { return s.carrier.over() }

// session gives the host's connection, and makes one where there is none.
func (m *multiplexed) session(request *http.Request) (found *session, reused bool, err error) {
	key := request.URL.Scheme + "://" + request.URL.Host
	m.mutex.Lock()
	s := m.sessions[key]
	if s != nil && s.isReady() && (s.err != nil || s.over()) {
		s = nil
	}
	if reused = s != nil; !reused {
		s = &session{ready: make(chan struct{})}
		m.sessions[key], m.all[s] = s, struct{}{}
		go m.connect(context.WithoutCancel(request.Context()), s, request.URL.Hostname())
	}
	m.mutex.Unlock()
	select {
	case <-s.ready:
		return s, reused, s.err
	case <-request.Context().Done():
		return nil, false, request.Context().Err()
	}
}

func (s *session) isReady() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// connect has a time of its own: others wait for the connection too, and who asked first may give up.
func (m *multiplexed) connect(ctx context.Context, s *session, host string) {
	ctx, cancel := context.WithTimeout(ctx, m.connector.settings.timeout())
	defer cancel()
	s.carrier, s.err = m.connector.carrier(ctx, host)
	if wanted := m.handOut(s); s.err != nil {
		return
	} else if !wanted {
		s.carrier.close()
	}
	m.connector.recorder.spoke(m.connector.settings.Protocol, s.carrier.secured())
	go func() {
		<-s.carrier.done()
		m.forget(s)
	}()
}

// handOut lets everybody have the session, and says whether it is wanted: all may have been ended while it was being made.
func (m *multiplexed) handOut(s *session) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	_, wanted := m.all[s]
	if s.err != nil {
		delete(m.all, s)
	}
	close(s.ready)
	return wanted
}

func (m *multiplexed) forget(s *session) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.all, s)
}

// CloseIdleConnections ends all of them: called when nothing is under way.
func (m *multiplexed) CloseIdleConnections() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for s := range m.all {
		if s.isReady() && s.err == nil {
			s.carrier.close()
		} else {
			delete(m.all, s) // it is being made: it ends as soon as it is there
		}
	}
	clear(m.sessions)
}

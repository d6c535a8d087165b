package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptrace"
	"strconv"
	"time"

	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/netext"
)

// A connector makes one user's connections: all to one address, whatever the URL's host is.
type connector struct {
	settings *Settings
	recorder *recorder
	dialer   lib.DialContexter
	tls      *tls.Config // nil in clear
	address  string
}

func newConnector(s *Settings, r *recorder, state *lib.State) *connector {
	c := &connector{settings: s, recorder: r, dialer: state.Dialer, address: net.JoinHostPort(s.Address, strconv.Itoa(s.Port))}
	if own, ok := c.dialer.(*netext.Dialer); ok {
		own.Timeout = s.timeout() // k6 gives up after 30 s, whatever the request's time is
		own.KeepAlive = -1        // no packets that nobody asked for
	}
	if s.TLS != "off" {
		c.tls = s.tlsConfig(state.TLSConfig)
	}
	return c
}

// dial is TCP alone.
func (c *connector) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	began := time.Now()
	conn, err := c.dialer.DialContext(ctx, network, c.address)
	if err == nil {
		c.recorder.connected(time.Since(began))
	}
	return conn, err
}

// whole is a connection that is ready for its protocol.
func (c *connector) whole(ctx context.Context, host string) (net.Conn, *tls.ConnectionState, error) {
	conn, err := c.dial(ctx, "tcp", "")
	if err != nil || c.tls == nil {
		return conn, nil, err
	}
	secured := c.client(conn, host)
	state, err := handshake(ctx, secured, httptrace.ContextClientTrace(ctx))
	if err == nil && state.NegotiatedProtocol != c.settings.Protocol {
		err = fmt.Errorf("%w: asked for %s by ALPN, it chose %q", errProtocol, c.settings.Protocol, state.NegotiatedProtocol)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return secured, &state, nil
}

// client is TLS over a connection, before its handshake.
func (c *connector) client(conn net.Conn, host string) *tls.Conn {
	config := c.tls.Clone()
	config.ServerName = host
	return tls.Client(conn, config)
}

// handshake lets k6 see when it begins and ends.
func handshake(ctx context.Context, secured *tls.Conn, trace *httptrace.ClientTrace) (tls.ConnectionState, error) {
	if trace != nil && trace.TLSHandshakeStart != nil {
		trace.TLSHandshakeStart()
	}
	err := secured.HandshakeContext(ctx)
	state := secured.ConnectionState()
	if trace != nil && trace.TLSHandshakeDone != nil {
		trace.TLSHandshakeDone(state, err)
	}
	return state, err
}

// carrier is a connection that carries all requests, ready for the first.
func (c *connector) carrier(ctx context.Context, host string) (carrier, error) {
	if c.settings.Protocol == h3 {
		return c.overQUIC(ctx, host)
	}
	conn, state, err := c.whole(ctx, host)
	if err != nil {
		return nil, err
	}
	return newStreams(conn, state, c.settings)
}

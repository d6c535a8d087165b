package lab

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
)

// A lateTLS is a connection whose TLS begins with its first byte. The transport takes it for one that is ready, so a request has it as soon
// as TCP is there, as in clear, and waits for that handshake, whatever other connection becomes free.
type lateTLS struct {
	*tls.Conn
	once      sync.Once
	handshake func() error
	err       error
}

func (l *lateTLS) begin() error {
	l.once.Do(func() { l.err = l.handshake() })
	return l.err
}

// Read implements net.Conn.
func (l *lateTLS) Read(into []byte) (int, error) {
	if err := l.begin(); err != nil {
		return 0, err
	}
	return l.Conn.Read(into)
}

// Write implements net.Conn.
func (l *lateTLS) Write(data []byte) (int, error) {
	if err := l.begin(); err != nil {
		return 0, err
	}
	return l.Conn.Write(data)
}

// securedLater dials TCP, and has TLS begin with the first byte.
func (c *connector) securedLater(ctx context.Context, network, address string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx, network, "")
	if err != nil {
		return nil, err
	}
	secured, trace := c.client(conn, name), httptrace.ContextClientTrace(ctx)
	shake := func() error {
		// No context: the request's time ends it, as the transport then closes the connection.
		state, err := handshake(context.Background(), secured, trace)
		if err == nil {
			c.recorder.spoke(c.settings.Protocol, &state)
		}
		return err
	}
	return &lateTLS{Conn: secured, handshake: shake}, nil
}

package front

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/h2"
	"lanelab/gateway/internal/relay"
)

// mostClients at a time, of a reverse proxy.
const mostClients = 100_000

// ListenForAll begins to listen for any client: HTTP/1.1, and HTTP/2 where the settings have it; in TLS as its handshake says, in clear as the
// client begins.
func ListenForAll(addresses config.Addresses, certificate, key string, settings *config.Reverse, to *relay.Relay) (*Front, error) {
	var secure *tls.Config
	if settings.Secure() {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("cannot read the certificate %s with the key %s: %w", certificate, key, err)
		}
		version := uint16(tls.VersionTLS13)
		if settings.TLS == "1.2" {
			version = tls.VersionTLS12
		}
		secure = &tls.Config{
			Certificates: []tls.Certificate{pair}, MinVersion: version, MaxVersion: version, NextProtos: offered(settings),
			SessionTicketsDisabled: !settings.TLSResumption,
		}
	}
	f, err := newFront(addresses, to, mostClients)
	if err != nil {
		return nil, err
	}
	f.config, f.reverse, f.http1 = secure, settings, newHTTP1Front(settings, to)
	f.begin()
	return f, nil
}

func offered(settings *config.Reverse) []string {
	if settings.Protocol == config.H2 {
		return []string{"h2", "http/1.1"}
	}
	return []string{"http/1.1"}
}

// serveClient serves a client until its connection ends.
func (f *Front) serveClient(conn net.Conn) {
	speaks := ""
	if f.config != nil {
		secured := tls.Server(conn, f.config)
		ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
		err := secured.HandshakeContext(ctx)
		cancel()
		if err != nil {
			tellInClear(err)
			return
		}
		conn, speaks = secured, secured.ConnectionState().NegotiatedProtocol
	} else if f.reverse.Protocol == config.H2 {
		conn, speaks = beginning(conn)
	}
	if speaks != "h2" {
		f.http1.serve(conn)
		return
	}
	session := h2.Serve(conn, func(x *h2.Exchange) { f.relay.Serve(x) })
	<-session.Done()
	session.Wait()
}

// tellInClear answers who speaks HTTP without TLS.
func tellInClear(err error) {
	var record tls.RecordHeaderError
	if errors.As(err, &record) && record.Conn != nil {
		io.WriteString(record.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}
}

// beginning tells by its first bytes what a client speaks in clear.
func beginning(conn net.Conn) (net.Conn, string) {
	reader := bufio.NewReader(conn)
	begun := &begunConn{conn, reader}
	for count := 1; count <= len(http2.ClientPreface); count++ {
		first, err := reader.Peek(count)
		if err != nil || !strings.HasPrefix(http2.ClientPreface, string(first)) {
			return begun, ""
		}
	}
	return begun, "h2"
}

// A begunConn is a connection of which something was read already.
type begunConn struct {
	net.Conn
	reader *bufio.Reader
}

func (c *begunConn) Read(p []byte) (int, error) { return c.reader.Read(p) }

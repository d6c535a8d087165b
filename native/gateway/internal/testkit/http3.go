package testkit

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// ServeHTTP3 is a server of quic-go's own, as Caddy has it, on a free port of the loopback until the test ends. accepted hears of each connection.
func ServeHTTP3(t testing.TB, identity *Identity, settings *quic.Config, handle http.HandlerFunc, accepted func(*quic.Conn)) (port int) {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(t, err)
	server := &http3.Server{
		Handler: handle, QUICConfig: settings, TLSConfig: &tls.Config{Certificates: []tls.Certificate{identity.TLS}},
		ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
			accepted(conn)
			return ctx
		},
	}
	go server.Serve(socket)
	t.Cleanup(func() {
		server.Close()
		socket.Close()
	})
	return PortUDP(socket.LocalAddr())
}

package h3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/config"
)

// silence is how long a connection may be without a packet, as in Chromium.
const silence = 30 * time.Second

// Dial makes a connection of QUIC. It has the socket to itself, which ends with it, or at once where there is no connection.
//
// The fetcher and each user of a load begin here: they differ in what they ask, and in nothing of QUIC.
func Dial(ctx context.Context, socket *net.UDPConn, remote net.Addr, secured *tls.Config, handshake time.Duration) (*quic.Conn, error) {
	var conn *quic.Conn
	err := plainDatagrams()
	if err == nil {
		conn, err = quic.Dial(ctx, socket, remote, secured, quicSettings(handshake))
	}
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	context.AfterFunc(conn.Context(), func() { _ = socket.Close() })
	return conn, nil
}

// plainDatagrams: a capture has each datagram as it is on the link, and none has a mark that the link's queues would act upon. quic-go else hands
// several over as one and marks them for ECN, and says on stderr that its socket has a small buffer. What does not fit into that no capture shows, which
// is taken before the socket: the kernel counts it, and a trial is judged by these counts.
var plainDatagrams = sync.OnceValue(func() error {
	var err error
	for _, name := range []string{"QUIC_GO_DISABLE_GSO", "QUIC_GO_DISABLE_ECN", "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"} {
		err = errors.Join(err, os.Setenv(name, "true"))
	}
	return err
})

// quicSettings: no early data (Dial sends none), and no packets that nobody asked for. A path is not probed for larger packets: a probe is one more in
// captures and in counts of packets, and may be lost, and requests are small. What the server may send ahead is as in Chromium.
func quicSettings(handshake time.Duration) *quic.Config {
	return &quic.Config{
		Versions: []quic.Version{quic.Version1}, HandshakeIdleTimeout: handshake, MaxIdleTimeout: silence, MaxIncomingStreams: -1,
		InitialStreamReceiveWindow: config.ChromiumWindow, MaxStreamReceiveWindow: config.ChromiumWindow,
		InitialConnectionReceiveWindow: config.ChromiumConnection, MaxConnectionReceiveWindow: config.ChromiumConnection,
		DisablePathMTUDiscovery: true,
	}
}

// Require ends a connection on which the server chose something else, or whose early data nobody asked for.
func Require(conn *quic.Conn) error {
	state := conn.ConnectionState()
	if state.TLS.NegotiatedProtocol == string(config.H3) && !state.Used0RTT {
		return nil
	}
	_ = conn.CloseWithError(codeNone, "")
	return fmt.Errorf("asked for %s by ALPN without early data, it chose %q (early: %v)", config.H3, state.TLS.NegotiatedProtocol, state.Used0RTT)
}

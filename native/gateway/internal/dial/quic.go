package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/wirelog"
)

// quicSilence is how long a connection may be silent, as in Chromium.
const quicSilence = 30 * time.Second

// plainDatagrams: a capture has each datagram as it is on the link, and none has a mark that the link's queues would act upon. quic-go else hands
// several over as one and marks them for ECN, and says on stderr that its socket has a small buffer. What does not fit into that no capture shows, which
// is taken before the socket: the kernel counts it, and a fetch is judged by these counts.
var plainDatagrams = sync.OnceValue(func() error {
	var err error
	for _, name := range []string{"QUIC_GO_DISABLE_GSO", "QUIC_GO_DISABLE_ECN", "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"} {
		err = errors.Join(err, os.Setenv(name, "true"))
	}
	return err
})

// quicConfig: no early data (Dial sends none), and no packets that nobody asked for.
func (d *Dialer) quicConfig() *quic.Config {
	stream, connection := uint64(d.wire.StreamWindow), uint64(d.wire.ConnectionWindow)
	return &quic.Config{
		Versions: []quic.Version{quic.Version1}, HandshakeIdleTimeout: connectTime, MaxIdleTimeout: quicSilence, MaxIncomingStreams: -1,
		InitialStreamReceiveWindow: stream, MaxStreamReceiveWindow: stream,
		InitialConnectionReceiveWindow: connection, MaxConnectionReceiveWindow: connection,
		DisablePathMTUDiscovery: true,
	}
}

// connectQUIC makes a connection over UDP to the first of the addresses that answers. Its handshake is QUIC's and TLS's in one.
func (d *Dialer) connectQUIC(ctx context.Context, conn *Conn, host string, addresses []netip.Addr) error {
	err := errors.New("it has no address")
	for _, address := range addresses {
		conn.Remote = d.at(address)
		if err = d.overUDP(ctx, conn, host, net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, uint16(d.wire.Port)))); err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot connect to %s by QUIC: %w", host, err)
}

func (d *Dialer) overUDP(ctx context.Context, conn *Conn, host string, remote *net.UDPAddr) error {
	if err := plainDatagrams(); err != nil {
		return err
	}
	socket, err := socketTo(remote)
	if err != nil {
		return err
	}
	conn.Local = socket.LocalAddr().String()
	transport := &quic.Transport{Conn: socket}
	end := func() {
		_ = transport.Close()
		_ = socket.Close()
	}
	made, err := transport.Dial(ctx, remote, d.tlsConfig(host), d.quicConfig())
	if err != nil {
		end()
		return err
	}
	go func() {
		<-made.Context().Done()
		end()
	}()
	state := made.ConnectionState()
	now := d.log.Now()
	conn.quic, conn.State = made, &state.TLS
	conn.Connected, conn.Secured = wirelog.At(now), wirelog.At(now)
	conn.know(&state.TLS)
	if conn.ALPN != string(config.H3) || state.Used0RTT {
		_ = made.CloseWithError(0, "")
		return fmt.Errorf("asked for %s by ALPN without early data, it chose %q (early: %v)", config.H3, conn.ALPN, state.Used0RTT)
	}
	return nil
}

// socketTo is a socket at the address from which packets to remote leave, so that it can be told of. Nothing is sent for that.
func socketTo(remote *net.UDPAddr) (*net.UDPConn, error) {
	asking, err := net.DialUDP("udp", nil, remote)
	if err != nil {
		return nil, err
	}
	defer asking.Close()
	local, ok := asking.LocalAddr().(*net.UDPAddr)
	if !ok {
		return nil, fmt.Errorf("a socket at %v, which is no address of UDP", asking.LocalAddr())
	}
	return net.ListenUDP("udp", &net.UDPAddr{IP: local.IP, Zone: local.Zone})
}

// QUIC is the connection where it is one of QUIC; else nil.
func (c *Conn) QUIC() *quic.Conn { return c.quic }

package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/h3"
	"lanelab/gateway/internal/wirelog"
)

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
	socket, err := socketTo(remote)
	if err != nil {
		return err
	}
	conn.Local = socket.LocalAddr().String()
	made, err := h3.Dial(ctx, socket, remote, d.tlsConfig(host), connectTime)
	if err != nil {
		return err
	}
	state := made.ConnectionState()
	now := d.log.Now()
	conn.quic, conn.State = made, &state.TLS
	conn.Connected, conn.Secured = wirelog.At(now), wirelog.At(now)
	conn.know(&state.TLS)
	return h3.Require(made)
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

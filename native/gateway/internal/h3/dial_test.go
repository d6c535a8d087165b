package h3

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/testkit"
)

// byItself dials as quic-go does where nobody asks for anything else.
func byItself(ctx context.Context, socket *net.UDPConn, remote net.Addr, secured *tls.Config, _ time.Duration) (*quic.Conn, error) {
	return quic.Dial(ctx, socket, remote, secured, nil)
}

// overheard is a peer between whom and its client somebody listens.
func overheard(t *testing.T, dial dialing) (*peer, *testkit.Overheard) {
	t.Helper()
	listener := listen(t, "h3", nil)
	heard := testkit.Overhear(t, testkit.PortUDP(listener.Addr()))
	return peerBehind(t, heard.Port, listener, settingsOnly, dial), heard
}

func (p *peer) mustAnswer(t *testing.T) {
	t.Helper()
	p.answers(t, head(":status", "204"))
	response, _, err := p.asks(t, "/")
	if err == nil {
		_, err = io.ReadAll(response.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoPathIsProbedAndNothingIsMarked(t *testing.T) {
	var asked int
	t.Run("as it would be", func(t *testing.T) {
		t.Setenv("QUIC_GO_DISABLE_ECN", "false")
		p, heard := overheard(t, byItself)
		testkit.Eventually(t, "a probe and a mark", func() bool {
			asked++
			p.mustAnswer(t)
			probed, marked := heard.Extra()
			return probed && marked
		})
	})
	t.Run("as it is", func(t *testing.T) {
		p, heard := overheard(t, Dial)
		for range asked + 30 {
			p.mustAnswer(t)
			time.Sleep(5 * time.Millisecond)
		}
		heard.RequirePlain(t)
	})
}

func TestASocketEndsWithItsConnection(t *testing.T) {
	var used *net.UDPConn
	listener := listen(t, "h3", nil)
	watched := func(ctx context.Context, socket *net.UDPConn, remote net.Addr, secured *tls.Config, handshake time.Duration) (*quic.Conn, error) {
		used = socket
		return Dial(ctx, socket, remote, secured, handshake)
	}
	p := peerBehind(t, testkit.PortUDP(listener.Addr()), listener, settingsOnly, watched)
	if err := used.SetDeadline(time.Time{}); err != nil {
		t.Errorf("it has ended: %v", err)
	}
	p.client.Close()
	testkit.Eventually(t, "it ends", func() bool { return used.SetDeadline(time.Time{}) != nil })
}

func TestASocketEndsWhereThereIsNoConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	socket, err := net.ListenUDP("udp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(ctx, socket, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, &tls.Config{NextProtos: []string{"h3"}}, time.Second); err == nil {
		t.Error("there is a connection to nobody")
	}
	if socket.SetDeadline(time.Time{}) == nil {
		t.Error("the socket is left")
	}
}

func TestAConnectionForSomethingElseIsEnded(t *testing.T) {
	listener := listen(t, "h2", nil)
	secured := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}
	conn, err := quic.DialAddr(t.Context(), listener.Addr().String(), secured, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Require(conn); err == nil || conn.Context().Err() == nil {
		t.Errorf("%v; it goes on: %v", err, conn.Context().Err() == nil)
	}
}

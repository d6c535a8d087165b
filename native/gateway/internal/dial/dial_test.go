package dial

import (
	"io"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/testkit"
	"lanelab/gateway/internal/wirelog"
)

// The next address is tried where one does not answer, and what crosses the wire is counted.
func TestTheNextAddressIsTried(t *testing.T) {
	listener := testkit.Listen(t) // on 127.0.0.1 only
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			io.CopyN(conn, conn, 5)
			conn.Close()
		}
	}()
	d := newDialer(t, config.Wire{Protocol: config.HTTP1, Port: testkit.Port(listener.Addr()), TLS: "off"})
	conn, err := connect(t, d, host, append([]netip.Addr{netip.MustParseAddr("127.0.0.9")}, loopback...))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "hello")
	if text, err := io.ReadAll(conn); string(text) != "hello" || err != nil || conn.Sent() != 5 || conn.Received() != 5 {
		t.Errorf("%q, %v; %d bytes sent, %d received", text, err, conn.Sent(), conn.Received())
	}
	if conn.Remote != listener.Addr().String() || conn.Connected == nil || conn.Secured != nil || !conn.Covers("b.example") {
		t.Errorf("%+v", conn)
	}
}

func TestWithoutAddresses(t *testing.T) {
	d := newDialer(t, config.Wire{Protocol: config.HTTP1, Port: 1, TLS: "off"})
	if conn, err := connect(t, d, host, nil); err == nil || conn == nil {
		t.Errorf("%v, %v", conn, err)
	}
}

func TestCertificatesCoverTheirNames(t *testing.T) {
	identity := testkit.NewIdentity(t, host, "*.b.example")
	d := newDialer(t, config.Wire{Protocol: config.H2, Port: serve(t, identity), TLS: "1.3", Trust: []string{identity.Pin}})
	conn, err := connect(t, d, host, loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, covered := range map[string]bool{host: true, "x.b.example": true, "b.example": false, "c.example": false} {
		if conn.Covers(name) != covered {
			t.Errorf("%s: %v", name, !covered)
		}
	}
}

// However many ask at the same time, a name is looked up once; what failed is looked up again.
func TestNamesAreLookedUpOnce(t *testing.T) {
	var questions atomic.Int32
	server := resolver(t, func(question dnsmessage.Message) [][]byte {
		if questions.Add(1) <= 2 { // A and AAAA
			return [][]byte{answer(question, func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeServerFailure })}
		}
		return [][]byte{answer(question, nil, v4(1))}
	}, nil)
	log, err := wirelog.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	names := NewNames(&config.DNS{Mode: config.Resolver, Server: server, Hosts: config.Hosts{host: ""}}, log)
	if !names.Known(host) || names.Known("b.example") {
		t.Error("it does not know its names")
	}
	if _, err := names.Addresses(t.Context(), host); err == nil {
		t.Error("a refusal gave addresses")
	}
	if _, ready := names.Ready(host); ready {
		t.Error("addresses are ready after a refusal")
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if addresses, err := names.Addresses(t.Context(), host); err != nil || len(addresses) != 1 {
				t.Errorf("%v, %v", addresses, err)
			}
		})
	}
	all.Wait()
	if _, ready := names.Ready(host); !ready || questions.Load() != 4 {
		t.Errorf("%v after %d questions", ready, questions.Load())
	}
}

package dial

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net/netip"
	"path/filepath"
	"reflect"
	"testing"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/testkit"
	"lanelab/gateway/internal/wirelog"
)

const host = "a.example"

var loopback = []netip.Addr{netip.MustParseAddr("127.0.0.1")}

func newDialer(t *testing.T, wire config.Wire) *Dialer {
	t.Helper()
	log, err := wirelog.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return New(&wire, log, nil)
}

// connect makes a connection whole.
func connect(t *testing.T, d *Dialer, host string, addresses []netip.Addr) (*Conn, error) {
	conn, err := d.Dial(t.Context(), host, addresses)
	if err == nil {
		err = d.Secure(t.Context(), conn, host)
	}
	return conn, err
}

// serve is a TLS server that says one byte, behind which TLS 1.3's tickets are.
func serve(t *testing.T, identity *testkit.Identity) (port int) {
	t.Helper()
	listener := tls.NewListener(testkit.Listen(t), &tls.Config{Certificates: []tls.Certificate{identity.TLS}, NextProtos: []string{"h2"}})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn.Write([]byte("x"))
				io.Copy(io.Discard, conn)
			}()
		}
	}()
	return testkit.Port(listener.Addr())
}

// resumed says for each of as many connections, all open at the same time, whether its session was resumed.
func resumed(t *testing.T, d *Dialer, count int) (all []bool) {
	t.Helper()
	var conns []*Conn
	for range count {
		conn, err := connect(t, d, host, loopback)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns, all = append(conns, conn), append(all, conn.Resumed)
	}
	for _, conn := range conns {
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// This server gives one ticket for each connection.
func TestSessionsAreResumedAsInChromium(t *testing.T) {
	for _, c := range []struct {
		version       string
		resumption    bool
		second, third []bool
	}{
		{"1.3", true, []bool{true, false, false}, []bool{true, true, false}},
		{"1.2", true, []bool{true, true, true}, []bool{true, true, true}},
		{"1.3", false, []bool{false, false, false}, []bool{false, false, false}},
	} {
		identity := testkit.NewIdentity(t, host)
		d := newDialer(t, config.Wire{
			Protocol: config.H2, Port: serve(t, identity), TLS: c.version, TLSResumption: c.resumption, Trust: []string{identity.Pin},
		})
		if first := resumed(t, d, 1); first[0] {
			t.Errorf("%s: the first connection was resumed", c.version)
		}
		if got := resumed(t, d, 3); !reflect.DeepEqual(got, c.second) {
			t.Errorf("%s %v: after one connection %v were resumed", c.version, c.resumption, got)
		}
		if got := resumed(t, d, 3); !reflect.DeepEqual(got, c.third) {
			t.Errorf("%s %v: after three more %v were resumed", c.version, c.resumption, got)
		}
	}
}

func TestSessionsAreOfOneHost(t *testing.T) {
	s := newSessions(tls.VersionTLS13)
	first, second, third := new(tls.ClientSessionState), new(tls.ClientSessionState), new(tls.ClientSessionState)
	for _, session := range []*tls.ClientSessionState{first, second, third} {
		s.Put("a", session)
	}
	if _, there := s.Get("b"); there {
		t.Error("another host's session was given out")
	}
	for _, want := range []*tls.ClientSessionState{third, second, nil} {
		if got, there := s.Get("a"); got != want || there != (want != nil) {
			t.Errorf("got %p, %v, not %p", got, there, want)
		}
	}
	s.Put("a", first)
	s.Put("a", nil)
	if _, there := s.Get("a"); there {
		t.Error("a session that is of no use was given out")
	}
}

// hello is what a ClientHello says: its size in TCP, the groups it offers, and those of which it has keys.
type hello struct {
	size         int
	groups, keys []uint16
}

func TestGroupsOfTheClientHello(t *testing.T) {
	const mlkem, x25519, p256, p384 = 0x11ec, 29, 23, 24
	for _, c := range []struct {
		share, version string
		groups, keys   []uint16
		most           int
	}{
		{config.BrowserShare, "1.3", []uint16{mlkem, x25519, p256, p384}, []uint16{mlkem, x25519}, 1700},
		{config.X25519, "1.3", []uint16{x25519, p256, p384}, []uint16{x25519}, 400},
		{config.P256, "1.3", []uint16{p256, p384}, []uint16{p256}, 400},
		{config.BrowserShare, "1.2", []uint16{x25519, p256, p384}, nil, 400},
		{config.P256, "1.2", []uint16{p256, p384}, nil, 400},
	} {
		got := helloOf(t, config.Wire{Protocol: config.H2, TLS: c.version, TLSResumption: true, TLSKeyShare: c.share})
		if !reflect.DeepEqual(got.groups, c.groups) || !reflect.DeepEqual(got.keys, c.keys) || got.size > c.most {
			t.Errorf("%s in TLS %s: %+v", c.share, c.version, got)
		}
	}
}

func helloOf(t *testing.T, wire config.Wire) (found hello) {
	t.Helper()
	listener := testkit.Listen(t)
	wire.Port = testkit.Port(listener.Addr())
	go connect(t, newDialer(t, wire), host, loopback) // fails when the test ends
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	header := make([]byte, 5)
	if _, err := io.ReadFull(conn, header); err != nil {
		t.Fatal(err)
	}
	record := make([]byte, binary.BigEndian.Uint16(header[3:]))
	if _, err := io.ReadFull(conn, record); err != nil {
		t.Fatal(err)
	}
	found.size = len(header) + len(record)
	rest := record[4+2+32:]      // kind and length, version, random
	rest = rest[1+int(rest[0]):] // session
	_, rest = vector(rest)       // cipher suites
	rest = rest[1+int(rest[0]):] // compression
	extensions, _ := vector(rest)
	for len(extensions) > 0 {
		var content []byte
		kind := binary.BigEndian.Uint16(extensions)
		content, extensions = vector(extensions[2:])
		switch kind {
		case 10:
			for content, _ = vector(content); len(content) > 0; content = content[2:] {
				found.groups = append(found.groups, binary.BigEndian.Uint16(content))
			}
		case 51:
			for content, _ = vector(content); len(content) > 0; _, content = vector(content[2:]) {
				found.keys = append(found.keys, binary.BigEndian.Uint16(content))
			}
		}
	}
	return found
}

// vector is something with its length in two bytes before it, and what follows.
func vector(bytes []byte) (content, rest []byte) {
	end := 2 + int(binary.BigEndian.Uint16(bytes))
	return bytes[2:end], bytes[end:]
}

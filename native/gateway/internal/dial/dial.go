// Package dial makes connections on the wire: the name looked up, TCP, TLS.
package dial

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/wirelog"
)

// connectTime is how long a connection may take to be made. Chromium's figure.
const connectTime = 4 * time.Minute

// A Dialer makes connections for one wire.
type Dialer struct {
	wire     *config.Wire
	log      *wirelog.Log
	trusted  map[string]bool
	sessions tls.ClientSessionCache
	keys     io.Writer
	plain    net.Dialer
}

// New makes a dialer. keys gets TLS keys, if it is not nil.
func New(wire *config.Wire, log *wirelog.Log, keys io.Writer) *Dialer {
	d := &Dialer{wire: wire, log: log, keys: keys, trusted: map[string]bool{}}
	for _, pin := range wire.Trust {
		d.trusted[pin] = true
	}
	if wire.TLSResumption {
		d.sessions = newSessions(tlsVersion(wire))
	}
	d.plain.KeepAlive = -1 // no packets that nobody asked for
	return d
}

// A Conn is a connection that is ready for its protocol, and what is known of it.
type Conn struct {
	net.Conn
	Remote, Local string
	Began         wirelog.Time
	Connected     *wirelog.Time
	Secured       *wirelog.Time
	ALPN, TLS     string
	Resumed       bool
	State         *tls.ConnectionState // nil in clear
	counts        *counting
	quic          *quic.Conn // of HTTP/3, which has no net.Conn; else nil
}

// NoConn is one of which nothing is known.
func NoConn() *Conn { return &Conn{counts: &counting{}} }

// Sent is bytes of payload, of TCP or UDP.
func (c *Conn) Sent() int64 {
	if c.quic != nil {
		return int64(c.quic.ConnectionStats().BytesSent)
	}
	return c.counts.sent.Load()
}

// Received likewise.
func (c *Conn) Received() int64 {
	if c.quic != nil {
		return int64(c.quic.ConnectionStats().BytesReceived)
	}
	return c.counts.received.Load()
}

// know what was agreed upon in the TLS handshake.
func (c *Conn) know(state *tls.ConnectionState) {
	c.ALPN, c.TLS, c.Resumed = state.NegotiatedProtocol, tls.VersionName(state.Version), state.DidResume
}

// counting counts what crosses the wire, below TLS.
type counting struct {
	net.Conn
	sent, received atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// Dial makes a TCP connection for host at the first of its addresses that answers; of HTTP/3 a whole one over UDP, with TLS in it. What is known
// of a failed one is returned too.
func (d *Dialer) Dial(ctx context.Context, host string, addresses []netip.Addr) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn := NoConn()
	conn.Began = d.log.Now()
	if len(addresses) > 0 {
		conn.Remote = d.at(addresses[0])
	}
	if d.wire.Protocol == config.H3 {
		return conn, d.connectQUIC(ctx, conn, host, addresses)
	}
	tcp, err := d.connectTCP(ctx, addresses)
	if err != nil {
		return conn, fmt.Errorf("cannot connect to %s: %w", host, err)
	}
	conn.Connected = wirelog.At(d.log.Now())
	conn.Remote, conn.Local = tcp.RemoteAddr().String(), tcp.LocalAddr().String()
	conn.counts.Conn = tcp
	conn.Conn = conn.counts
	return conn, nil
}

func (d *Dialer) connectTCP(ctx context.Context, addresses []netip.Addr) (net.Conn, error) {
	err := errors.New("it has no address")
	for _, address := range addresses {
		var tcp net.Conn
		tcp, err = d.plain.DialContext(ctx, "tcp", d.at(address))
		if err == nil {
			return tcp, nil
		}
	}
	return nil, err
}

func (d *Dialer) at(address netip.Addr) string {
	return netip.AddrPortFrom(address, uint16(d.wire.Port)).String()
}

// Secure is the TLS handshake, where the wire has TLS and not had it yet.
func (d *Dialer) Secure(ctx context.Context, conn *Conn, host string) error {
	if !d.wire.Secure() || conn.quic != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	secured := tls.Client(conn.counts, d.tlsConfig(host))
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.counts.Close()
		return fmt.Errorf("no TLS %s for %s with %s: %w", d.wire.TLS, d.wire.Protocol, host, err)
	}
	state := secured.ConnectionState()
	now := d.log.Now()
	conn.Conn, conn.Secured, conn.State = secured, &now, &state
	conn.know(&state)
	if wanted := string(d.wire.Protocol); conn.ALPN != wanted && !(wanted == string(config.HTTP1) && conn.ALPN == "") {
		secured.Close()
		return fmt.Errorf("%s does not speak %s: asked for it by ALPN, it chose %q", host, wanted, conn.ALPN)
	}
	return nil
}

func tlsVersion(wire *config.Wire) uint16 {
	if wire.TLS == "1.3" {
		return tls.VersionTLS13
	}
	return tls.VersionTLS12
}

// groups are what a ClientHello offers. TLS 1.3 makes keys for the first, and for X25519 beside X25519MLKEM768; the others are there for
// certificates and for TLS 1.2. Chromium's are those of today and, without the first, of 2016 to 2023.
var groups = map[string][]tls.CurveID{
	config.BrowserShare: {tls.X25519MLKEM768, tls.X25519, tls.CurveP256, tls.CurveP384},
	config.X25519:       {tls.X25519, tls.CurveP256, tls.CurveP384},
	config.P256:         {tls.CurveP256, tls.CurveP384},
}

func (d *Dialer) tlsConfig(host string) *tls.Config {
	version := tlsVersion(d.wire)
	return &tls.Config{
		ServerName: host, MinVersion: version, MaxVersion: version, NextProtos: []string{string(d.wire.Protocol)},
		CurvePreferences:   groups[d.wire.TLSKeyShare],
		ClientSessionCache: d.sessions, SessionTicketsDisabled: d.sessions == nil, KeyLogWriter: d.keys,
		InsecureSkipVerify: true, VerifyConnection: d.verify, // trust is by key, as the browser's is
		DynamicRecordSizingDisabled: true, // as browsers: a record for each write
	}
}

// verify looks for a key that is trusted, in any certificate that the server shows.
func (d *Dialer) verify(state tls.ConnectionState) error {
	var shown []string
	for _, certificate := range state.PeerCertificates {
		hash := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
		pin := base64.StdEncoding.EncodeToString(hash[:])
		if d.trusted[pin] {
			return nil
		}
		shown = append(shown, pin)
	}
	return fmt.Errorf("the server's key is not trusted: it has %s, wire.trust has %s", strings.Join(shown, ", "), strings.Join(d.wire.Trust, ", "))
}

// Covers tells whether a connection's certificate is for host, too. In clear there is none to ask.
func (c *Conn) Covers(host string) bool {
	if c.State == nil {
		return true
	}
	return len(c.State.PeerCertificates) > 0 && c.State.PeerCertificates[0].VerifyHostname(host) == nil
}

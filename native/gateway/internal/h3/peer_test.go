package h3

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// How often a connection tells of an exchange whose request is sent, of one whose answer has begun, and of a whole one.
const (
	toldSent = iota + 1
	toldBegun
	toldWhole
)

// A peer is the other side of a client, which says what a test wants, in place of a server.
type peer struct {
	conn   *quic.Conn
	client *Client
}

// A dialing is Dial, or stands in its place.
type dialing func(context.Context, *net.UDPConn, net.Addr, *tls.Config, time.Duration) (*quic.Conn, error)

// listen waits for a client on the loopback, and speaks a protocol.
func listen(t *testing.T, protocol string, settings *quic.Config) *quic.Listener {
	t.Helper()
	identity := testkit.NewIdentity(t, "a.example")
	listener, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{identity.TLS}, NextProtos: []string{protocol}}, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// peerWith connects a client to a peer that has said what its control stream begins with.
func peerWith(t *testing.T, control []byte, settings *quic.Config) *peer {
	t.Helper()
	listener := listen(t, "h3", settings)
	return peerBehind(t, testkit.PortUDP(listener.Addr()), listener, control, Dial)
}

// peerBehind is one whose client comes by a port that may be another's.
func peerBehind(t *testing.T, port int, listener *quic.Listener, control []byte, dial dialing) *peer {
	t.Helper()
	p := &peer{}
	accepted := make(chan error, 1)
	go func() {
		conn, err := listener.Accept(t.Context())
		p.conn = conn
		accepted <- err
	}()
	socket, err := net.ListenUDP("udp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	secured := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h3"}}
	conn, err := dial(t.Context(), socket, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, secured, testkit.Patience)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	if control != nil {
		p.says(t, control)
	}
	if p.client, err = NewClient(conn, Settings{MaxStreams: 100}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.client.Close() })
	return p
}

func (p *peer) says(t *testing.T, content []byte) *quic.SendStream {
	t.Helper()
	stream, err := p.conn.OpenUniStream()
	if err == nil {
		_, err = stream.Write(content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// answers the next request with these bytes, and ends the stream.
func (p *peer) answers(t *testing.T, content ...[]byte) {
	go func() {
		stream, err := p.conn.AcceptStream(t.Context())
		if err != nil {
			return // the client ended first
		}
		_, _ = io.ReadAll(stream)
		_, _ = stream.Write(bytes.Join(content, nil))
		_ = stream.Close()
	}()
}

func (p *peer) asks(t *testing.T, path string) (*exchange.Response, *testkit.Notes, error) {
	notes := testkit.NewNotes(t)
	response, err := p.client.Start(t.Context(), request(path), notes)()
	return response, notes, err
}

func request(path string) *exchange.Request {
	return &exchange.Request{Method: "GET", Scheme: "https", Authority: "a.example", Path: path, Fields: []exchange.Field{{Name: "accept", Value: "*/*"}}}
}

func framed(kind uint64, payload []byte) []byte {
	return append(quicvarint.Append(quicvarint.Append(nil, kind), uint64(len(payload))), payload...)
}

func head(fields ...string) []byte {
	var block bytes.Buffer
	encoder := qpack.NewEncoder(&block)
	for at := 0; at < len(fields); at += 2 {
		encoder.WriteField(qpack.HeaderField{Name: fields[at], Value: fields[at+1]})
	}
	return framed(frameHeaders, block.Bytes())
}

func data(text string) []byte { return framed(frameData, []byte(text)) }

var settingsOnly = append([]byte{streamControl}, framed(frameSettings, nil)...)

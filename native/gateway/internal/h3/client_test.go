package h3

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// noted is what a connection tells of an exchange.
type noted struct {
	mu    sync.Mutex
	calls []string
	sizes []int // of the head: before compression, and as a frame
}

func (n *noted) add(call string, sizes ...int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls, n.sizes = append(n.calls, call), append(n.sizes, sizes...)
}

func (n *noted) Sent(_ uint32, bytes, wire, _ int) { n.add("sent", bytes, wire) }
func (n *noted) FirstByte(bytes, wire int)         { n.add("first", bytes, wire) }
func (n *noted) LastByte()                         { n.add("last") }

func (n *noted) told() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.calls, " ")
}

// A peer is the other side of a client, which says what a test wants, in place of a server.
type peer struct {
	conn   *quic.Conn
	client *Client
}

// peerWith connects a client to a peer that has said what its control stream begins with.
func peerWith(t *testing.T, control []byte, settings *quic.Config) *peer {
	t.Helper()
	identity := testkit.NewIdentity(t, "a.example")
	listener, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{identity.TLS}, NextProtos: []string{"h3"}}, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &peer{}
	accepted := make(chan error, 1)
	go func() {
		conn, err := listener.Accept(t.Context())
		p.conn = conn
		accepted <- err
	}()
	conn, err := quic.DialAddr(t.Context(), listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h3"}}, nil)
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

// answers the next request with these bytes, and ends the stream; and gives what was asked.
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

func (p *peer) asks(t *testing.T, path string) (*exchange.Response, *noted, error) {
	notes := &noted{}
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

func TestAnAnswerIsReadPastWhatNobodyKnows(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	p.says(t, append(quicvarint.Append(nil, 0x21), "grease"...)) // a stream of a type that nobody knows
	p.says(t, []byte{streamEncoder})
	final := head(":status", "200", "content-type", "text/plain", "content-length", "9")
	p.answers(t, framed(0x21, []byte("grease")), head(":status", "103", "link", "</a.css>"), final,
		data("one "), framed(0x40, nil), data(""), data("two t"), head("x-sum", "1"))
	var informed []int
	asked := request("/a?b=c")
	asked.Informed = func(status int, _ []exchange.Field) { informed = append(informed, status) }
	notes := &noted{}
	response, err := p.client.Start(t.Context(), asked, notes)()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if string(text) != "one two t" || err != nil || response.Status != 200 || len(informed) != 1 || informed[0] != 103 {
		t.Errorf("%q, %v, %d, %v", text, err, response.Status, informed)
	}
	if response.Fields[0] != (exchange.Field{Name: "content-type", Value: "text/plain"}) || len(response.Fields) != 2 {
		t.Errorf("%v", response.Fields)
	}
	plain := len(":status200content-typetext/plaincontent-length9") + 3*4
	if notes.told() != "sent first last" || notes.sizes[2] != plain || notes.sizes[3] != len(final) || notes.sizes[0] <= notes.sizes[1] {
		t.Errorf("%s: %v, not %d and %d", notes.told(), notes.sizes, plain, len(final))
	}
	if p.client.Room() != 100 {
		t.Errorf("room for %d", p.client.Room())
	}
}

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for name, content := range map[string][][]byte{
		"nothing":               nil,
		"a cut frame":           {head(":status", "200")[:3]},
		"no status":             {head("a", "b")},
		"a status twice":        {head(":status", "200", ":status", "200")},
		"a status that is none": {head(":status", "2xx")},
		"a status out of place": {head("a", "b", ":status", "200")},
		"switching protocols":   {head(":status", "101")},
		"upper case":            {head(":status", "200", "A", "b")},
		"another's field":       {head(":status", "200", "connection", "close")},
		"a length that is none": {head(":status", "200", "content-length", "-1")},
		"two lengths":           {head(":status", "200", "content-length", "1", "content-length", "2")},
		"a table that is not":   {framed(frameHeaders, []byte{2, 0})},
		"too much":              {quicvarint.Append([]byte{frameHeaders}, mostHeaderBytes+1)},
		"a promise of too much": {quicvarint.Append([]byte{0x21}, mostPassedOver+1)},
	} {
		t.Run(name, func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, content...)
			if response, notes, err := p.asks(t, "/"); err == nil || errors.Is(err, exchange.ErrNotProcessed) {
				t.Errorf("%+v, %v, %s", response, err, notes.told())
			}
			p.answers(t, head(":status", "200"), data("x"))
			if response, _, err := p.asks(t, "/"); err != nil || response.Status != 200 {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}

func TestFramesOutOfPlaceEndTheConnection(t *testing.T) {
	for name, content := range map[string][][]byte{
		"data before the head": {data("x"), head(":status", "200")},
		"of HTTP/2":            {framed(0x8, nil)},
		"a push":               {framed(framePushPromise, []byte{0})},
		"settings":             {framed(frameSettings, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, content...)
			if _, _, err := p.asks(t, "/"); err == nil {
				t.Error("it was taken")
			}
			requireEnded(t, p, codeUnexpectedFrame)
		})
	}
	for name, content := range map[string][][]byte{
		"data after trailers": {head("x", "y"), data("x")}, "a push": {framed(framePushPromise, []byte{0})},
	} {
		t.Run(name+", in a body", func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, append([][]byte{head(":status", "200"), data("x")}, content...)...)
			response, _, err := p.asks(t, "/")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(response.Body); err == nil {
				t.Error("it was taken")
			}
			requireEnded(t, p, codeUnexpectedFrame)
		})
	}
}

func TestAControlStreamThatIsNoneEndsTheConnection(t *testing.T) {
	for name, one := range map[string]struct {
		control []byte
		code    quic.ApplicationErrorCode
	}{
		"no settings":     {append([]byte{streamControl}, framed(frameGoAway, []byte{0})...), codeNoSettings},
		"settings again":  {append(bytes.Clone(settingsOnly), framed(frameSettings, nil)...), codeUnexpectedFrame},
		"data":            {append(bytes.Clone(settingsOnly), data("x")...), codeUnexpectedFrame},
		"of HTTP/2":       {append(bytes.Clone(settingsOnly), framed(0x6, nil)...), codeUnexpectedFrame},
		"settings for us": {append([]byte{streamControl, frameSettings}, quicvarint.Append(nil, mostHeaderBytes+1)...), codeFrame},
		"a push":          {[]byte{streamPush, 0}, codeNoSuchPush},
	} {
		t.Run(name, func(t *testing.T) { requireEnded(t, peerWith(t, one.control, nil), one.code) })
	}
	t.Run("an end", func(t *testing.T) {
		p := peerWith(t, nil, nil)
		p.says(t, settingsOnly).Close()
		requireEnded(t, p, codeControlEnded)
	})
}

// requireEnded waits for the end of a connection that the client broke off.
func requireEnded(t *testing.T, p *peer, code quic.ApplicationErrorCode) {
	t.Helper()
	select {
	case <-p.conn.Context().Done():
	case <-time.After(testkit.Patience):
		t.Fatal("the connection goes on")
	}
	var told *quic.ApplicationError
	if cause := context.Cause(p.conn.Context()); !errors.As(cause, &told) || told.ErrorCode != code {
		t.Errorf("%v, not %#x", cause, code)
	}
	<-p.client.Done()
	if p.client.Err() == nil || p.client.ClosedByUs() || p.client.Room() != 0 || !p.client.Leaving() {
		t.Errorf("%v", p.client.Err())
	}
}

func TestABodyThatIsNotWholeIsAnError(t *testing.T) {
	for name, content := range map[string][][]byte{
		"too short": {head(":status", "200", "content-length", "5"), data("four")},
		"too long":  {head(":status", "200", "content-length", "3"), data("four")},
		"a cut one": {head(":status", "200"), data("four")[:4]},
	} {
		t.Run(name, func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, content...)
			response, notes, err := p.asks(t, "/")
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) || notes.told() != "sent first" {
				t.Errorf("%q, %v, %s", text, err, notes.told())
			}
		})
	}
}

func TestWhatTheServerDidNotLookAtMayBeAskedForAgain(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	go func() {
		stream, err := p.conn.AcceptStream(t.Context())
		if err == nil {
			stream.CancelRead(codeRejected)
			stream.CancelWrite(codeRejected)
		}
	}()
	if _, _, err := p.asks(t, "/"); !errors.Is(err, exchange.ErrRefused) {
		t.Errorf("rejected: %v", err)
	}
	go func() {
		if _, err := p.conn.AcceptStream(t.Context()); err == nil {
			p.conn.CloseWithError(codeNone, "")
		}
	}()
	if _, _, err := p.asks(t, "/"); !errors.Is(err, exchange.ErrNotProcessed) || errors.Is(err, exchange.ErrNotSent) {
		t.Errorf("closed: %v", err)
	}
	<-p.client.Done()
	if p.client.Err() != nil || p.client.ClosedByUs() {
		t.Errorf("an orderly end: %v", p.client.Err())
	}
	if _, notes, err := p.asks(t, "/"); !errors.Is(err, exchange.ErrNotSent) || notes.told() != "" {
		t.Errorf("after the end: %v, %s", err, notes.told())
	}
}

func TestAServerThatLeavesTakesNothingNewAndEndsWhatIsUnderWay(t *testing.T) {
	p := peerWith(t, nil, nil)
	control := p.says(t, settingsOnly)
	asked := make(chan *quic.Stream, 1)
	go func() {
		stream, _ := p.conn.AcceptStream(t.Context())
		asked <- stream
	}()
	wait := p.client.Start(t.Context(), request("/"), &noted{})
	stream := <-asked
	control.Write(framed(frameGoAway, []byte{4}))
	testkit.Eventually(t, "the client knows", p.client.Leaving)
	if p.client.Room() != 0 {
		t.Error("there is room")
	}
	stream.Write(append(head(":status", "200"), data("x")...))
	stream.Close()
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(response.Body); string(text) != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	<-p.client.Done()
	if p.client.Err() != nil {
		t.Errorf("%v", p.client.Err())
	}
}

func TestWhoGivesUpTellsTheServer(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	told := make(chan error, 1)
	go func() {
		stream, err := p.conn.AcceptStream(t.Context())
		if err == nil {
			stream.Write(append(head(":status", "200"), data("some")...))
			<-stream.Context().Done()
			err = context.Cause(stream.Context())
		}
		told <- err
	}()
	response, notes, err := p.asks(t, "/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	var cancelled *quic.StreamError
	if err := <-told; !errors.As(err, &cancelled) || cancelled.ErrorCode != codeCancelled {
		t.Errorf("%v", err)
	}
	if notes.told() != "sent first" || p.client.Room() != 100 {
		t.Errorf("%s, room for %d", notes.told(), p.client.Room())
	}
}

func TestARequestWhoseTimeIsOverWaitsNoMore(t *testing.T) {
	p := peerWith(t, settingsOnly, &quic.Config{MaxIncomingStreams: 1})
	ctx, cancel := context.WithCancel(t.Context())
	first, second := &noted{}, &noted{}
	waits := []func() (*exchange.Response, error){p.client.Start(ctx, request("/1"), first), p.client.Start(ctx, request("/2"), second)}
	if first.told() != "sent" || second.told() != "" {
		t.Errorf("%q, %q", first.told(), second.told())
	}
	cancel()
	for _, wait := range waits {
		if _, err := wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if p.client.Room() != 100 {
		t.Errorf("room for %d", p.client.Room())
	}
}

func TestACloseIsOurs(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	p.client.Close()
	<-p.client.Done()
	if p.client.Err() != nil || !p.client.ClosedByUs() || !p.client.Leaving() {
		t.Errorf("%v", p.client.Err())
	}
	var told *quic.ApplicationError
	<-p.conn.Context().Done()
	if cause := context.Cause(p.conn.Context()); !errors.As(cause, &told) || told.ErrorCode != codeNone {
		t.Errorf("%v", cause)
	}
}

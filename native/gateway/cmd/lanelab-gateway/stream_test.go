package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

// page is the body whose frame is cut in two.
var page = strings.Repeat("0123456789", 200)

// A wireAnswer is what an origin that speaks a protocol sends for a request: the answer has the page, in one frame.
type wireAnswer func(t *testing.T, conn net.Conn, reader *bufio.Reader) []byte

func chunked(_ *testing.T, _ net.Conn, reader *bufio.Reader) []byte {
	next(reader)
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(page), page)
}

func framed(t *testing.T, conn net.Conn, reader *bufio.Reader) []byte {
	io.ReadFull(reader, make([]byte, len(http2.ClientPreface)))
	http2.NewFramer(conn, nil).WriteSettings()
	var wire bytes.Buffer
	framer := http2.NewFramer(&wire, reader)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return nil
		}
		if asked, is := frame.(*http2.MetaHeadersFrame); is {
			framer.WriteHeaders(http2.HeadersFrameParam{StreamID: asked.StreamID, BlockFragment: []byte{0x88}, EndHeaders: true})
			framer.WriteData(asked.StreamID, true, []byte(page))
			return wire.Bytes()
		}
	}
}

func framedBySPDY(version spdy.Version) wireAnswer {
	return func(t *testing.T, conn net.Conn, reader *bufio.Reader) []byte {
		session := spdy.NewSession(spdy.ServerRole, version, spdy.Config{
			StreamWindow: 1 << 20, SessionWindow: 1 << 20, MaxPeerStreams: 10, MaxHeaderBytes: 1 << 16, MaxControlBytes: 1 << 16,
		})
		defer session.Close()
		conn.Write(session.Produce(nil, 0).Bytes)
		for {
			piece := make([]byte, 1)
			if _, err := io.ReadFull(reader, piece); err != nil {
				return nil
			}
			events, _ := session.Receive(piece)
			for _, event := range events {
				if asked, is := event.(spdy.Opened); is {
					session.Reply(asked.StreamID, version.ResponseFields(200, []exchange.Field{}), false)
					session.Write(asked.StreamID, []byte(page), true)
					return session.Produce(nil, 1<<20).Bytes
				}
			}
		}
	}
}

// A browser works on what has come of a page, whatever frame it is in.
func TestAPageIsPassedOnBeforeItsFrameIsWhole(t *testing.T) {
	secure := testkit.NewIdentity(t, names...)
	for name, c := range map[string]struct {
		wire   settings
		answer wireAnswer
	}{
		"chunk": {settings{}, chunked}, "h2c": {settings{"protocol": "h2"}, framed},
		"h2":    {settings{"protocol": "h2", "tls": "1.3", "trust": []string{secure.Pin}}, framed},
		"spdy2": {settings{"protocol": "spdy/2"}, framedBySPDY(spdy.V2)}, "spdy3": {settings{"protocol": "spdy/3"}, framedBySPDY(spdy.V3)},
		"spdy31": {settings{"protocol": "spdy/3.1"}, framedBySPDY(spdy.V31)},
	} {
		t.Run(name, func(t *testing.T) {
			let := make(chan bool)
			o := rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) {
				if c.wire["tls"] != nil {
					conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{secure.TLS}, NextProtos: []string{"h2"}})
					reader = bufio.NewReader(conn)
				}
				whole := c.answer(t, conn, reader)
				if whole == nil {
					return // a connection that was opened for more requests than came
				}
				conn.Write(whole[:len(whole)-len(page)/2])
				<-let
				conn.Write(whole[len(whole)-len(page)/2:])
				io.Copy(io.Discard, reader)
			})
			w := begin(t, o.pin, o.port, c.wire, nil)
			response, err := w.browser.Get(url(names[0], "/"))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			const pause = 50 * time.Millisecond
			first := testkit.ReadSoon(t, response.Body, len(page)/2-10)
			time.Sleep(pause)
			let <- true
			rest, err := io.ReadAll(response.Body)
			if err != nil || first+string(rest) != page {
				t.Errorf("%q, %q, %v", first, rest, err)
			}
			for _, r := range w.events("request") {
				if r.number("response_body_bytes") != float64(len(page)) || r.number("last_byte_ms")-r.number("first_byte_ms") < pause.Seconds()*1000 {
					t.Errorf("%v", r)
				}
			}
			for _, connection := range w.events("connection") {
				if streams, is := connection["streams"].(map[string]any); is && streams["data_frames"] != 1.0 {
					t.Errorf("%v", streams)
				}
			}
		})
	}
}

// What a browser has sent of a body is at the origin before it sends the rest.
func TestAnUploadIsPassedOnAsItComes(t *testing.T) {
	first := make(chan string, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		first <- testkit.ReadSoon(t, r.Body, 3)
		rest, err := io.ReadAll(r.Body)
		fmt.Fprint(w, string(rest), err)
	}
	onEachArm(t, handler, func(t *testing.T, a arm, w *world) {
		reader, writer := io.Pipe()
		go func() {
			io.WriteString(writer, "one")
			if got := <-first; got != "one" {
				t.Errorf("%q", got)
			}
			io.WriteString(writer, "two")
			writer.Close()
		}()
		if _, said, err := w.fetch("POST", url(names[0], "/"), reader); err != nil || said != "two<nil>" {
			t.Errorf("%q, %v", said, err)
		}
	})
}

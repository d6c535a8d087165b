package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
	"lanelab/gateway/internal/testkit"
)

// oddOrigin answers every request with the same bytes.
func oddOrigin(t *testing.T, bytes string) *origin {
	return rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) {
		for next(reader) != "" {
			io.WriteString(conn, bytes)
		}
	})
}

func TestALengthBesideChunksIsNotPassedOn(t *testing.T) {
	o := oddOrigin(t, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	w := begin(t, o.pin, o.port, nil, nil)
	for range 2 {
		if response, body := w.get(url(names[0], "/")); body != "hello" || response.ContentLength != -1 {
			t.Errorf("%q, %d", body, response.ContentLength)
		}
	}
}

func TestBytesBehindAnAnswerAreInTheLog(t *testing.T) {
	o := oddOrigin(t, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloEXTRA")
	w := begin(t, o.pin, o.port, settings{"connections_per_host": 1}, nil)
	for range 3 {
		if _, body := w.get(url(names[0], "/")); body != "hello" {
			t.Errorf("%q", body)
		}
	}
	connections := w.events("connection")
	if len(connections) < 3 {
		t.Errorf("%d connections for three answers, each of which spoilt its own", len(connections))
	}
	for _, c := range connections[:3] {
		said, _ := c["error"].(string)
		if c["ended_by"] != "error" || !strings.Contains(said, `"EXTRA"`) || c.number("requests") != 1 {
			t.Errorf("%v", c)
		}
	}
}

// endlessPipeline answers /first, and then /endless with more than anybody wants; what else comes on another connection.
func endlessPipeline(t *testing.T) (o *origin, asked <-chan string, written <-chan int64) {
	paths, done := make(chan string, 10), make(chan int64, 1)
	o = rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) {
		for path := next(reader); path != ""; path = next(reader) {
			paths <- path
			if path != "/endless" {
				answer(conn, path)
				continue
			}
			paths <- next(reader)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n")
			n, _ := io.Copy(conn, &pattern{n: 64 << 20})
			done <- n
			return
		}
	})
	return o, paths, done
}

func TestCancelledAnswersOfAPipelineAreNotReadForEver(t *testing.T) {
	for name, both := range map[string]bool{"both": true, "the first": false} {
		t.Run(name, func(t *testing.T) {
			o, asked, written := endlessPipeline(t)
			w := begin(t, o.pin, o.port, settings{"connections_per_host": 1, "pipelining": 2}, nil)
			w.get(url(names[0], "/first"))
			<-asked
			ctx, cancel := context.WithCancel(t.Context())
			second := t.Context()
			if both {
				second = ctx
			}
			ended := make(chan string, 2)
			fetch := func(ctx context.Context, path string) {
				request, _ := http.NewRequestWithContext(ctx, "GET", url(names[0], "%s", path), nil)
				response, err := w.browser.Do(request)
				if err != nil {
					ended <- err.Error()
					return
				}
				body, _ := io.ReadAll(response.Body)
				ended <- string(body[:min(len(body), 10)])
			}
			go fetch(ctx, "/endless")
			if path := <-asked; path != "/endless" {
				t.Fatal(path)
			}
			go fetch(second, "/second")
			if path := <-asked; path != "/second" {
				t.Fatal(path)
			}
			cancel()
			if n := <-written; n == 64<<20 {
				t.Error("all was read for nobody")
			}
			all := <-ended + <-ended
			if !both && !strings.Contains(all, "/second") {
				t.Errorf("what waited behind was not sent again: %s", all)
			}
		})
	}
}

// heldHead is an answer's head whose stream does not end until the test lets it.
type heldHead func(t *testing.T, let <-chan bool) (o *origin, protocol string)

func heldBySPDY(version spdy.Version) heldHead {
	return func(t *testing.T, let <-chan bool) (*origin, string) {
		o := &origin{pin: testkit.NewIdentity(t, names...).Pin}
		listener := testkit.Listen(t)
		o.port = testkit.Port(listener.Addr())
		server := &spdyconn.Server{Version: version, Handler: func(st *spdyconn.ServerStream) {
			st.Reply(statusFor(st.Head.Path), false)
			<-let
		}}
		go server.Listen(listener)
		return o, version.String()
	}
}

func statusFor(path string) int {
	status := 200
	fmt.Sscanf(path, "/%d", &status)
	return status
}

// heldByH2 speaks HTTP/2 frame by frame: net/http's server would end the stream.
func heldByH2(t *testing.T, let <-chan bool) (*origin, string) {
	return rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) {
		io.ReadFull(reader, make([]byte, len(http2.ClientPreface)))
		framer := http2.NewFramer(conn, reader)
		framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		framer.WriteSettings()
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if asked, is := frame.(*http2.MetaHeadersFrame); is {
				var block strings.Builder
				hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: fmt.Sprint(statusFor(asked.PseudoValue("path")))})
				framer.WriteHeaders(http2.HeadersFrameParam{StreamID: asked.StreamID, BlockFragment: []byte(block.String()), EndHeaders: true})
				<-let
				framer.WriteData(asked.StreamID, true, nil)
			}
		}
	}), "h2"
}

// An answer that has no body by its kind, though its frame does not say so: the browser has it at once, and its end when it comes.
func TestAHeadDoesNotWaitForItsStreamsEnd(t *testing.T) {
	for name, held := range map[string]heldHead{
		"h2": heldByH2, "spdy2": heldBySPDY(spdy.V2), "spdy3": heldBySPDY(spdy.V3), "spdy31": heldBySPDY(spdy.V31),
	} {
		t.Run(name, func(t *testing.T) {
			let := make(chan bool)
			o, protocol := held(t, let)
			w := begin(t, o.pin, o.port, settings{"protocol": protocol}, nil)
			for _, ask := range []struct {
				method, path string
			}{{"GET", "/204"}, {"GET", "/304"}, {"HEAD", "/200"}} {
				headed := make(chan bool, 1)
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() { headed <- true }})
				go func() {
					<-headed // net/http itself waits for the end where it knows that there is no body
					let <- true
				}()
				request, _ := http.NewRequestWithContext(ctx, ask.method, url(names[0], "%s", ask.path), nil)
				response, err := w.browser.Do(request)
				if err != nil {
					t.Fatalf("%v: %v", ask, err)
				}
				if body, err := io.ReadAll(response.Body); err != nil || len(body) > 0 || response.StatusCode != statusFor(ask.path) {
					t.Errorf("%v: %v, %q, %v", ask, response, body, err)
				}
			}
			for _, r := range w.events("request") {
				if r["error"] != nil || r["cancelled"] != false || r["last_byte_ms"] == nil {
					t.Errorf("%v", r)
				}
			}
		})
	}
}

// SPDY has no interim answers. One in the place of the answer must not become a body without a head.
func TestAnInterimStatusIsNoAnswerInSPDY(t *testing.T) {
	for _, status := range []int{100, 103, 199, 0, 1000} {
		server := &spdyconn.Server{Version: spdy.V31, Handler: func(st *spdyconn.ServerStream) {
			st.Reply(status, false)
			st.Write([]byte("body"))
		}}
		listener := testkit.Listen(t)
		go server.Listen(listener)
		w := begin(t, testkit.NewIdentity(t, "x").Pin, testkit.Port(listener.Addr()), settings{"protocol": "spdy/3.1"}, nil)
		response, body, err := w.fetch("GET", url(names[0], "/"), nil)
		if err != nil || response.StatusCode != 502 || !strings.Contains(body, "status") {
			t.Errorf("%d: %v, %q, %v", status, response, body, err)
		}
		if r := w.events("request")[0]; r["error"] == nil {
			t.Errorf("%v", r)
		}
	}
}

// A server that says the same without end instead of answering costs the gateway no more than that, and the log names it.
func TestAServerThatFloodsIsLeft(t *testing.T) {
	var settingsOfH2 bytes.Buffer
	http2.NewFramer(&settingsOfH2, nil).WriteSettings()
	for protocol, settingsFrame := range map[string][]byte{
		"h2": settingsOfH2.Bytes(), "spdy/2": spdy.AppendFrame(nil, spdy.V2, spdy.Settings{}), "spdy/3.1": spdy.AppendFrame(nil, spdy.V31, spdy.Settings{}),
	} {
		o := rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) {
			go io.Copy(io.Discard, reader)
			for err := error(nil); err == nil; {
				_, err = conn.Write(settingsFrame)
			}
		})
		w := begin(t, o.pin, o.port, settings{"protocol": protocol}, nil)
		response, body, err := w.fetch("GET", url(names[0], "/"), nil)
		if err != nil || response.StatusCode != 502 || !strings.Contains(body, "floods") {
			t.Errorf("%s: %v, %q, %v", protocol, response, body, err)
		}
		flooded := 0
		for _, c := range w.events("connection") {
			if said, _ := c["error"].(string); c["ended_by"] == "error" && strings.Contains(said, "floods") && strings.Contains(said, "SETTINGS") {
				flooded++
			}
		}
		if flooded == 0 || flooded != o.connections() {
			t.Errorf("%s: the log has %d of %d floods", protocol, flooded, o.connections())
		}
	}
}

package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

func upload(method, body string, size int64, fields ...exchange.Field) *exchange.Request {
	request := get("/up")
	request.Method, request.Body, request.BodySize, request.Fields = method, strings.NewReader(body), size, fields
	return request
}

func TestBodiesAreSent(t *testing.T) {
	c, server := connect(t, oneAtATime)
	big := strings.Repeat("0123456789", 20_000)
	done := ask(t, c, upload("POST", big, int64(len(big))))
	if head := server.head(); !strings.Contains(head, "Connection: keep-alive\r\nContent-Length: 200000\r\n") {
		t.Errorf("%q", head)
	}
	got := make([]byte, len(big))
	if _, err := io.ReadFull(server.reader, got); err != nil || string(got) != big {
		t.Errorf("the body is another one: %v", err)
	}
	server.say(ok("a"))
	want(t, done, "a")

	done = ask(t, c, upload("PUT", big, -1))
	if head := server.head(); !strings.Contains(head, "\r\nTransfer-Encoding: chunked\r\n") || strings.Contains(head, "Content-Length") {
		t.Errorf("%q", head)
	}
	if body := readChunked(t, server.reader); body != big {
		t.Errorf("%d bytes of %d", len(body), len(big))
	}
	server.say(ok("b"))
	want(t, done, "b")
}

func readChunked(t *testing.T, reader *bufio.Reader) string {
	t.Helper()
	var body bytes.Buffer
	for {
		var size int
		if _, err := fmt.Fscanf(reader, "%x\r\n", &size); err != nil {
			t.Fatal(err)
		}
		io.CopyN(&body, reader, int64(size))
		reader.Discard(2)
		if size == 0 {
			return body.String()
		}
	}
}

func TestABodyWaitsForContinue(t *testing.T) {
	c, server := connect(t, oneAtATime)
	done := ask(t, c, upload("POST", "hello", 5, exchange.Field{Name: "expect", Value: "100-continue"}))
	if head := server.head(); !strings.Contains(head, "Expect: 100-continue\r\n") {
		t.Errorf("%q", head)
	}
	server.say("HTTP/1.1 100 Continue\r\n\r\n")
	got := make([]byte, 5)
	io.ReadFull(server.reader, got)
	server.say(ok(string(got)))
	want(t, done, "hello")
}

func TestABodyThatIsRefusedIsNotSent(t *testing.T) {
	c, server := connect(t, oneAtATime)
	done := ask(t, c, upload("POST", "hello", 5, exchange.Field{Name: "expect", Value: "100-continue"}))
	server.head()
	server.say("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
	if got := <-done; got.err != nil || got.status != 417 || got.body != "no" {
		t.Errorf("%+v", got)
	}
	server.closedByClient() // where the next request would begin is not clear
}

func TestABodyThatBreaksOffEndsTheConnection(t *testing.T) {
	for name, request := range map[string]*exchange.Request{
		"short": upload("POST", "hell", 5), "long": upload("POST", "hello!", 5),
	} {
		t.Run(name, func(t *testing.T) {
			c, server := connect(t, oneAtATime)
			done := ask(t, c, request)
			server.head()
			if got := <-done; got.err == nil {
				t.Errorf("%+v", got)
			}
			<-c.Done()
			rest, _ := io.ReadAll(server.reader)
			if len(rest) > 5 {
				t.Errorf("more than the content-length was sent: %q", rest)
			}
		})
	}
}

func TestAnAnswerBeforeTheBodyIsSentIsTaken(t *testing.T) {
	c, server := connect(t, oneAtATime)
	body, more := io.Pipe()
	defer more.Close()
	request := get("/")
	request.Method, request.Body, request.BodySize = "POST", body, -1
	done := ask(t, c, request)
	server.head()
	server.say("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
	if got := <-done; got.status != 413 || got.body != "no" {
		t.Errorf("%+v", got)
	}
	<-c.Done()
}

func TestWhoDoesNotReadStopsTheServer(t *testing.T) {
	c, server := connect(t, oneAtATime)
	wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
	server.head()
	const size = 64 << 20
	sent := make(chan int64, 1)
	go func() {
		io.WriteString(server.conn, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size))
		server.conn.SetWriteDeadline(time.Now().Add(time.Second)) // long enough to fill every buffer there is
		n, _ := io.CopyN(server.conn, endless{}, size)
		sent <- n
	}()
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if n := <-sent; n == size {
		t.Error("all of it was taken from the wire although nobody read")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

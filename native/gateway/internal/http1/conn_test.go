package http1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// A peer is a server that does what the test says, byte by byte.
type peer struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

func connect(t *testing.T, settings Settings) (*Conn, *peer) {
	t.Helper()
	near, far := testkit.Pair(t)
	far.SetDeadline(time.Now().Add(testkit.Patience))
	c := NewClient(near, settings)
	t.Cleanup(func() { c.Close() })
	return c, &peer{t: t, conn: far, reader: bufio.NewReader(far)}
}

// head reads one request's head.
func (p *peer) head() string {
	p.t.Helper()
	var text strings.Builder
	for {
		line, err := p.reader.ReadString('\n')
		if err != nil {
			p.t.Errorf("the client sent %q and then %v", text.String(), err)
			return text.String()
		}
		if text.WriteString(line); line == "\r\n" {
			return text.String()
		}
	}
}

func (p *peer) say(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, text); err != nil {
		p.t.Errorf("cannot answer: %v", err)
	}
}

// closedByClient waits until the client ends the connection.
func (p *peer) closedByClient() {
	p.t.Helper()
	if rest, err := io.ReadAll(p.reader); err != nil && !strings.Contains(err.Error(), "reset") || len(rest) > 0 {
		p.t.Errorf("instead of the end came %q, %v", rest, err)
	}
}

func get(path string) *exchange.Request {
	return &exchange.Request{Method: "GET", Scheme: "http", Authority: "a.example", Path: path}
}

func ok(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

type outcome struct {
	status   int
	body     string
	trailers []exchange.Field
	err      error
}

// ask sends a request and reads the whole answer, elsewhere.
func ask(t *testing.T, c *Conn, request *exchange.Request) <-chan outcome {
	done := make(chan outcome, 1)
	wait := c.Start(t.Context(), request, testkit.NewNotes(t))
	go func() {
		response, err := wait()
		if err != nil {
			done <- outcome{err: err}
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		done <- outcome{response.Status, string(body), response.Trailers(), err}
	}()
	return done
}

func want(t *testing.T, done <-chan outcome, body string) {
	t.Helper()
	if got := <-done; got.err != nil || got.status != 200 || got.body != body {
		t.Errorf("wanted %q, got %+v", body, got)
	}
}

var oneAtATime = Settings{Depth: 1, Keepalive: true}

func TestARequestIsWrittenAsChromiumWritesIt(t *testing.T) {
	c, server := connect(t, oneAtATime)
	request := get("/a?b=c")
	request.Fields = []exchange.Field{
		{Name: "sec-ch-ua", Value: `"Chromium";v="156"`}, {Name: "sec-ch-ua-mobile", Value: "?0"}, {Name: "upgrade-insecure-requests", Value: "1"},
		{Name: "user-agent", Value: "Mozilla/5.0"}, {Name: "dnt", Value: "1"}, {Name: "cookie", Value: "a=1"}, {Name: "accept", Value: "*/*"},
		{Name: "cookie", Value: "b=2"}, {Name: "sec-fetch-site", Value: "none"}, {Name: "priority", Value: "u=0, i"},
	}
	notes := testkit.NewNotes(t)
	go c.RoundTrip(t.Context(), request, notes)
	wanted := "GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"156\"\r\nsec-ch-ua-mobile: ?0\r\n" +
		"Upgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0\r\nDNT: 1\r\nCookie: a=1; b=2\r\nAccept: */*\r\nSec-Fetch-Site: none\r\n\r\n"
	if got := server.head(); got != wanted {
		t.Errorf("got  %q\nwant %q", got, wanted)
	}
	testkit.Eventually(t, "the note that it was sent", func() bool { return notes.Calls() == 1 })
	if notes.Bytes != len(wanted) || notes.Wire != len(wanted) || notes.InFlight != 1 || notes.Stream != 0 {
		t.Errorf("%+v", notes)
	}
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	c, server := connect(t, oneAtATime)
	for i := range 3 {
		done := ask(t, c, get(fmt.Sprint("/", i)))
		server.head()
		if c.Room() != 0 {
			t.Error("there is room for a second request on a connection that does not pipeline")
		}
		server.say(ok("hello"))
		want(t, done, "hello")
		if c.Room() != 1 {
			t.Error("no room after the answer")
		}
	}
}

func TestWithoutKeepaliveAConnectionCarriesOneRequest(t *testing.T) {
	c, server := connect(t, Settings{Depth: 1})
	done := ask(t, c, get("/"))
	if head := server.head(); !strings.Contains(head, "\r\nConnection: keep-alive\r\n") {
		t.Errorf("not as Chromium: %q", head)
	}
	server.say(ok("one"))
	want(t, done, "one")
	server.closedByClient()
	<-c.Done()
	if !c.ClosedByUs() || c.Err() != nil || c.Room() != 0 {
		t.Error("the end of a connection without keepalive is not ours, or not orderly")
	}
}

func TestAnswersOfEveryShape(t *testing.T) {
	for name, c := range map[string]struct {
		answer, body string
		closes       bool
	}{
		"length":            {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
		"empty":             {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", false},
		"length twice":      {"HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
		"chunked":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\n\r\n", "abc", false},
		"chunked, trailers": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n", "abc", false},
		"chunked wins":      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc", false},
		"lone line feeds":   {"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", "abc", false},
		"no reason":         {"HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
		"folded":            {"HTTP/1.1 200 OK\r\nX-A: b\r\n  c\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
		"interim":           {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
		"to the end":        {"HTTP/1.1 200 OK\r\n\r\nabc", "abc", true},
		"1.0":               {"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
		"1.0 kept":          {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 3\r\n\r\nabc", "abc", false},
		"close":             {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", "abc", true},
	} {
		t.Run(name, func(t *testing.T) {
			conn, server := connect(t, oneAtATime)
			done := ask(t, conn, get("/"))
			server.head()
			server.say(c.answer)
			if c.closes {
				server.conn.Close()
			}
			want(t, done, c.body)
			if c.closes {
				<-conn.Done()
				return
			}
			next := ask(t, conn, get("/next")) // and it is known where the answer ended
			server.head()
			server.say(ok("next"))
			want(t, next, "next")
		})
	}
}

func TestAnswersThatCannotBe(t *testing.T) {
	for name, answer := range map[string]string{
		"not HTTP":          "220 mail.example ESMTP\r\n",
		"HTTP/2":            "HTTP/2.0 200 OK\r\n\r\n",
		"status":            "HTTP/1.1 20x OK\r\n\r\n",
		"switch":            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
		"no colon":          "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
		"blank in name":     "HTTP/1.1 200 OK\r\nX Y: z\r\n\r\n",
		"zero byte":         "HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n",
		"two lengths":       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"negative":          "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"length of letters": "HTTP/1.1 200 OK\r\nContent-Length: 0x3\r\n\r\nabc",
		"lengths in one":    "HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabcd",
		"length with sign":  "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",
		"length of nothing": "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nabc",
		"length too large":  "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nabc",
		"coding":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"coding last":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
		"identity":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc",
		"chunked twice":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunked in 1.0":    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"blank after name":  "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\nabc",
		"lone return":       "HTTP/1.1 200 OK\r\nX: a\rContent-Length: 3\r\n\r\nabc",
		"chunk's line feed": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n",
		"head too large":    "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 300<<10) + "\r\n\r\n",
		"interim for ever":  strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 200),
		"chunk size":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"chunk's return":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a\rb\r\nabc\r\n0\r\n\r\n",
		"chunk for ever":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;" + strings.Repeat("a", 300<<10),
		"chunk with sign":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n",
		"chunk too long":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
		"chunk beyond":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
		"cut off":           "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			conn, server := connect(t, oneAtATime)
			done := ask(t, conn, get("/"))
			server.head()
			go func() { // the client may be gone before all is written
				io.WriteString(server.conn, answer)
				server.conn.(*net.TCPConn).CloseWrite()
			}()
			got := <-done
			if got.err == nil {
				t.Fatalf("it was taken: %+v", got)
			}
			if errors.Is(got.err, exchange.ErrNotProcessed) {
				t.Errorf("it would be sent again: %v", got.err)
			}
			<-conn.Done()
			if conn.Err() == nil {
				t.Error("the connection's end has no reason")
			}
		})
	}
}

func TestWhatTheServerSaysUnaskedEndsTheConnection(t *testing.T) {
	c, server := connect(t, oneAtATime)
	server.say("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
	<-c.Done()
	if c.Err() != nil || c.ClosedByUs() || c.Room() != 0 {
		t.Errorf("%v", c.Err())
	}
}

func TestAnIdleConnectionThatIsClosedHasNoRoom(t *testing.T) {
	c, server := connect(t, oneAtATime)
	server.conn.Close()
	<-c.Done()
	if c.Room() != 0 || c.Err() != nil {
		t.Errorf("room %d, %v", c.Room(), c.Err())
	}
	if _, err := c.RoundTrip(t.Context(), get("/"), testkit.NewNotes(t)); !errors.Is(err, exchange.ErrNotProcessed) {
		t.Errorf("%v", err)
	}
}

func TestHEADAnd304HaveNoBody(t *testing.T) {
	c, server := connect(t, oneAtATime)
	for _, status := range []string{"200 OK", "304 Not Modified", "204 No Content"} {
		request := get("/")
		if status == "200 OK" {
			request.Method = "HEAD"
		}
		done := ask(t, c, request)
		server.head()
		server.say("HTTP/1.1 " + status + "\r\nContent-Length: 1000\r\n\r\n")
		if got := <-done; got.err != nil || got.body != "" {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

func TestTrailersAndInterimAnswersArePassedOn(t *testing.T) {
	c, server := connect(t, oneAtATime)
	request := get("/")
	hints := make(chan string, 5)
	request.Informed = func(status int, fields []exchange.Field) { hints <- fmt.Sprint(status, fields) }
	done := ask(t, c, request)
	server.head()
	server.say("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nKeep-Alive: 5\r\n\r\n")
	if got := <-hints; got != "103 [{link </a.css>}]" {
		t.Errorf("%s", got)
	}
	server.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n0\r\nX-Sum: 6\r\n\r\n")
	if got := <-done; got.err != nil || fmt.Sprint(got.trailers) != "[{x-sum 6}]" {
		t.Errorf("%+v", got)
	}
}

func TestCancellingEndsTheConnection(t *testing.T) {
	c, server := connect(t, oneAtATime)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.RoundTrip(ctx, get("/slow"), testkit.NewNotes(t))
		failed <- err
	}()
	server.head()
	cancel()
	if err := <-failed; err == nil {
		t.Error("it was answered")
	}
	server.closedByClient()
}

func TestClosingABodyBeforeItsEndEndsTheConnection(t *testing.T) {
	c, server := connect(t, oneAtATime)
	go func() {
		server.head()
		server.say("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc")
	}()
	response, err := c.RoundTrip(t.Context(), get("/"), testkit.NewNotes(t))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	server.closedByClient()
	if c.Err() != nil || !c.ClosedByUs() {
		t.Errorf("%v", c.Err())
	}
}

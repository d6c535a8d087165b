package http1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

var deep = Settings{Depth: 4, Keepalive: true}

func TestPipelinedRequestsAreAnsweredInTheirOrder(t *testing.T) {
	c, server := connect(t, deep)
	var all []<-chan outcome
	for i := range 4 {
		all = append(all, ask(t, c, get(fmt.Sprint("/", i))))
	}
	if c.Room() != 0 {
		t.Error("there is room for a fifth")
	}
	for i := range 4 { // all four are there before any is answered
		if head := server.head(); !strings.HasPrefix(head, fmt.Sprintf("GET /%d ", i)) {
			t.Errorf("%d: %q", i, head)
		}
	}
	for i := range 4 {
		server.say(ok(fmt.Sprint("answer ", i)))
	}
	for i, done := range all {
		want(t, done, fmt.Sprint("answer ", i))
	}
	if c.Room() != 4 || c.Leaving() {
		t.Error("the connection is not as new")
	}
}

func TestOnlyWhatIsSafeIsPipelined(t *testing.T) {
	c, server := connect(t, deep)
	first := ask(t, c, get("/"))
	post := get("/form")
	post.Method, post.Body, post.BodySize = "POST", strings.NewReader("x"), 1
	if got := <-ask(t, c, post); !errors.Is(got.err, exchange.ErrNotProcessed) {
		t.Errorf("a POST behind a GET: %+v", got)
	}
	server.head()
	server.say(ok("a"))
	want(t, first, "a")
	post.Body = strings.NewReader("x")
	second := ask(t, c, post)
	server.head()
	if c.Room() != 0 {
		t.Error("there is room behind a POST")
	}
	server.say(ok("b"))
	want(t, second, "b")
}

func TestWhatWasNotAnsweredMayBeSentAgain(t *testing.T) {
	for name, ending := range map[string]string{"says so": "Connection: close\r\n", "does not": ""} {
		t.Run(name, func(t *testing.T) {
			c, server := connect(t, deep)
			var all []<-chan outcome
			for i := range 4 {
				all = append(all, ask(t, c, get(fmt.Sprint("/", i))))
			}
			for range 4 {
				server.head()
			}
			server.say(ok("zero"))
			server.say("HTTP/1.1 200 OK\r\n" + ending + "Content-Length: 3\r\n\r\none")
			server.conn.(*net.TCPConn).CloseWrite()
			want(t, all[0], "zero")
			want(t, all[1], "one")
			for _, done := range all[2:] {
				if got := <-done; !errors.Is(got.err, exchange.ErrNotProcessed) {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}

func TestAnAnswerThatHasBegunIsNotSentAgain(t *testing.T) {
	c, server := connect(t, deep)
	first, second := ask(t, c, get("/0")), ask(t, c, get("/1"))
	server.head()
	server.head()
	server.say("HTTP/1.1 200 OK\r\nContent-")
	server.conn.(*net.TCPConn).CloseWrite()
	if got := <-first; got.err == nil || errors.Is(got.err, exchange.ErrNotProcessed) {
		t.Errorf("%+v", got)
	}
	if got := <-second; !errors.Is(got.err, exchange.ErrNotProcessed) {
		t.Errorf("%+v", got)
	}
}

func TestCancellingOneOfAPipelineLeavesTheOthers(t *testing.T) {
	c, server := connect(t, deep)
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	wait := c.Start(ctx, get("/0"), testkit.NewNotes(t))
	go func() {
		_, err := wait()
		cancelled <- err
	}()
	second := ask(t, c, get("/1"))
	server.head()
	server.head()
	cancel()
	if err := <-cancelled; err == nil {
		t.Error("it was answered")
	}
	server.say(ok(strings.Repeat("nobody reads this", 10_000)))
	server.say(ok("second"))
	want(t, second, "second")
}

// As browsers that pipelined did it: the connection ends when it is the turn of what nobody wants, and the rest can go elsewhere.
func TestCancellingOneOfAPipelineEndsIt(t *testing.T) {
	ending := deep
	ending.EndsAtCancelled = true
	c, server := connect(t, ending)
	first := ask(t, c, get("/0"))
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	wait := c.Start(ctx, get("/1"), testkit.NewNotes(t))
	go func() {
		_, err := wait()
		cancelled <- err
	}()
	third := ask(t, c, get("/2"))
	for range 3 {
		server.head()
	}
	cancel()
	if err := <-cancelled; err == nil || c.Room() != 0 || !c.Leaving() {
		t.Errorf("%v; room for %d", err, c.Room())
	}
	server.say(ok("first"))
	want(t, first, "first")
	if got := <-third; !errors.Is(got.err, exchange.ErrEvicted) {
		t.Errorf("%+v", got)
	}
	if <-c.Done(); !c.ClosedByUs() {
		t.Error("it is not said who ended it")
	}
}

// Only what could be answered next when a connection ends without a word speaks against the server.
func TestWhoIsEvicted(t *testing.T) {
	for said, first := range map[string]error{"": exchange.ErrNotProcessed, "Connection: close\r\n": exchange.ErrAnnounced} {
		c, server := connect(t, deep)
		answered, next, last := ask(t, c, get("/0")), ask(t, c, get("/1")), ask(t, c, get("/2"))
		for range 3 {
			server.head()
		}
		server.say("HTTP/1.1 200 OK\r\n" + said + "Content-Length: 1\r\n\r\nx")
		server.conn.Close()
		want(t, answered, "x")
		if got := <-next; !errors.Is(got.err, first) || errors.Is(got.err, exchange.ErrEvicted) != (said != "") {
			t.Errorf("%q: %+v", said, got)
		}
		if got := <-last; !errors.Is(got.err, exchange.ErrEvicted) || errors.Is(got.err, exchange.ErrAnnounced) != (said != "") {
			t.Errorf("%q: %+v", said, got)
		}
	}
}

func TestClosingOneBodyOfAPipelineLeavesTheOthers(t *testing.T) {
	c, server := connect(t, deep)
	wait := c.Start(t.Context(), get("/0"), testkit.NewNotes(t))
	second := ask(t, c, get("/1"))
	server.head()
	server.head()
	go func() {
		server.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 100 {
			server.say("400\r\n" + strings.Repeat("x", 1024) + "\r\n")
		}
		server.say("0\r\n\r\n" + ok("second"))
	}()
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(response.Body, make([]byte, 5000))
	response.Body.Close()
	want(t, second, "second")
}

func TestARequestThatWasNotSentYetLeavesNoTrace(t *testing.T) {
	c, server := connect(t, deep)
	body, more := io.Pipe() // the writer is busy with it
	post := get("/form")
	post.Method, post.Body, post.BodySize = "POST", body, -1
	first := ask(t, c, post)
	server.head()
	if got := <-ask(t, c, get("/")); !errors.Is(got.err, exchange.ErrNotProcessed) {
		t.Errorf("behind a body: %+v", got)
	}
	more.Close()
	server.say(ok("done"))
	want(t, first, "done")
}

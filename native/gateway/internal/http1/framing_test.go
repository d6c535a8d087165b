package http1

import (
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

// muchMore than what any buffer holds, and than what may be dropped.
const muchMore = 64 << 20

// sendsForEver, until the client ends the connection. It tells how much was taken.
func sendsForEver(server *peer) <-chan int64 {
	sent := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(server.conn, io.LimitReader(endless{}, muchMore))
		server.conn.Close()
		sent <- n
	}()
	return sent
}

// begin starts a request that the test can cancel.
func begin(t *testing.T, c *Conn, path string) (cancel func(), ended <-chan error) {
	ctx, cancel := context.WithCancel(t.Context())
	wait := c.Start(ctx, get(path), testkit.NewNotes(t))
	done := make(chan error, 1)
	go func() {
		_, err := wait()
		done <- err
	}()
	return cancel, done
}

func TestAPipelineThatNobodyWantsEnds(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			c, server := connect(t, deep)
			var cancels [2]func()
			var ended [2]<-chan error
			for i := range 2 {
				cancels[i], ended[i] = begin(t, c, fmt.Sprint("/", i))
			}
			server.head()
			server.head()
			for _, i := range order {
				cancels[i]()
				if err := <-ended[i]; err == nil {
					t.Error("it was answered")
				}
			}
			io.WriteString(server.conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n") // the client may be gone
			if sent := <-sendsForEver(server); sent == muchMore {
				t.Error("all was read for nobody")
			}
			if <-c.Done(); !c.ClosedByUs() {
				t.Errorf("%v", c.Err())
			}
		})
	}
}

func TestWhatIsReadForNobodyIsBounded(t *testing.T) {
	for name, head := range map[string]string{
		"not known": "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n", "known": fmt.Sprintf("Content-Length: %d\r\n\r\n", muchMore),
	} {
		t.Run(name, func(t *testing.T) {
			c, server := connect(t, deep)
			cancel, ended := begin(t, c, "/0")
			second := ask(t, c, get("/1"))
			server.head()
			server.head()
			cancel()
			<-ended
			server.say("HTTP/1.1 200 OK\r\n" + head)
			if sent := <-sendsForEver(server); sent == muchMore {
				t.Error("all was read for nobody")
			}
			if got := <-second; !errors.Is(got.err, exchange.ErrNotProcessed) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestTheLengthThatIsPassedOnIsTheBodys(t *testing.T) {
	for name, c := range map[string]struct {
		method, head, passed string
	}{
		"one":              {"GET", "Content-Length: 5\r\n", "[5]"},
		"often":            {"GET", "Content-Length: 5, 5\r\nContent-Length: 5\r\n", "[5]"},
		"chunked":          {"GET", "Content-Length: 999\r\nTransfer-Encoding: chunked\r\n", "[]"},
		"chunked and many": {"GET", "Content-Length: 9\r\nTransfer-Encoding: CHUNKED\r\nContent-Length: x\r\n", "[]"},
		"HEAD":             {"HEAD", "Content-Length: 999\r\n", "[999]"},
		"HEAD and chunked": {"HEAD", "Transfer-Encoding: chunked\r\nContent-Length: 999\r\n", "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, server := connect(t, oneAtATime)
			request := get("/")
			request.Method = c.method
			wait := conn.Start(t.Context(), request, testkit.NewNotes(t))
			server.head()
			server.say("HTTP/1.1 200 OK\r\n" + c.head + "\r\n")
			body := ""
			if c.method == "GET" {
				body = "hello"
				if strings.Contains(strings.ToLower(c.head), "chunked") {
					server.say("5\r\n")
				}
				server.say(body)
				if strings.Contains(strings.ToLower(c.head), "chunked") {
					server.say("\r\n0\r\nContent-Length: 7\r\nConnection: x\r\n\r\n")
				}
			}
			response, err := wait()
			if err != nil {
				t.Fatal(err)
			}
			passed := []string{}
			for _, field := range response.Fields {
				passed = append(passed, field.Value)
			}
			got, err := io.ReadAll(response.Body)
			if err != nil || string(got) != body || fmt.Sprint(passed) != c.passed || len(response.Trailers()) > 0 {
				t.Errorf("%q, %v, lengths %v, trailers %v", got, err, passed, response.Trailers())
			}
			want(t, serveNext(t, conn, server), "next")
		})
	}
}

// serveNext shows that the connection goes on.
func serveNext(t *testing.T, c *Conn, server *peer) <-chan outcome {
	t.Helper()
	testkit.Eventually(t, "there is room", func() bool { return c.Room() > 0 })
	next := ask(t, c, get("/next"))
	server.head()
	server.say(ok("next"))
	return next
}

func TestWhatIsBehindAnAnswerEndsTheConnection(t *testing.T) {
	for name, behind := range map[string]string{
		"bytes": "EXTRA", "an answer": ok("of nobody"), "a blank line": "\r\n", "part of a status line": "HTTP/1.1 4",
	} {
		for when, later := range map[string]bool{"at once": false, "later": true} {
			t.Run(name+" "+when, func(t *testing.T) {
				c, server := connect(t, oneAtATime)
				done := ask(t, c, get("/"))
				server.head()
				if later {
					server.say(ok("hello"))
					want(t, done, "hello")
					server.say(behind)
				} else {
					server.say(ok("hello") + behind)
					want(t, done, "hello")
					if _, err := c.RoundTrip(t.Context(), get("/next"), testkit.NewNotes(t)); !errors.Is(err, exchange.ErrNotSent) {
						t.Errorf("it was used again: %v", err)
					}
				}
				<-c.Done()
				var trailing *TrailingError
				if !errors.As(c.Err(), &trailing) || !strings.HasPrefix(behind, trailing.Begins) || c.ClosedByUs() {
					t.Errorf("%v", c.Err())
				}
			})
		}
	}
}

// A server that ends an idle connection with 408 does nothing wrong, wherever in the stream it comes.
func TestA408BehindAnAnswerIsTheServersEnd(t *testing.T) {
	c, server := connect(t, oneAtATime)
	done := ask(t, c, get("/"))
	server.head()
	server.say(ok("hello") + "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n")
	want(t, done, "hello")
	if <-c.Done(); c.Err() != nil || c.ClosedByUs() {
		t.Errorf("%v", c.Err())
	}
}

// Trailers may come late. What came of the body does not wait for them.
func TestABodyDoesNotWaitForItsTrailers(t *testing.T) {
	c, server := connect(t, oneAtATime)
	wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
	server.head()
	server.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n")
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	server.conn.SetDeadline(time.Now().Add(testkit.Patience))
	if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != "abc" {
		t.Errorf("%q, %v", got, err)
	}
	server.say("X-Sum: 6\r\n\r\n")
	if rest, err := io.ReadAll(response.Body); err != nil || len(rest) > 0 || fmt.Sprint(response.Trailers()) != "[{x-sum 6}]" {
		t.Errorf("%q, %v, %v", rest, err, response.Trailers())
	}
}

// A browser works on a page while it comes, however large the server's chunks are.
func TestWhatCameOfAChunkDoesNotWaitForItsRest(t *testing.T) {
	c, server := connect(t, oneAtATime)
	wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
	server.head()
	server.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n6\r\nde")
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	server.conn.SetDeadline(time.Now().Add(testkit.Patience))
	for came := ""; came != "abcde"; {
		n, err := response.Body.Read(got)
		if came += string(got[:n]); err != nil {
			t.Fatalf("%q, %v", came, err)
		}
	}
	server.say("fghi\r\n0\r\n\r\n")
	if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "fghi" {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestTrailersWithoutAnEndAreNoTrailers(t *testing.T) {
	c, server := connect(t, oneAtATime)
	done := ask(t, c, get("/"))
	server.head()
	server.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum: 6\r\n")
	server.conn.(*net.TCPConn).CloseWrite()
	if got := <-done; !errors.Is(got.err, io.ErrUnexpectedEOF) {
		t.Errorf("%+v", got)
	}
}

// Whoever waits for the head may read the body before the connection's own reader has noted that there is none.
func TestABodyThatIsNoneCanBeReadAtOnce(t *testing.T) {
	c, server := connect(t, oneAtATime)
	for range 100 {
		wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
		server.head()
		server.say("HTTP/1.1 204 No Content\r\n\r\n")
		response, err := wait()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := response.Body.Read(make([]byte, 10)); n != 0 || err != io.EOF || !response.Ended {
			t.Errorf("%d, %v", n, err)
		}
		testkit.Eventually(t, "there is room", func() bool { return c.Room() > 0 })
	}
}

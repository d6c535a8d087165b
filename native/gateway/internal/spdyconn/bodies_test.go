package spdyconn

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

const large = 64 << 20

// noise is size bytes that differ from place to place, the same ones for the same seed.
func noise(seed byte, size int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{seed}), size)
}

// sum reads to the end and tells the content by its length and checksum.
func sum(from io.Reader) (string, error) {
	hash := crc32.NewIEEE()
	size, err := io.Copy(hash, from)
	return fmt.Sprintf("%d bytes %08x", size, hash.Sum32()), err
}

func mustSum(t testing.TB, from io.Reader) string {
	t.Helper()
	text, err := sum(from)
	if err != nil {
		t.Errorf("after %s: %v", text, err)
	}
	return text
}

// bodies is a handler that sends what x-size asks for, and tells in its trailers what the request's body was.
func bodies(st *ServerStream) {
	told := make(chan string, 1)
	go func() {
		text, _ := sum(st.Body) // an error shows in the text
		told <- text
	}()
	size, seed := int64(0), byte(0)
	for _, field := range st.Head.Fields {
		value, _ := strconv.ParseInt(field.Value, 10, 64)
		switch field.Name {
		case "x-size":
			size = value
		case "x-seed":
			seed = byte(value)
		}
	}
	_ = st.Reply(200, false)
	_, _ = io.CopyBuffer(struct{ io.Writer }{st}, noise(seed, size), make([]byte, 32<<10))
	_ = st.Trailers(exchange.Field{Name: "x-got", Value: <-told})
}

func transfer(t testing.TB, client *Client, seed byte, up, down int64) {
	t.Helper()
	request := get("/bodies")
	request.Fields = []exchange.Field{{Name: "x-size", Value: strconv.FormatInt(down, 10)}, {Name: "x-seed", Value: strconv.Itoa(int(seed))}}
	if up > 0 {
		request.Method, request.Body, request.BodySize = "POST", noise(seed+1, up), -1
	}
	response, err := client.RoundTrip(deadline(t), request, quiet{})
	if err != nil {
		t.Error(err)
		return
	}
	if got, want := mustSum(t, response.Body), mustSum(t, noise(seed, down)); got != want {
		t.Errorf("the response's body is %s, not %s", got, want)
	}
	trailers := response.Trailers()
	want := mustSum(t, noise(seed+1, up))
	if len(trailers) != 1 || trailers[0].Value != want {
		t.Errorf("the server got a body of %q, not %s", trailers, want)
	}
}

func TestLargeBodiesBothWays(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: bodies}, Settings{})
		var both sync.WaitGroup
		both.Go(func() { transfer(t, p.client, 1, large, 1000) })
		both.Go(func() { transfer(t, p.client, 3, 0, large) })
		both.Wait()
	})
}

func TestHundredStreamsAtOnce(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: bodies}, Settings{})
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { transfer(t, p.client, byte(i), int64(i)*2000, int64(100-i)*3000) })
		}
		all.Wait()
	})
}

func TestTinyWindows(t *testing.T) {
	for _, version := range []spdy.Version{spdy.V3, spdy.V31} {
		for _, window := range []int{1, 7, 1000} {
			t.Run(fmt.Sprintf("%s, %d bytes", version, window), func(t *testing.T) {
				settings := Settings{StreamWindow: window}
				p := connect(t, &Server{Version: version, Handler: bodies, Settings: settings}, settings)
				size := int64(window) * 500
				var all sync.WaitGroup
				for i := range 10 {
					all.Go(func() { transfer(t, p.client, byte(i), size, size) })
				}
				all.Wait()
			})
		}
	}
}

// A server that changes its window while bodies are under way: to less than what is on its way, and to more.
func TestWindowsThatChange(t *testing.T) {
	for _, version := range []spdy.Version{spdy.V3, spdy.V31} {
		t.Run(version.String(), func(t *testing.T) {
			server := &Server{Version: version, Settings: Settings{StreamWindow: 100_000}, Handler: func(st *ServerStream) {
				half := io.LimitReader(st.Body, 200_000)
				_, _ = io.Copy(io.Discard, half)
				st.Conn().Do(func(session *spdy.Session) { session.SetStreamWindow(10) })
				_, _ = io.CopyN(io.Discard, st.Body, 100_000)
				st.Conn().Do(func(session *spdy.Session) { session.SetStreamWindow(1 << 20) })
				rest, err := sum(st.Body)
				_ = st.Reply(200, true, exchange.Field{Name: "x-rest", Value: fmt.Sprint(rest, " ", err)})
			}}
			p := connect(t, server, Settings{})
			request := get("/")
			request.Body = bytes.NewReader(make([]byte, 3_000_000))
			response, err := p.client.RoundTrip(deadline(t), request, quiet{})
			if err != nil {
				t.Fatal(err)
			}
			if got := response.Fields[0].Value; !strings.HasPrefix(got, "2700000 bytes") || !strings.HasSuffix(got, " <nil>") {
				t.Errorf("the server read at last %s", got)
			}
		})
	}
}

// A response that nobody reads must stop at the window (SPDY/2: where reading pauses), while the connection's other streams go on.
func TestUnreadBodyIsHeldBack(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		wrote := make(chan int64, 1)
		server := &Server{Version: version, Handler: func(st *ServerStream) {
			if st.Head.Path == "/small" {
				return
			}
			_ = st.Reply(200, false)
			count, _ := io.CopyBuffer(struct{ io.Writer }{st}, noise(9, large), make([]byte, 32<<10))
			wrote <- count
		}}
		const window = 1 << 20
		p := connect(t, server, Settings{StreamWindow: window, SessionWindow: 4 * window})
		response, err := p.client.RoundTrip(deadline(t), get("/large"), quiet{})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if version == spdy.V2 {
				break // one stream stops all: it has no flow control
			}
			small, err := p.client.RoundTrip(deadline(t), get("/small"), quiet{})
			if err != nil {
				t.Fatal(err)
			}
			readAll(t, small)
		}
		p.client.mutex.Lock()
		held := p.client.held
		p.client.mutex.Unlock()
		if held > 5*window {
			t.Errorf("%d bytes are held of a body that nobody reads", held)
		}
		if got, want := mustSum(t, response.Body), mustSum(t, noise(9, large)); got != want {
			t.Errorf("the body is %s, not %s", got, want)
		}
		if count := <-wrote; count != large {
			t.Errorf("the server wrote %d bytes", count)
		}
	})
}

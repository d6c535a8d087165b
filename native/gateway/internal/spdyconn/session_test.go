package spdyconn

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

// recorder is a Notes that keeps what it is told.
type recorder struct {
	mutex sync.Mutex
	calls []string
	sent  struct {
		stream                uint32
		bytes, wire, inFlight int
	}
	first struct{ bytes, wire int }
}

func (r *recorder) note(call string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.calls = append(r.calls, call)
}

func (r *recorder) Sent(stream uint32, bytes, wire, inFlight int) {
	r.note("sent")
	r.sent.stream, r.sent.bytes, r.sent.wire, r.sent.inFlight = stream, bytes, wire, inFlight
}

func (r *recorder) FirstByte(bytes, wire int) {
	r.note("first byte")
	r.first.bytes, r.first.wire = bytes, wire
}

func (r *recorder) LastByte() { r.note("last byte") }

func TestNotes(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		seen := make(chan spdy.HeaderSizes, 2)
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			seen <- st.RequestSizes
			_ = st.Reply(200, false, exchange.Field{Name: "a", Value: "b"})
			_, _ = st.Write([]byte("x"))
		}}, Settings{})
		for i := range 2 {
			var notes recorder
			response, err := p.client.RoundTrip(deadline(t), get("/"), &notes)
			if err != nil {
				t.Fatal(err)
			}
			readAll(t, response)
			sizes := <-seen
			if want := []string{"sent", "first byte", "last byte"}; !slices.Equal(notes.calls, want) {
				t.Errorf("noted %v", notes.calls)
			}
			if got := notes.sent; got.stream != uint32(2*i+1) || got.bytes != sizes.Expanded || got.wire != sizes.Wire || got.inFlight != 1 {
				t.Errorf("sent %+v where the server saw %+v", got, sizes)
			}
			if notes.first.bytes == 0 || notes.first.wire == 0 {
				t.Errorf("the first byte is noted as %+v", notes.first)
			}
		}
	})
}

// What is started first goes out first, whatever is waited for first.
func TestStartsKeepTheirOrder(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: small}, Settings{})
		var waits []func() (*exchange.Response, error)
		var notes [50]recorder
		for i := range notes {
			waits = append(waits, p.client.Start(deadline(t), get("/"), &notes[i]))
		}
		for i := range notes {
			if _, err := waits[len(waits)-1-i](); err != nil {
				t.Fatal(err)
			}
		}
		for i := range notes {
			if got := notes[i].sent.stream; got != uint32(2*i+1) {
				t.Errorf("what was started as number %d has stream %d", i, got)
			}
		}
	})
}

func TestRoomIsWhatTheServerTakes(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		release := make(chan struct{})
		p := connect(t, &Server{Version: version, Settings: Settings{MaxStreams: 3}, Handler: func(*ServerStream) { <-release }}, Settings{})
		testkit.Eventually(t, "there is room for 3", func() bool { return p.client.Room() == 3 })
		var all sync.WaitGroup
		for range 3 {
			begun := make(chan struct{})
			all.Go(func() {
				if _, err := p.client.RoundTrip(deadline(t), get("/"), sentTo(begun)); err != nil {
					t.Error(err)
				}
			})
			waitFor(t, begun, "the request to be sent")
		}
		if _, err := p.client.RoundTrip(deadline(t), get("/"), quiet{}); p.client.Room() != 0 || !errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("with 3 streams there is room for %d more; a fourth gave %v", p.client.Room(), err)
		}
		close(release)
		all.Wait()
	})
}

// A server that pushes: each push is refused and counted, and harms nothing.
func TestPushIsRefused(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			if st.Head.Path == "/after" {
				return
			}
			_ = st.Reply(200, false)
			for range 3 {
				pushed, err := st.Push("/style.css", exchange.Field{Name: "content-type", Value: "text/css"})
				if err != nil {
					t.Error(err)
					return
				}
				_, err = pushed.Write(make([]byte, 200_000))
				if over := pushed.Over(); err != nil {
					waitFor(t, over, "the pushed stream's end")
				} else if pushed.Close() == nil {
					waitFor(t, over, "the pushed stream's end")
				}
			}
			_, _ = st.Write([]byte("done"))
		}}, Settings{})
		response, err := p.client.RoundTrip(deadline(t), get("/"), quiet{})
		if err != nil {
			t.Fatal(err)
		}
		if text := readAll(t, response); text != "done" {
			t.Errorf("got %q", text)
		}
		checkAlive(t, p.client)
	})
}

// Bodies that are told of and never come must not hold up the head: the relay knows that there is none.
func TestAHeadComesWithoutItsBody(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		for _, status := range []int{200, 204, 304} {
			release := make(chan struct{})
			p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
				_ = st.Reply(status, false)
				<-release
			}}, Settings{})
			response, err := p.client.RoundTrip(deadline(t), get("/"), quiet{})
			close(release)
			if err != nil || response.Status != status {
				t.Fatalf("%d: %+v, %v", status, response, err)
			}
			readAll(t, response)
		}
	})
}

// SPDY has no interim responses: what seems to be one ends its stream, and not the connection.
func TestAnInterimReplyIsRefused(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			if st.Head.Path == "/100" {
				_ = st.Reply(100, false)
				waitFor(t, st.Over(), "the reset")
			}
		}}, Settings{})
		_, err := p.client.RoundTrip(deadline(t), get("/100"), quiet{})
		if err == nil || !strings.Contains(err.Error(), `"100"`) || errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("got %v", err)
		}
		checkAlive(t, p.client)
	})
}

// A server that breaks the protocol is told so, and what was under way does not seem worth another try.
func TestServerThatSpeaksSomethingElse(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		ours, theirs := net.Pipe()
		client, err := NewClient(ours, version, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan []byte, 1)
		go func() {
			_, _ = io.ReadFull(theirs, make([]byte, 30))
			go func() { _, _ = theirs.Write([]byte("\x80\x01\x00\x01HTTP/1.1 400 Bad Request\r\n")) }()
			rest, _ := io.ReadAll(theirs)
			told <- rest
		}()
		_, err = client.RoundTrip(deadline(t), get("/"), quiet{})
		if broken := new(spdy.SessionError); !errors.As(err, &broken) || errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("got %v", err)
		}
		waitFor(t, client.Done(), "the client's end")
		goAway := spdy.AppendFrame(nil, version, spdy.GoAway{Status: spdy.GoAwayProtocolError})
		if rest := <-told; len(rest) < len(goAway) || !slices.Equal(rest[len(rest)-len(goAway):], goAway) {
			t.Errorf("the server was told at last %x", rest)
		}
		if client.Err() == nil {
			t.Error("the end seems orderly")
		}
	})
}

func TestSettingsThatCannotBe(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	if _, err := NewClient(ours, 0, Settings{}); err == nil {
		t.Error("no version was taken")
	}
	if _, err := NewClient(ours, spdy.V3, Settings{StreamWindow: -1}); err == nil {
		t.Error("a window of -1 was taken")
	}
}

package spdyconn

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
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
		if _, err := p.client.Ping(deadline(t)); err != nil { // the server's SETTINGS came before its answer
			t.Fatal(err)
		}
		if room := p.client.Room(); room != 3 {
			t.Errorf("at first there is room for %d", room)
		}
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
		if counts := p.client.Counts(); counts.MostInFlight != 3 || counts.Exchanges != 3 {
			t.Errorf("counted %+v", counts)
		}
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
		if text := readAll(t, response); text != "done" || p.client.Counts().PushesRefused != 3 {
			t.Errorf("got %q; counted %+v", text, p.client.Counts())
		}
		checkAlive(t, p.client)
	})
}

func TestPersistedSettingsComeBack(t *testing.T) {
	for _, version := range []spdy.Version{spdy.V3, spdy.V31} {
		server := &Server{Version: version, Handler: func(*ServerStream) {}, Greet: func(session *spdy.Session) {
			session.Tell(spdy.Setting{ID: spdy.SettingMaxConcurrentStreams, Flags: spdy.PersistValue, Value: 5})
		}}
		p := connect(t, server, Settings{})
		if _, err := p.client.Ping(deadline(t)); err != nil {
			t.Fatal(err)
		}
		want := []spdy.Setting{{ID: spdy.SettingMaxConcurrentStreams, Value: 5}}
		if got := p.client.Persisted(); !slices.Equal(got, want) {
			t.Errorf("%s: remembered %v", version, got)
		}
		again := connect(t, server, Settings{Persisted: p.client.Persisted()})
		if response, err := again.client.RoundTrip(deadline(t), get("/"), quiet{}); err != nil || response.Status != 200 {
			t.Errorf("%s: with what was remembered: %v", version, err)
		}
	}
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

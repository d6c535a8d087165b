package h2

import (
	"errors"
	"io"
	"testing"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/flood"
	"lanelab/gateway/internal/testkit"
)

// frames of which either side may send some, but not without end; by the word of their error.
var floods = map[string]struct {
	word  string
	usual int // that must be taken
	send  func(*raw) error
}{
	"settings":        {"SETTINGS", 50, func(r *raw) error { return r.WriteSettings() }},
	"acknowledgments": {"SETTINGS", 50, func(r *raw) error { return r.WriteSettingsAck() }},
	"pings":           {"PING", 500, func(r *raw) error { return r.WritePing(false, [8]byte{}) }},
	"pongs":           {"PING", 500, func(r *raw) error { return r.WritePing(true, [8]byte{}) }},
	"empty data":      {"empty", 500, func(r *raw) error { return r.WriteData(1, false, nil) }},
	"padding alone":   {"empty", 500, func(r *raw) error { return r.WriteDataPadded(1, false, nil, make([]byte, 9)) }},
	"unknown frames":  {"empty", 500, func(r *raw) error { return r.WriteRawFrame(0xfa, 0, 0, nil) }},
	"priorities":      {"PRIORITY", 5000, func(r *raw) error { return r.WritePriority(1, http2.PriorityParam{Weight: 7}) }},
	"windows":         {"WINDOW_UPDATE", 5000, func(r *raw) error { return r.WriteWindowUpdate(0, 1) }},
}

// expectFlood sends a kind of frame until the connection has ended, and looks at what was said about it.
func expectFlood(t *testing.T, r *raw, send func(*raw) error, word string, why func() error) {
	t.Helper()
	said := make(chan http2.ErrCode, 1)
	go func() { // it reads, so that it is not ended for what it leaves unread
		defer close(said)
		for {
			f, err := r.ReadFrame()
			if away, is := f.(*http2.GoAwayFrame); is {
				said <- away.ErrCode
				io.Copy(io.Discard, r.conn)
			}
			if err != nil {
				return
			}
		}
	}()
	for send(r) == nil {
	}
	if code := <-said; code != http2.ErrCodeEnhanceYourCalm {
		t.Error(code)
	}
	var flooded *flood.Error
	if err := why(); !errors.As(err, &flooded) || flooded.What != word {
		t.Errorf("it ended for: %v", err)
	}
}

func TestAServerThatFloods(t *testing.T) {
	for name, kind := range floods {
		t.Run(name, func(t *testing.T) {
			_, _, c, server := answering(t, ClientSettings{})
			for range kind.usual {
				kind.send(server)
			}
			done := ask(t.Context(), t, c, get("/"))
			frame[*http2.MetaHeadersFrame](server)
			server.head(3, true, ":status", "200")
			if got := <-done; got.err != nil {
				t.Fatalf("%d were too many: %v", kind.usual, got.err)
			}
			expectFlood(t, server, kind.send, kind.word, func() error { <-c.Done(); return c.Err() })
		})
	}
}

func TestAServerThatFloodsAStreamThatIsOver(t *testing.T) {
	for name, kind := range map[string]struct {
		word string
		send func(*raw) error
	}{
		"resets": {"RST_STREAM", func(r *raw) error { return r.WriteRSTStream(1, http2.ErrCodeCancel) }},
		"heads": {"empty", func(r *raw) error {
			return r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true})
		}},
		"malformed heads": {"refused", func(r *raw) error {
			return r.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88, 0x88}, EndHeaders: true, EndStream: true})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			body, _, c, server := answering(t, ClientSettings{})
			body.Close()
			frame[*http2.RSTStreamFrame](server)
			expectFlood(t, server, kind.send, kind.word, func() error { <-c.Done(); return c.Err() })
		})
	}
}

func TestInterimAnswersWithoutEnd(t *testing.T) {
	c, server := rawServer(t, ClientSettings{})
	done := ask(t.Context(), t, c, get("/"))
	frame[*http2.MetaHeadersFrame](server)
	for range 101 {
		server.head(1, false, ":status", "103")
	}
	if got := <-done; got.err == nil {
		t.Error("the answer was waited for")
	}
	frame[*http2.RSTStreamFrame](server)
}

func TestABrowserThatFloods(t *testing.T) {
	for name, kind := range floods {
		t.Run(name, func(t *testing.T) {
			s, browser := rawClient(t, func(*Exchange) {})
			browser.request(1, false)
			for range kind.usual {
				kind.send(browser)
			}
			expectFlood(t, browser, kind.send, kind.word, func() error { <-s.Done(); return s.why() })
		})
	}
}

// A server that gives both windows back for each frame of a large upload says much, and is no flood.
func TestWindowsOfALargeUpload(t *testing.T) {
	const size = 40_000_000 // 50,000 frames
	c, server := rawServer(t, ClientSettings{}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 800})
	frame[*http2.SettingsFrame](server)
	testkit.Eventually(t, "the settings are known", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.peer.initialWindow == 800
	})
	request := get("/")
	request.Method, request.Body, request.BodySize = "POST", io.LimitReader(zeros{}, size), size
	done := ask(t.Context(), t, c, request)
	for ends := false; !ends; {
		data := frame[*http2.DataFrame](server)
		if ends = data.StreamEnded(); !ends {
			server.WriteWindowUpdate(1, uint32(data.Length))
			server.WriteWindowUpdate(0, uint32(data.Length))
		}
	}
	server.head(1, true, ":status", "200")
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

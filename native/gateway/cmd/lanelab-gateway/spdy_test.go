package main

import (
	"bufio"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
	"lanelab/gateway/internal/testkit"
)

// A spdySite is an origin that holds its answers to /held, and whose connections the test has.
type spdySite struct {
	held  chan bool // one more came
	let   chan bool // closed: they are answered
	mu    sync.Mutex
	conns []*spdyconn.ServerConn
}

func (s *spdySite) accepted(conn *spdyconn.ServerConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn)
}

func (s *spdySite) connections() []*spdyconn.ServerConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*spdyconn.ServerConn(nil), s.conns...)
}

// onEachSPDY runs a test with such an origin, which says greeting first; one request has been answered, and one is held.
func onEachSPDY(t *testing.T, greeting func(*spdy.Session), test func(*testing.T, *spdySite, *world)) {
	for _, version := range []spdy.Version{spdy.V2, spdy.V3, spdy.V31} {
		t.Run(version.String(), func(t *testing.T) {
			site := &spdySite{held: make(chan bool, 10), let: make(chan bool)}
			server := &spdyconn.Server{Version: version, Greet: greeting, Accepted: site.accepted, Handler: func(st *spdyconn.ServerStream) {
				if st.Head.Path == "/held" {
					site.held <- true
					select {
					case <-site.let:
					case <-st.Over():
					}
				}
				_ = st.Reply(200, false)
			}}
			listener := testkit.Listen(t)
			go server.Listen(listener)
			w := begin(t, testkit.NewIdentity(t, "x").Pin, testkit.Port(listener.Addr()), settings{"protocol": version.String()}, nil)
			w.get(url(names[0], "/"))
			whole := fetching(w, "/held")
			<-site.held
			test(t, site, w)
			close(site.let)
			if err := <-whole; err != nil {
				t.Error(err)
			}
		})
	}
}

// fetching gets something elsewhere.
func fetching(w *world, path string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, _, err := w.fetch("GET", url(names[0], "%s", path), nil)
		done <- err
	}()
	return done
}

func TestAServerThatGoesAwayGetsANewConnectionAtOnce(t *testing.T) {
	onEachSPDY(t, nil, func(t *testing.T, site *spdySite, w *world) {
		client := site.connections()[0]
		client.GoAway()
		for range 3 { // at the latest the second one finds the connection leaving
			if _, text, err := w.fetch("GET", url(names[0], "/"), nil); err != nil || text != "" {
				t.Fatalf("%q, %v", text, err)
			}
		}
		if found := len(site.connections()); found != 2 {
			t.Errorf("%d connections", found)
		}
	})
}

func TestRequestsThatWaitGoWhenTheServerTakesMore(t *testing.T) {
	only := func(count uint32) func(*spdy.Session) {
		return func(s *spdy.Session) { s.Tell(spdy.Setting{ID: spdy.SettingMaxConcurrentStreams, Value: count}) }
	}
	onEachSPDY(t, only(1), func(t *testing.T, site *spdySite, w *world) {
		second := fetching(w, "/")
		testkit.Eventually(t, "it waits", func() bool { return w.gateway.pools.Waiting() == 1 })
		site.connections()[0].Do(only(2))
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

// What is set for SPDY is what the server is told, and how it is told.
func TestSPDYsSettingsAreOnTheWire(t *testing.T) {
	for _, c := range []struct {
		wire   settings
		window uint32
		effort byte // as zlib's head has it: 3 for level 9
	}{
		{settings{"protocol": "spdy/3"}, 6 << 20, 3},
		{settings{"protocol": "spdy/3", "stream_window": 64 << 10, "spdy_header_compression": 0}, 64 << 10, 0},
	} {
		told := make(chan spdy.Frame, 10)
		o := rawOrigin(t, func(_ int, _ net.Conn, reader *bufio.Reader) {
			decoder := spdy.NewDecoder(spdy.V3, 64<<10)
			for {
				piece := make([]byte, 1) // a frame's bytes are its reader's then
				if _, err := io.ReadFull(reader, piece); err != nil {
					return
				}
				if frame, _, err := decoder.Next(piece); frame != nil || err != nil {
					told <- frame
				}
			}
		})
		w := begin(t, o.pin, o.port, c.wire, nil)
		fetching(w, "/")
		for request := (spdy.SynStream{}); request.StreamID == 0; {
			switch f := (<-told).(type) {
			case spdy.Settings:
				if !slices.Contains(f.Entries, spdy.Setting{ID: spdy.SettingInitialWindowSize, Value: c.window}) {
					t.Errorf("%v: it says %+v", c.wire, f)
				}
			case spdy.SynStream:
				if request = f; f.Block[1]>>6 != c.effort {
					t.Errorf("%v: its header block begins with %x", c.wire, f.Block[:2])
				}
			case nil:
				t.Fatal("it speaks something else")
			}
		}
	}
}

package spdy

import (
	"strings"
	"testing"
	"time"

	"lanelab/gateway/internal/flood"
)

func TestPeerThatSendsWithoutReading(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		for name, frame := range map[string]Frame{"pings": Ping{1}, "bodies of no stream": Data{StreamID: 99, Payload: []byte("x")}} {
			p, tick := slowPeer(t, ServerRole, version)
			for i := range 3 * maxAnswers {
				tick()
				_, err := p.say(frame)
				if i < maxAnswers-1 && err != nil {
					t.Fatalf("%s: refused already after %d: %v", name, i, err)
				}
				if err != nil {
					break
				}
			}
			if p.session.failure == nil {
				t.Errorf("%s: %d of them were taken", name, 3*maxAnswers)
			}
			// One that reads may send as many as it likes, in as much time.
			p, tick = slowPeer(t, ServerRole, version)
			for range 3 * maxAnswers {
				tick()
				if _, err := p.say(frame); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				p.said()
			}
		}
	})
}

// slowPeer is a peer of a session for which much time passes at each tick.
func slowPeer(t *testing.T, role Role, version Version) (p *rawPeer, tick func()) {
	now := time.Unix(1000, 0)
	config := testConfig
	config.Now = func() time.Time { return now }
	session := NewSession(role, version, config)
	t.Cleanup(session.Close)
	return newRawPeer(t, session), func() { now = now.Add(flood.Period / 10) }
}

// What a server may send some of, but not without end.
func TestServersThatFlood(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		for name, c := range map[string]struct {
			word  string
			usual int // that must be taken
			frame func(*rawPeer) Frame
		}{
			"settings":      {"SETTINGS", 50, func(*rawPeer) Frame { return Settings{} }},
			"pings":         {"PING", 500, func(*rawPeer) Frame { return Ping{2} }},
			"pongs":         {"PING", 500, func(*rawPeer) Frame { return Ping{1} }},
			"empty data":    {"empty", 500, func(*rawPeer) Frame { return Data{StreamID: 1} }},
			"headers":       {"empty", 500, func(p *rawPeer) Frame { return Headers{1, false, p.block()} }},
			"unknown":       {"empty", 500, func(*rawPeer) Frame { return Unknown{FrameType(200), 0, nil} }},
			"farewells":     {"empty", 500, func(*rawPeer) Frame { return GoAway{1, GoAwayOK} }},
			"resets":        {"RST_STREAM", 500, func(*rawPeer) Frame { return RstStream{7, Cancel} }},
			"wrong streams": {"refused", 500, func(*rawPeer) Frame { return Data{StreamID: 9, Payload: []byte("x")} }},
			"windows":       {"WINDOW_UPDATE", 5000, func(*rawPeer) Frame { return WindowUpdate{3, 1} }},
		} {
			if name == "windows" && !version.streamWindows() {
				continue
			}
			session := newTestSession(t, ClientRole, version)
			p := newRawPeer(t, session)
			if _, _, err := session.Request(version.RequestFields(RequestHead{Method: "GET", Scheme: "http", Host: "a", Path: "/"}), 0, true); err != nil {
				t.Fatal(err)
			}
			p.say(SynReply{1, false, p.block(version.ResponseFields(200, nil)...)})
			var err error
			count := 0
			for ; err == nil && count < 20_000; count++ {
				_, err = p.say(c.frame(p))
				p.said()
			}
			if !isSession(err) || !strings.Contains(err.Error(), "more than") || !strings.Contains(err.Error(), c.word+" frames") {
				t.Errorf("%s, %s: after %d: %v", version, name, count, err)
			}
			if count <= c.usual {
				t.Errorf("%s, %s: %d were too many", version, name, count)
			}
		}
	})
}

func TestStreamsBeyondTheLimit(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		config := testConfig
		config.MaxPeerStreams = 2
		session := NewSession(ServerRole, version, config)
		defer session.Close()
		p := newRawPeer(t, session)
		request := version.RequestFields(RequestHead{Method: "POST", Scheme: "http", Host: "a", Path: "/"})
		for _, id := range []uint32{1, 3, 5, 7} {
			if _, err := p.say(SynStream{StreamID: id, Block: p.block(request...)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := resets(p.said()); got != "5 REFUSED_STREAM 7 REFUSED_STREAM " {
			t.Errorf("got %q", got)
		}
		session.Reset(1, InternalError)
		events, err := p.say(SynStream{StreamID: 9, Block: p.block(request...)})
		if err != nil || len(events) != 1 {
			t.Errorf("with room again: %v, %v", events, err)
		}
	})
}

func TestHeadersBeyondTheLimit(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		p := newRawPeer(t, newTestSession(t, ServerRole, version))
		_, err := p.say(SynStream{StreamID: 1, Block: p.block(Field{Name: "a", Value: strings.Repeat("b", testConfig.MaxHeaderBytes)})})
		if !isSession(err) {
			t.Errorf("got %v", err)
		}
		said := p.said()
		if _, is := said[len(said)-1].(GoAway); !is {
			t.Errorf("it said %v", said)
		}
	})
}

func TestFieldsThatBreakARule(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		p := newRawPeer(t, newTestSession(t, ServerRole, version))
		// mergeFields would join the two: written by hand.
		block := appendSize(nil, version, 2)
		for range 2 {
			block = append(appendSize(block, version, 1), 'a')
			block = append(appendSize(block, version, 1), 'b')
		}
		_, err := p.say(SynStream{StreamID: 1, Block: p.compressor.compress(block)})
		if got := resets(p.said()); err != nil || got != "1 PROTOCOL_ERROR " {
			t.Errorf("got %v and %q", err, got)
		}
		request := version.RequestFields(RequestHead{Method: "GET", Scheme: "http", Host: "a", Path: "/"})
		events, err := p.say(SynStream{StreamID: 3, Fin: true, Block: p.block(request...)})
		if err != nil || len(events) != 1 {
			t.Errorf("the next stream gave %v, %v", events, err)
		}
	})
}

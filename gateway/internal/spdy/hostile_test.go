package spdy

import (
	"strings"
	"testing"
)

func TestPeerThatSendsWithoutReading(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		for name, frame := range map[string]Frame{"pings": Ping{1}, "bodies of no stream": Data{StreamID: 99, Payload: []byte("x")}} {
			p := newRawPeer(t, newTestSession(t, ServerRole, version))
			for i := range 3 * maxAnswers {
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
			// One that reads may send as many as it likes.
			p = newRawPeer(t, newTestSession(t, ServerRole, version))
			for range 3 * maxAnswers {
				if _, err := p.say(frame); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				p.said()
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

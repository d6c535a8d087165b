package spdy

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

var testConfig = Config{StreamWindow: 100_000, SessionWindow: 200_000, MaxPeerStreams: 100, MaxHeaderBytes: 10_000, MaxControlBytes: 10_000, HeaderLevel: 9}

func newTestSession(t testing.TB, role Role, version Version) *Session {
	session := NewSession(role, version, testConfig)
	t.Cleanup(session.Close)
	return session
}

// rawPeer writes frames to a session, right ones and wrong ones, and reads what it says.
type rawPeer struct {
	t          testing.TB
	version    Version
	session    *Session
	compressor *compressor
	decoder    *Decoder
}

func newRawPeer(t testing.TB, session *Session) *rawPeer {
	p := &rawPeer{t, session.version, session, newCompressor(session.version, 9), NewDecoder(session.version, 1<<20)}
	p.said() // the greeting
	return p
}

func (p *rawPeer) block(fields ...Field) []byte {
	return bytes.Clone(p.compressor.compress(appendBlock(nil, p.version, fields)))
}

func (p *rawPeer) say(frames ...Frame) ([]Event, error) {
	var wire []byte
	for _, frame := range frames {
		wire = AppendFrame(wire, p.version, frame)
	}
	return p.session.Receive(wire)
}

// said is what the session has to send.
func (p *rawPeer) said() []Frame {
	var frames []Frame
	for {
		wire := p.session.Produce(nil, 1000).Bytes
		if len(wire) == 0 {
			return frames
		}
		more, err := decodeAll(p.decoder, wire, len(wire))
		if err != nil {
			p.t.Fatalf("the session sent what cannot be decoded: %v", err)
		}
		frames = append(frames, more...)
	}
}

// resets are the streams that the session resets, and why.
func resets(frames []Frame) string {
	text := ""
	for _, frame := range frames {
		if reset, is := frame.(RstStream); is {
			text += fmt.Sprintf("%d %s ", reset.StreamID, reset.Status)
		}
	}
	return text
}

// A frame, as a client gets it on a stream that is in a state; what must become of it.
func TestEveryStateAndFrame(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		for _, state := range []string{"never opened", "unanswered", "answered", "ended by the server", "ended by both", "reset by us"} {
			for _, kind := range []string{"SYN_REPLY", "HEADERS", "DATA", "RST_STREAM"} {
				for _, fin := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, %s, fin %t", state, kind, fin), func(t *testing.T) { tryFrame(t, version, state, kind, fin) })
				}
			}
		}
	})
}

func tryFrame(t *testing.T, version Version, state, kind string, fin bool) {
	session := newTestSession(t, ClientRole, version)
	p := newRawPeer(t, session)
	reply := func(fin bool) Frame { return SynReply{1, fin, p.block(version.ResponseFields(200, nil)...)} }
	bring(t, session, p, state, reply)
	p.said()
	frame := map[string]func() Frame{
		"SYN_REPLY": func() Frame { return reply(fin) },
		"HEADERS":   func() Frame { return Headers{1, fin, p.block(Field{Name: "a", Value: "b"})} },
		"DATA":      func() Frame { return Data{StreamID: 1, Fin: fin, Payload: []byte("x")} },
		"RST_STREAM": func() Frame {
			return RstStream{1, Cancel}
		},
	}[kind]()
	events, err := p.say(frame)
	if err != nil {
		t.Fatalf("the session ended: %v", err)
	}
	got := ""
	for _, event := range events {
		got += fmt.Sprintf("%T ", event)
	}
	got += resets(p.said())
	if want := wanted(version, state, kind); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// The header compression is in step whatever the frame was.
	if _, _, err := session.Request(nil, 0, true); err != nil {
		t.Fatal(err)
	}
	next := session.nextID - 2
	events, err = p.say(SynReply{next, true, p.block(version.ResponseFields(204, nil)...)})
	if err != nil || len(events) != 1 || events[0].(Replied).StreamID != next {
		t.Errorf("the next reply gave %v, %v", events, err)
	}
}

// bring brings stream 1 into a state.
func bring(t *testing.T, session *Session, p *rawPeer, state string, reply func(bool) Frame) {
	t.Helper()
	if state == "never opened" {
		return
	}
	if _, _, err := session.Request(nil, 0, state == "ended by both"); err != nil {
		t.Fatal(err)
	}
	var err error
	switch state {
	case "answered":
		_, err = p.say(reply(false))
	case "ended by the server", "ended by both":
		_, err = p.say(reply(true))
	case "reset by us":
		session.Reset(1, Cancel)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wanted is what a frame leads to, by the drafts: what the session tells its owner, and what it resets.
func wanted(version Version, state, kind string) string {
	event := map[string]string{"SYN_REPLY": "spdy.Replied ", "HEADERS": "spdy.MoreHeaders ", "DATA": "spdy.Received ", "RST_STREAM": "spdy.Ended "}[kind]
	reset := func(status Status) string { return "spdy.Ended 1 " + status.in(version).String() + " " }
	switch state {
	case "never opened":
		if kind == "RST_STREAM" {
			return ""
		}
		return "1 INVALID_STREAM "
	case "unanswered":
		if kind == "HEADERS" || kind == "DATA" {
			return reset(ProtocolError)
		}
		return event
	case "answered":
		if kind == "SYN_REPLY" {
			return reset(StreamInUse)
		}
		return event
	case "ended by the server":
		if kind != "RST_STREAM" {
			return reset(StreamAlreadyClosed)
		}
		return event
	}
	return "" // gone: frames that cross with the end mean nothing
}

func TestStreamsThatMayNotBeOpened(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		request := version.RequestFields(RequestHead{Method: "GET", Scheme: "http", Host: "a", Path: "/"})
		for name, ids := range map[string][]uint32{"stream 0": {0}, "an even stream": {2}, "a lower stream": {5, 3}} {
			p := newRawPeer(t, newTestSession(t, ServerRole, version))
			var err error
			for _, id := range ids {
				_, err = p.say(SynStream{StreamID: id, Fin: true, Block: p.block(request...)})
			}
			said := p.said()
			away, is := said[len(said)-1].(GoAway)
			if !isSession(err) || !is || (version != V2 && away.Status != GoAwayProtocolError) {
				t.Errorf("%s: got %v, and was told %v", name, err, said)
			}
			if _, again := p.say(Ping{1}); !errors.Is(again, err) || len(p.said()) != 0 {
				t.Errorf("%s: after its end the session went on: %v", name, again)
			}
		}
		p := newRawPeer(t, newTestSession(t, ServerRole, version))
		_, first := p.say(SynStream{StreamID: 1, Block: p.block(request...)})
		_, second := p.say(SynStream{StreamID: 1, Block: p.block(request...)})
		if got := resets(p.said()); first != nil || second != nil || got != "1 PROTOCOL_ERROR " {
			t.Errorf("a stream opened twice: got %v, %v and %q", first, second, got)
		}
	})
}

func TestPushes(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		config := testConfig
		config.MaxPeerStreams = 1
		session := NewSession(ClientRole, version, config)
		defer session.Close()
		p := newRawPeer(t, session)
		if _, _, err := session.Request(nil, 0, true); err != nil {
			t.Fatal(err)
		}
		push := func(id, associated uint32, unidirectional bool) Frame {
			return SynStream{StreamID: id, AssociatedID: associated, Unidirectional: unidirectional, Block: p.block(version.ResponseFields(200, nil)...)}
		}
		events, err := p.say(push(2, 1, false), push(4, 3, true), push(6, 1, true), push(8, 1, true), Data{StreamID: 8, Payload: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		got := resets(p.said())
		if want := "2 PROTOCOL_ERROR 4 PROTOCOL_ERROR 8 REFUSED_STREAM "; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		want := "[spdy.Opened spdy.Refused]"
		if kinds := fmt.Sprintf("%T", events); len(events) != 2 || fmt.Sprintf("[%T %T]", events[0], events[1]) != want {
			t.Errorf("got %s %v, want %s", kinds, events, want)
		}
	})
}

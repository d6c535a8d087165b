package spdy

import (
	"bytes"
	"testing"
)

// answered is a client's session with a stream that has been answered, and is open both ways.
func answered(t *testing.T, version Version) (*Session, *rawPeer) {
	session := newTestSession(t, ClientRole, version)
	p := newRawPeer(t, session)
	if _, _, err := session.Request(nil, 0, false); err != nil {
		t.Fatal(err)
	}
	if _, err := p.say(SynReply{1, false, p.block(version.ResponseFields(200, nil)...)}); err != nil {
		t.Fatal(err)
	}
	p.said()
	return session, p
}

func dataBytes(frames []Frame) (count int) {
	for _, frame := range frames {
		if data, is := frame.(Data); is {
			count += len(data.Payload)
		}
	}
	return count
}

func TestWindowsHoldBackWhatIsSent(t *testing.T) {
	for version, want := range map[Version]int{V2: 300_000, V3: draftWindow, V31: draftWindow} {
		session, p := answered(t, version)
		if err := session.Write(1, make([]byte, 300_000), true); err != nil {
			t.Fatal(err)
		}
		if got := dataBytes(p.said()); got != want {
			t.Errorf("%s: %d bytes were sent, not %d", version, got, want)
		}
	}
}

func TestWindowsThatGrow(t *testing.T) {
	session, p := answered(t, V31)
	_ = session.Write(1, make([]byte, 300_000), true)
	p.said()
	for i, c := range []struct {
		frame Frame
		want  int
	}{
		{WindowUpdate{1, 10_000}, 0}, // the session's is used up
		{WindowUpdate{0, 5_000}, 5_000},
		{WindowUpdate{0, 100_000}, 5_000},
		{Settings{Entries: []Setting{{SettingInitialWindowSize, 0, draftWindow + 1_000}}}, 1_000},
		{Settings{Entries: []Setting{{SettingInitialWindowSize, 0, 100}}}, 0}, // the stream's is negative now
		{WindowUpdate{1, draftWindow + 900}, 0},
		{WindowUpdate{1, 1}, 1},
		{WindowUpdate{3, 1}, 0}, // no such stream
	} {
		if _, err := p.say(c.frame); err != nil {
			t.Fatal(err)
		}
		if got := dataBytes(p.said()); got != c.want {
			t.Errorf("step %d, %v: %d bytes were sent, not %d", i, c.frame, got, c.want)
		}
	}
}

func TestWindowsThatGrowTooFar(t *testing.T) {
	session, p := answered(t, V31)
	_, err := p.say(WindowUpdate{1, maxWindow})
	if got := resets(p.said()); err != nil || got != "1 FLOW_CONTROL_ERROR " || session.OpenStreams() != 0 {
		t.Errorf("a stream's: got %v and %q", err, got)
	}
	for name, frames := range map[string][]Frame{
		"the session's":     {WindowUpdate{0, maxWindow}},
		"new streams'":      {Settings{Entries: []Setting{{SettingInitialWindowSize, 0, maxWindow + 1}}}},
		"a stream's by all": {WindowUpdate{1, maxWindow - draftWindow}, Settings{Entries: []Setting{{SettingInitialWindowSize, 0, draftWindow + 1}}}},
	} {
		_, p := answered(t, V31)
		if _, err := p.say(frames...); !isSession(err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPeerThatIgnoresWindows(t *testing.T) {
	for _, version := range []Version{V3, V31} {
		session, p := answered(t, version)
		_, err := p.say(Data{StreamID: 1, Payload: make([]byte, testConfig.StreamWindow)}, Data{StreamID: 1, Payload: []byte("x")})
		if got := resets(p.said()); err != nil || got != "1 FLOW_CONTROL_ERROR " {
			t.Errorf("%s: got %v and %q", version, err, got)
		}
		_ = session
	}
	session, p := answered(t, V31)
	session.Reset(1, Cancel) // what still comes on it counts for the session
	_, err := p.say(Data{StreamID: 1, Payload: make([]byte, testConfig.SessionWindow+1)})
	if !isSession(err) {
		t.Errorf("the session's: got %v", err)
	}
}

func TestWhatIsConsumedIsGivenBack(t *testing.T) {
	session, p := answered(t, V31)
	if _, err := p.say(Data{StreamID: 1, Payload: make([]byte, 90_000)}); err != nil {
		t.Fatal(err)
	}
	if said := p.said(); len(said) != 0 {
		t.Errorf("unread, it said %v", said)
	}
	session.Consume(1, 50_000)
	if said := p.said(); len(said) != 0 {
		t.Errorf("after half, it said %v", said)
	}
	session.Consume(1, 1)
	if said := p.said(); len(said) != 1 || said[0] != (WindowUpdate{1, 50_001}) {
		t.Errorf("after more than half, it said %v", said)
	}
	// What comes on a stream that is gone is consumed by itself.
	session.Reset(1, Cancel)
	p.said()
	if _, err := p.say(Data{StreamID: 1, Payload: make([]byte, 60_000)}); err != nil {
		t.Fatal(err)
	}
	if said := p.said(); len(said) != 1 || said[0] != (WindowUpdate{0, 110_001}) {
		t.Errorf("after data on a stream that is gone, it said %v", said)
	}
}

func TestTrailersFollowTheBody(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		session := newTestSession(t, ServerRole, version)
		p := newRawPeer(t, session)
		if _, err := p.say(SynStream{StreamID: 1, Fin: true, Block: p.block(version.RequestFields(RequestHead{"GET", "http", "a", "/", nil})...)}); err != nil {
			t.Fatal(err)
		}
		body := bytes.Repeat([]byte("0123456789"), 5000)
		_, first := session.Reply(1, version.ResponseFields(200, nil), false)
		second, third := session.Write(1, body, false), session.Trailers(1, []Field{{Name: "a", Value: "b"}})
		if first != nil || second != nil || third != nil {
			t.Fatal(first, second, third)
		}
		said := p.said()
		trailers, last := said[len(said)-1].(Headers)
		if dataBytes(said) != len(body) || !last || !trailers.Fin || session.IsOpen(1) {
			t.Errorf("it said %d bytes of body and then %v", dataBytes(said), said[len(said)-1])
		}
		if err := session.Write(1, body, false); err == nil {
			t.Error("after the end more could be written")
		}
	})
}

// A stream that nobody reads must not keep the session's window from the others.
func TestUnreadStreamStarvesNoOther(t *testing.T) {
	session, p := answered(t, V31)
	if _, err := p.say(Data{StreamID: 1, Payload: make([]byte, testConfig.StreamWindow)}); err != nil {
		t.Fatal(err)
	}
	id, _, err := session.Request(nil, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.say(SynReply{id, false, p.block(V31.ResponseFields(200, nil)...)}); err != nil {
		t.Fatal(err)
	}
	p.said()
	window := testConfig.SessionWindow - testConfig.StreamWindow
	for range 100 {
		if window < 10_000 {
			t.Fatal("nothing may be sent any more, though all is read of what came last")
		}
		if _, err := p.say(Data{StreamID: id, Payload: make([]byte, 10_000)}); err != nil {
			t.Fatal(err)
		}
		window -= 10_000
		session.Consume(id, 10_000)
		for _, frame := range p.said() {
			if update, is := frame.(WindowUpdate); is && update.StreamID == 0 {
				window += int(update.Delta)
			}
		}
	}
}

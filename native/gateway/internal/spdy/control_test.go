package spdy

import (
	"slices"
	"testing"
)

func TestGoAway(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		session := newTestSession(t, ClientRole, version)
		p := newRawPeer(t, session)
		for range 4 {
			if _, _, err := session.Request(nil, 0, true); err != nil {
				t.Fatal(err)
			}
		}
		events, err := p.say(GoAway{LastGoodID: 3})
		if err != nil || len(events) != 1 || !slices.Equal(events[0].(WentAway).Unprocessed, []uint32{5, 7}) {
			t.Errorf("got %v, %v", events, err)
		}
		if session.OpenStreams() != 2 || session.Room() != 0 {
			t.Errorf("%d streams are open, there is room for %d", session.OpenStreams(), session.Room())
		}
		if _, _, err := session.Request(nil, 0, true); err == nil {
			t.Error("a stream was opened after GOAWAY")
		}
		events, err = p.say(SynReply{1, true, p.block(version.ResponseFields(200, nil)...)})
		if err != nil || len(events) != 1 {
			t.Errorf("a reply after GOAWAY gave %v, %v", events, err)
		}
	})
}

// After our own GOAWAY the peer's new streams, and all that comes on them, are ignored; the compression stays in step.
func TestStreamsAfterOurGoAway(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		session := newTestSession(t, ServerRole, version)
		p := newRawPeer(t, session)
		request := version.RequestFields(RequestHead{Method: "GET", Scheme: "http", Host: "a", Path: "/"})
		if _, err := p.say(SynStream{StreamID: 1, Block: p.block(request...)}); err != nil {
			t.Fatal(err)
		}
		session.GoAway(GoAwayOK)
		session.GoAway(GoAwayOK)
		said := p.said()
		if len(said) != 1 || said[0].(GoAway).LastGoodID != 1 {
			t.Errorf("it said %v", said)
		}
		events, err := p.say(SynStream{StreamID: 3, Block: p.block(request...)}, Data{StreamID: 3, Payload: []byte("x")}, RstStream{3, Cancel},
			Headers{1, true, p.block(Field{Name: "a", Value: "b"})})
		if said := p.said(); err != nil || len(events) != 1 || len(said) != 0 {
			t.Errorf("got %v, %v and %v", events, err, said)
		}
	})
}

func TestSettings(t *testing.T) {
	for _, version := range []Version{V3, V31} {
		session := newTestSession(t, ClientRole, version)
		p := newRawPeer(t, session)
		_, err := p.say(Settings{Entries: []Setting{{SettingMaxConcurrentStreams, PersistValue, 2}, {SettingInitialWindowSize, 0, 7}, {5, PersistValue, 9}}})
		if err == nil { // what comes back as remembered is not the peer's own
			_, err = p.say(Settings{Clear: true, Entries: []Setting{{SettingMaxConcurrentStreams, Persisted, 1}}})
		}
		if err != nil || session.Room() != 2 || session.streamWindow != 7 {
			t.Errorf("%s: %v; room for %d, windows of %d", version, err, session.Room(), session.streamWindow)
		}
	}
}

func TestPings(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		session := newTestSession(t, ClientRole, version)
		p := newRawPeer(t, session)
		events, err := p.say(Ping{2}, Ping{1}) // the second would be an answer
		if err != nil || len(events) != 0 {
			t.Errorf("got %v, %v", events, err)
		}
		if said := p.said(); len(said) != 1 || said[0] != (Ping{2}) {
			t.Errorf("it said %v", said)
		}
	})
}

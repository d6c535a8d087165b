package spdy

import (
	"bytes"
	"fmt"
	"hash/adler32"
	"reflect"
	"testing"
)

// Seeds are added here; what the fuzzers met that is worth keeping is in testdata/NAME.txt. Run one with
// `go test -run '^$' -fuzz FuzzSession -fuzztime 10m ./internal/spdy`. What it writes below testdata/fuzz,
// `python -m tools.corpus pack` adds to that file.

func versionOf(choice byte) Version { return Versions[int(choice)%len(Versions)] }

// whole joins the parts of DATA frames, so that what came in different pieces can be compared.
func whole(frames []Frame) (joined []Frame) {
	for _, frame := range frames {
		part, is := frame.(Data)
		if last := len(joined) - 1; is && part.Announced == 0 && last >= 0 && len(part.Payload) > 0 {
			data := joined[last].(Data)
			data.Payload, data.Fin = append(data.Payload, part.Payload...), part.Fin
			joined[last] = data
			continue
		}
		joined = append(joined, frame)
	}
	return joined
}

// A frame is the same in whichever pieces it comes, and encodes to what decodes to the same again.
func FuzzDecoder(f *testing.F) {
	addKept(f)
	for choice, version := range Versions {
		var wire []byte
		for _, frame := range append(someFrames(version), Data{StreamID: 1, Fin: true, Payload: []byte("body")}) {
			f.Add(byte(choice), AppendFrame(nil, version, frame), uint8(3))
			wire = AppendFrame(wire, version, frame)
		}
		f.Add(byte(choice), wire, uint8(1))
	}
	f.Fuzz(func(t *testing.T, choice byte, wire []byte, piece uint8) {
		version := versionOf(choice)
		at, atErr := decodeAll(NewDecoder(version, 4096), wire, len(wire)+1)
		inPieces, piecesErr := decodeAll(NewDecoder(version, 4096), wire, int(piece)+1)
		if !reflect.DeepEqual(whole(at), whole(inPieces)) || fmt.Sprint(atErr) != fmt.Sprint(piecesErr) {
			t.Fatalf("at once %v, %v\nin pieces %v, %v", at, atErr, inPieces, piecesErr)
		}
		for _, frame := range at {
			if data, is := frame.(Data); is && data.Announced != len(data.Payload) {
				continue // cut by the end of input
			}
			again, err := decodeAll(NewDecoder(version, 1<<20), AppendFrame(nil, version, frame), 1<<20)
			if err != nil || len(again) != 1 || !reflect.DeepEqual(again[0], sameOnWire(version, frame)) {
				t.Fatalf("%#v came back as %#v, %v", frame, again, err)
			}
		}
	})
}

// sameOnWire is a frame without what the wire does not carry for its version.
func sameOnWire(version Version, frame Frame) Frame {
	switch f := frame.(type) {
	case SynStream:
		f.Priority &= version.LowestPriority()
		return f
	case RstStream:
		f.Status = f.Status.in(version)
		return f
	case GoAway:
		if version == V2 {
			f.Status = 0
		}
		return f
	}
	return frame
}

func FuzzBlock(f *testing.F) {
	addKept(f)
	for choice, version := range Versions {
		f.Add(byte(choice), appendBlock(nil, version, version.RequestFields(RequestHead{"GET", "http", "a", "/", []Field{{Name: "cookie", Value: "a=b"}}})))
		f.Add(byte(choice), appendBlock(nil, version, []Field{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}, {Name: "b"}}))
	}
	f.Fuzz(func(t *testing.T, choice byte, block []byte) {
		version := versionOf(choice)
		fields, err := parseBlock(version, block)
		if err != nil {
			return
		}
		once := mergeFields(version, fields)
		again, err := parseBlock(version, appendBlock(nil, version, fields))
		if err != nil || !reflect.DeepEqual(mergeFields(version, again), once) {
			t.Fatalf("%q came back as %q, %v", fields, again, err)
		}
		_, _, _ = version.ParseResponse(fields)
		_, _ = version.ParseRequest(fields)
	})
}

// A block expands to the same in one piece and in two, and never to more than the limit.
func FuzzExpander(f *testing.F) {
	addKept(f)
	for choice, version := range Versions {
		compressor := newCompressor(version, 9)
		f.Add(byte(choice), bytes.Clone(compressor.compress([]byte("accept-encoding gzip"))), 3)
		f.Add(byte(choice), bytes.Clone(newCompressor(version, 9).compress(make([]byte, 5000))), 20)
	}
	f.Fuzz(func(t *testing.T, choice byte, block []byte, cut int) {
		const limit = 4000
		version := versionOf(choice)
		one, two := newExpander(version), newExpander(version)
		defer one.close()
		defer two.close()
		at, atErr := one.expand(block, limit)
		cut = max(0, min(cut, len(block)))
		first, firstErr := two.expand(block[:cut], limit)
		if firstErr != nil {
			return
		}
		second, secondErr := two.expand(block[cut:], limit)
		if len(at) > limit || len(second) > limit {
			t.Fatalf("expanded to %d and %d bytes", len(at), len(second))
		}
		if atErr == nil && (secondErr != nil || !bytes.Equal(at, append(first, second...))) {
			t.Fatalf("at once %q, in two %q and %q, %v", at, first, second, secondErr)
		}
	})
}

// Whatever a peer sends, a session does not panic, what it says can be decoded, and its accounts are right.
func FuzzSessionBytes(f *testing.F) {
	addKept(f)
	for choice, version := range Versions {
		client := NewSession(ClientRole, version, testConfig)
		id, _, _ := client.Request(version.RequestFields(RequestHead{"POST", "http", "a", "/", nil}), 1, false)
		_ = client.Write(id, []byte("body"), true)
		f.Add(byte(choice), true, client.Produce(nil, 1<<20).Bytes)
		client.Close()
		wire := AppendFrame(nil, version, SynReply{1, false, newCompressor(version, 9).compress(appendBlock(nil, version, version.ResponseFields(200, nil)))})
		f.Add(byte(choice), false, AppendFrame(wire, version, Data{StreamID: 1, Fin: true, Payload: []byte("x")}))
	}
	f.Fuzz(func(t *testing.T, choice byte, server bool, wire []byte) {
		session := fuzzedSession(versionOf(choice), server)
		defer session.Close()
		events, _ := session.Receive(wire)
		react(session, events)
		checkSession(t, session)
	})
}

// mostPlanned frames of one input: with 70 kB each, thousands of them take longer on a busy machine than a fuzzer waits for one input (10 s).
const mostPlanned = 500

// FuzzSession gives frames whose header blocks are readable, which bytes found by chance hardly are: each five bytes of input are one frame.
func FuzzSession(f *testing.F) {
	addKept(f)
	f.Add(byte(0), true, []byte("\x01\x01\x01\x00\x00\x00\x01\x00\x09\x00\x09\x00\x00\x00\x08"))
	f.Add(byte(1), false, []byte("\x02\x01\x00\x00\x00\x00\x01\x00\x09\x00\x03\x01\x00\x00\x05\x07\x03\x00\x00\x00"))
	f.Add(byte(2), false, []byte("\x04\x04\x00\x00\x07\x09\x00\x7f\xff\xff\x08\x01\x01\x00\x00\x06\x00\x00\x00\x02"))
	f.Fuzz(func(t *testing.T, choice byte, server bool, plan []byte) {
		version := versionOf(choice)
		session := fuzzedSession(version, server)
		defer session.Close()
		blocks := storedBlocks{version: version}
		for plan = plan[:min(len(plan), 5*mostPlanned)]; len(plan) >= 5; plan = plan[5:] {
			events, err := session.Receive(AppendFrame(nil, version, plannedFrame(version, &blocks, plan)))
			react(session, events)
			checkSession(t, session)
			if err != nil {
				return
			}
		}
	})
}

func fuzzedSession(version Version, server bool) *Session {
	role := ClientRole
	if server {
		role = ServerRole
	}
	config := testConfig
	config.MaxPeerStreams = 3
	session := NewSession(role, version, config)
	for range 2 {
		if id, _, err := session.Request(nil, 1, false); err == nil && !server {
			_ = session.Write(id, make([]byte, 3*draftWindow), true)
		}
	}
	return session
}

// storedBlocks compresses nothing, for compressing takes most of a fuzzer's time: zlib allows that.
type storedBlocks struct {
	version Version
	begun   bool
}

func (s *storedBlocks) block(content []byte) (block []byte) {
	if !s.begun {
		s.begun = true
		block = appendWord([]byte{0x78, 0xbb}, adler32.Checksum(s.version.dictionary()))
	}
	size := uint16(len(content))
	return append(append(block, 0, byte(size), byte(size>>8), ^byte(size), ^byte(size>>8)), content...)
}

func plannedFrame(version Version, blocks *storedBlocks, plan []byte) Frame {
	id, fin, value := uint32(plan[1]), plan[2]&1 != 0, uint32(plan[2])<<16|uint32(plan[3])<<8|uint32(plan[4])
	block := func() []byte {
		return blocks.block(appendBlock(nil, version, []Field{{Name: "a", Value: string(plan[2:5])}}))
	}
	switch FrameType(plan[0] % 10) {
	case TypeSynStream:
		return SynStream{StreamID: id, AssociatedID: uint32(plan[4]), Priority: plan[3] & 3, Fin: fin, Unidirectional: plan[2]&2 != 0, Block: block()}
	case TypeSynReply:
		return SynReply{id, fin, block()}
	case TypeHeaders:
		return Headers{id, fin, block()}
	case TypeRstStream:
		return RstStream{id, Status(value)}
	case TypeSettings:
		return Settings{fin, []Setting{{SettingID(plan[1] % 10), plan[3], value << (plan[4] % 16)}}}
	case TypePing:
		return Ping{value}
	case TypeGoAway:
		return GoAway{id, GoAwayStatus(plan[2])}
	case TypeWindowUpdate:
		if version != V2 {
			return WindowUpdate{id, value << (plan[4] % 9)}
		}
	}
	return Data{StreamID: id, Fin: fin, Payload: make([]byte, value%70_000)}
}

// react does what an owner would.
func react(session *Session, events []Event) {
	for _, event := range events {
		switch e := event.(type) {
		case Opened:
			if e.StreamID%3 == 0 {
				_, _ = session.Reply(e.StreamID, nil, false)
				_ = session.Write(e.StreamID, make([]byte, 100_000), false)
				_ = session.Trailers(e.StreamID, []Field{{Name: "t", Value: "1"}})
			}
		case Received:
			session.Consume(e.StreamID, len(e.Bytes))
		}
	}
}

func checkSession(t *testing.T, session *Session) {
	t.Helper()
	decoder := NewDecoder(session.version, 1<<20)
	for session.Pending() {
		wire := session.Produce(nil, 1000).Bytes
		if len(wire) == 0 {
			break // what pends has no window
		}
		if _, err := decodeAll(decoder, wire, len(wire)); err != nil {
			t.Fatalf("it said what cannot be decoded: %v", err)
		}
	}
	ours, peers := 0, 0
	for id, st := range session.streams {
		if st.id != id || (st.local == ended && st.remote == ended && !st.sending.waiting()) {
			t.Fatalf("stream %d is kept: %+v", id, st)
		}
		if session.isOurs(id) {
			ours++
		} else {
			peers++
		}
		if st.sendWindow > maxWindow || st.receiveWindow > maxWindow {
			t.Fatalf("stream %d has windows of %d and %d", id, st.sendWindow, st.receiveWindow)
		}
	}
	if ours != session.ours || peers != session.peers || peers > session.config.MaxPeerStreams {
		t.Fatalf("%d and %d streams are counted as %d and %d", ours, peers, session.ours, session.peers)
	}
	if session.sendWindow < 0 || session.sendWindow > maxWindow || session.receiveWindow > int64(session.config.SessionWindow) {
		t.Fatalf("the session has windows of %d and %d", session.sendWindow, session.receiveWindow)
	}
}

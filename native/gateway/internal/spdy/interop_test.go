package spdy

import (
	"bytes"
	"net/http"
	"reflect"
	"testing"

	other "github.com/moby/spdystream/spdy"
)

// Another implementation's frames (SPDY/3, by moby/spdystream) must be ours, and ours theirs, through many header blocks of one session.

var otherFields = http.Header{
	":method": {"GET"}, ":path": {"/"}, ":version": {"HTTP/1.1"}, ":host": {"a.example"}, ":scheme": {"http"}, "accept": {"text/html", "image/png"},
}

func TestFramesOfAnother(t *testing.T) {
	var wire bytes.Buffer
	framer, err := other.NewFramer(&wire, &wire)
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range []other.Frame{
		&other.SettingsFrame{FlagIdValues: []other.SettingsFlagIdValue{{Flag: other.FlagSettingsPersistValue, Id: other.SettingsMaxConcurrentStreams, Value: 9}}},
		&other.SynStreamFrame{StreamId: 1, Priority: 5, Headers: otherFields},
		&other.HeadersFrame{StreamId: 1, Headers: http.Header{"late": {"1"}}},
		&other.DataFrame{StreamId: 1, Flags: other.DataFlagFin, Data: []byte("body")},
		&other.SynStreamFrame{StreamId: 3, Priority: 7, Headers: otherFields, CFHeader: other.ControlFrameHeader{Flags: other.ControlFlagFin}},
		&other.PingFrame{Id: 1},
		&other.RstStreamFrame{StreamId: 1, Status: other.Cancel},
		&other.WindowUpdateFrame{StreamId: 3, DeltaWindowSize: 10},
		&other.GoAwayFrame{LastGoodStreamId: 0, Status: other.GoAwayOK},
	} {
		if err := framer.WriteFrame(frame); err != nil {
			t.Fatal(err)
		}
	}
	session := newTestSession(t, ServerRole, V3)
	events, err := session.Receive(wire.Bytes())
	if err != nil || len(events) != 7 {
		t.Fatalf("got %d events %v, %v", len(events), events, err)
	}
	request := events[1].(Opened)
	if request.Priority != 5 || request.Fin || len(request.Fields) != 7 {
		t.Errorf("the first request is %+v", request)
	}
	for _, field := range request.Fields {
		if values := otherFields[field.Name]; values[0] != field.Value && values[len(values)-1] != field.Value {
			t.Errorf("it has a field %q", field)
		}
	}
	if last := events[4].(Opened); !last.Fin || last.Priority != 7 || len(last.Fields) != 7 {
		t.Errorf("the second request is %+v", last)
	}
	if body, is := events[3].(Received); !is || string(body.Bytes) != "body" || !body.Fin {
		t.Errorf("the body is %+v", events[3])
	}
	if end, is := events[6].(WentAway); !is {
		t.Errorf("after the reset came %+v", end)
	}
}

func TestFramesForAnother(t *testing.T) {
	session := newTestSession(t, ClientRole, V31)
	fields := V31.RequestFields(RequestHead{"GET", "http", "a.example", "/", []Field{{Name: "accept", Value: "text/html"}, {Name: "accept", Value: "image/png"}}})
	for range 3 {
		id, _, err := session.Request(fields, 5, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Write(id, []byte("body"), false); err != nil {
			t.Fatal(err)
		}
		if err := session.Trailers(id, []Field{{Name: "late", Value: "1"}}); err != nil {
			t.Fatal(err)
		}
	}
	session.queue(Ping{1})
	session.Reset(3, Cancel)
	session.GoAway(GoAwayOK)
	framer, err := other.NewFramer(nil, bytes.NewReader(session.Produce(nil, 1<<20).Bytes))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			break
		}
		kinds[reflect.TypeOf(frame).Elem().Name()]++
		if opening, is := frame.(*other.SynStreamFrame); is {
			if got := http.Header(opening.Headers); !reflect.DeepEqual(got, canonical(otherFields)) || opening.Priority != 5 {
				t.Errorf("stream %d has priority %d and %v", opening.StreamId, opening.Priority, got)
			}
		}
	}
	want := map[string]int{"SettingsFrame": 1, "WindowUpdateFrame": 1, "SynStreamFrame": 3, "DataFrame": 2, "HeadersFrame": 2, "PingFrame": 1,
		"RstStreamFrame": 1, "GoAwayFrame": 1}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("it read %v, not %v", kinds, want)
	}
}

// canonical is how that package keeps names.
func canonical(fields http.Header) http.Header {
	header := http.Header{}
	for name, values := range fields {
		for _, value := range values {
			header.Add(name, value)
		}
	}
	return header
}

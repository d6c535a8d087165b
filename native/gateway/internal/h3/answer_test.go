package h3

import (
	"errors"
	"io"
	"testing"

	"github.com/quic-go/quic-go/quicvarint"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

func TestAnAnswerIsReadPastWhatNobodyKnows(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	p.says(t, append(quicvarint.Append(nil, 0x21), "grease"...)) // a stream of a type that nobody knows
	p.says(t, []byte{streamEncoder})
	final := head(":status", "200", "content-type", "text/plain", "content-length", "9")
	p.answers(t, framed(0x21, []byte("grease")), head(":status", "103", "link", "</a.css>"), final,
		data("one "), framed(0x40, nil), data(""), data("two t"), head("x-sum", "1"))
	var informed []int
	asked := request("/a?b=c")
	asked.Informed = func(status int, _ []exchange.Field) { informed = append(informed, status) }
	notes := testkit.NewNotes(t)
	response, err := p.client.Start(t.Context(), asked, notes)()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if string(text) != "one two t" || err != nil || response.Status != 200 || len(informed) != 1 || informed[0] != 103 {
		t.Errorf("%q, %v, %d, %v", text, err, response.Status, informed)
	}
	if response.Fields[0] != (exchange.Field{Name: "content-type", Value: "text/plain"}) || len(response.Fields) != 2 {
		t.Errorf("%v", response.Fields)
	}
	plain := len(":status200content-typetext/plaincontent-length9") + 3*4
	if notes.Calls() != toldWhole || notes.AnswerBytes != plain || notes.AnswerWire != len(final) || notes.Bytes <= notes.Wire {
		t.Errorf("told %d times: %d and %d bytes, not %d and %d; asked with %d, on the wire %d",
			notes.Calls(), notes.AnswerBytes, notes.AnswerWire, plain, len(final), notes.Bytes, notes.Wire)
	}
	if p.client.Room() != 100 {
		t.Errorf("room for %d", p.client.Room())
	}
}

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for name, content := range map[string][][]byte{
		"nothing":               nil,
		"a cut frame":           {head(":status", "200")[:3]},
		"no status":             {head("a", "b")},
		"a status twice":        {head(":status", "200", ":status", "200")},
		"a status that is none": {head(":status", "2xx")},
		"a status out of place": {head("a", "b", ":status", "200")},
		"switching protocols":   {head(":status", "101")},
		"upper case":            {head(":status", "200", "A", "b")},
		"another's field":       {head(":status", "200", "connection", "close")},
		"a length that is none": {head(":status", "200", "content-length", "-1")},
		"two lengths":           {head(":status", "200", "content-length", "1", "content-length", "2")},
		"a table that is not":   {framed(frameHeaders, []byte{2, 0})},
		"too much":              {quicvarint.Append([]byte{frameHeaders}, mostHeaderBytes+1)},
		"a promise of too much": {quicvarint.Append([]byte{0x21}, mostPassedOver+1)},
	} {
		t.Run(name, func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, content...)
			if response, notes, err := p.asks(t, "/"); err == nil || errors.Is(err, exchange.ErrNotProcessed) {
				t.Errorf("%+v, %v, told %d times", response, err, notes.Calls())
			}
			p.answers(t, head(":status", "200"), data("x"))
			if response, _, err := p.asks(t, "/"); err != nil || response.Status != 200 {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}

func TestABodyThatIsNotWholeIsAnError(t *testing.T) {
	for name, content := range map[string][][]byte{
		"too short": {head(":status", "200", "content-length", "5"), data("four")},
		"too long":  {head(":status", "200", "content-length", "3"), data("four")},
		"a cut one": {head(":status", "200"), data("four")[:4]},
	} {
		t.Run(name, func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, content...)
			response, notes, err := p.asks(t, "/")
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) || notes.Calls() != toldBegun {
				t.Errorf("%q, %v, told %d times", text, err, notes.Calls())
			}
		})
	}
}

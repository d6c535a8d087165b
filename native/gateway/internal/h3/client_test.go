package h3

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

func TestWhatTheServerDidNotLookAtMayBeAskedForAgain(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	go func() {
		stream, err := p.conn.AcceptStream(t.Context())
		if err == nil {
			stream.CancelRead(codeRejected)
			stream.CancelWrite(codeRejected)
		}
	}()
	if _, _, err := p.asks(t, "/"); !errors.Is(err, exchange.ErrRefused) {
		t.Errorf("rejected: %v", err)
	}
	go func() {
		if _, err := p.conn.AcceptStream(t.Context()); err == nil {
			p.conn.CloseWithError(codeNone, "")
		}
	}()
	if _, _, err := p.asks(t, "/"); !errors.Is(err, exchange.ErrNotProcessed) || errors.Is(err, exchange.ErrNotSent) {
		t.Errorf("closed: %v", err)
	}
	<-p.client.Done()
	if p.client.Err() != nil || p.client.ClosedByUs() {
		t.Errorf("an orderly end: %v", p.client.Err())
	}
	if _, notes, err := p.asks(t, "/"); !errors.Is(err, exchange.ErrNotSent) || notes.Calls() != 0 {
		t.Errorf("after the end: %v, told %d times", err, notes.Calls())
	}
}

func TestAServerThatLeavesTakesNothingNewAndEndsWhatIsUnderWay(t *testing.T) {
	p := peerWith(t, nil, nil)
	control := p.says(t, settingsOnly)
	asked := make(chan *quic.Stream, 1)
	go func() {
		stream, _ := p.conn.AcceptStream(t.Context())
		asked <- stream
	}()
	wait := p.client.Start(t.Context(), request("/"), testkit.NewNotes(t))
	stream := <-asked
	control.Write(framed(frameGoAway, []byte{4}))
	testkit.Eventually(t, "the client knows", p.client.Leaving)
	if p.client.Room() != 0 {
		t.Error("there is room")
	}
	stream.Write(append(head(":status", "200"), data("x")...))
	stream.Close()
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(response.Body); string(text) != "x" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	<-p.client.Done()
	if p.client.Err() != nil {
		t.Errorf("%v", p.client.Err())
	}
}

func TestWhoGivesUpTellsTheServer(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	told := make(chan error, 1)
	go func() {
		stream, err := p.conn.AcceptStream(t.Context())
		if err == nil {
			stream.Write(append(head(":status", "200"), data("some")...))
			<-stream.Context().Done()
			err = context.Cause(stream.Context())
		}
		told <- err
	}()
	response, notes, err := p.asks(t, "/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	var cancelled *quic.StreamError
	if err := <-told; !errors.As(err, &cancelled) || cancelled.ErrorCode != codeCancelled {
		t.Errorf("%v", err)
	}
	if notes.Calls() != toldBegun || p.client.Room() != 100 {
		t.Errorf("told %d times, room for %d", notes.Calls(), p.client.Room())
	}
}

func TestARequestWhoseTimeIsOverWaitsNoMore(t *testing.T) {
	p := peerWith(t, settingsOnly, &quic.Config{MaxIncomingStreams: 1})
	ctx, cancel := context.WithCancel(t.Context())
	first, second := testkit.NewNotes(t), testkit.NewNotes(t)
	waits := []func() (*exchange.Response, error){p.client.Start(ctx, request("/1"), first), p.client.Start(ctx, request("/2"), second)}
	if first.Calls() != toldSent || second.Calls() != 0 {
		t.Errorf("told %d and %d times", first.Calls(), second.Calls())
	}
	cancel()
	for _, wait := range waits {
		if _, err := wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if p.client.Room() != 100 {
		t.Errorf("room for %d", p.client.Room())
	}
}

func TestACloseIsOurs(t *testing.T) {
	p := peerWith(t, settingsOnly, nil)
	p.client.Close()
	<-p.client.Done()
	if p.client.Err() != nil || !p.client.ClosedByUs() || !p.client.Leaving() {
		t.Errorf("%v", p.client.Err())
	}
	var told *quic.ApplicationError
	<-p.conn.Context().Done()
	if cause := context.Cause(p.conn.Context()); !errors.As(cause, &told) || told.ErrorCode != codeNone {
		t.Errorf("%v", cause)
	}
}

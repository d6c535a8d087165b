package h3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"

	"lanelab/gateway/internal/testkit"
)

func TestFramesOutOfPlaceEndTheConnection(t *testing.T) {
	for name, content := range map[string][][]byte{
		"data before the head": {data("x"), head(":status", "200")},
		"of HTTP/2":            {framed(0x8, nil)},
		"a push":               {framed(framePushPromise, []byte{0})},
		"settings":             {framed(frameSettings, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, content...)
			if _, _, err := p.asks(t, "/"); err == nil {
				t.Error("it was taken")
			}
			requireEnded(t, p, codeUnexpectedFrame)
		})
	}
	for name, content := range map[string][][]byte{
		"data after trailers": {head("x", "y"), data("x")}, "a push": {framed(framePushPromise, []byte{0})},
	} {
		t.Run(name+", in a body", func(t *testing.T) {
			p := peerWith(t, settingsOnly, nil)
			p.answers(t, append([][]byte{head(":status", "200"), data("x")}, content...)...)
			response, _, err := p.asks(t, "/")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(response.Body); err == nil {
				t.Error("it was taken")
			}
			requireEnded(t, p, codeUnexpectedFrame)
		})
	}
}

func TestAControlStreamThatIsNoneEndsTheConnection(t *testing.T) {
	for name, one := range map[string]struct {
		control []byte
		code    quic.ApplicationErrorCode
	}{
		"no settings":     {append([]byte{streamControl}, framed(frameGoAway, []byte{0})...), codeNoSettings},
		"settings again":  {append(bytes.Clone(settingsOnly), framed(frameSettings, nil)...), codeUnexpectedFrame},
		"data":            {append(bytes.Clone(settingsOnly), data("x")...), codeUnexpectedFrame},
		"of HTTP/2":       {append(bytes.Clone(settingsOnly), framed(0x6, nil)...), codeUnexpectedFrame},
		"settings for us": {append([]byte{streamControl, frameSettings}, quicvarint.Append(nil, mostHeaderBytes+1)...), codeFrame},
		"a push":          {[]byte{streamPush, 0}, codeNoSuchPush},
	} {
		t.Run(name, func(t *testing.T) { requireEnded(t, peerWith(t, one.control, nil), one.code) })
	}
	t.Run("an end", func(t *testing.T) {
		p := peerWith(t, nil, nil)
		p.says(t, settingsOnly).Close()
		requireEnded(t, p, codeControlEnded)
	})
}

// requireEnded waits for the end of a connection that the client broke off.
func requireEnded(t *testing.T, p *peer, code quic.ApplicationErrorCode) {
	t.Helper()
	select {
	case <-p.conn.Context().Done():
	case <-time.After(testkit.Patience):
		t.Fatal("the connection goes on")
	}
	var told *quic.ApplicationError
	if cause := context.Cause(p.conn.Context()); !errors.As(cause, &told) || told.ErrorCode != code {
		t.Errorf("%v, not %#x", cause, code)
	}
	<-p.client.Done()
	if p.client.Err() == nil || p.client.ClosedByUs() || p.client.Room() != 0 || !p.client.Leaving() {
		t.Errorf("%v", p.client.Err())
	}
}

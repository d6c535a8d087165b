package h2

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

func post() *exchange.Request {
	request := get("/form")
	request.Method, request.Body, request.BodySize = "POST", strings.NewReader("x"), 1
	return request
}

// The kernel may have a request though Write has not returned: it must not pass for one that was never sent.
func TestARequestThatIsBeingWrittenCountsAsSent(t *testing.T) {
	conn := testkit.NewStuck(t.Cleanup)
	c := NewClient(conn, ClientSettings{})
	<-conn.Wrote // the preface
	conn.Let <- nil
	notes := testkit.NewNotes(t)
	wait := c.Start(t.Context(), post(), notes)
	<-conn.Wrote
	close(conn.Ended)
	_, err := wait()
	if !errors.Is(err, exchange.ErrNotProcessed) || errors.Is(err, exchange.ErrNotSent) {
		t.Errorf("%v", err)
	}
	if notes.Calls() != 1 {
		t.Errorf("%d notes when the end was told", notes.Calls())
	}
	conn.Let <- nil
}

func TestARequestThatTheWriterHadNotBegunIsSurelyNotSent(t *testing.T) {
	conn := testkit.NewStuck(t.Cleanup)
	c := NewClient(conn, ClientSettings{})
	<-conn.Wrote // the preface, which is stuck
	notes := testkit.NewNotes(t)
	wait := c.Start(t.Context(), post(), notes)
	c.closeWith(http2.ErrCodeNo, errors.New("it has to end"))
	if _, err := wait(); !errors.Is(err, exchange.ErrNotSent) {
		t.Errorf("%v", err)
	}
	conn.Let <- nil
	conn.Let <- nil
	<-c.quiet
	good := <-conn.Wrote
	if len(good) < 9 || http2.FrameType(good[3]) != http2.FrameGoAway || !bytes.HasSuffix(good, []byte("it has to end")) || notes.Calls() > 0 {
		t.Errorf("behind the preface came %q; %d notes", good, notes.Calls())
	}
}

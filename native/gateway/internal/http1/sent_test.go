package http1

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

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
	c := NewClient(conn, oneAtATime)
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

// withoutLoops is a connection whose goroutines the test plays itself.
func withoutLoops(t *testing.T, settings Settings) (*Conn, *testkit.Stuck) {
	conn := testkit.NewStuck(t.Cleanup)
	c := &Conn{conn: conn, settings: settings, done: make(chan struct{})}
	c.wake = sync.Cond{L: &c.mu}
	return c, conn
}

func TestARequestThatTheWriterHadNotBegunIsSurelyNotSent(t *testing.T) {
	c, conn := withoutLoops(t, oneAtATime)
	notes := testkit.NewNotes(t)
	wait := c.Start(t.Context(), post(), notes)
	burst := c.nextBurst()
	c.end(io.EOF)
	if _, err := wait(); !errors.Is(err, exchange.ErrNotSent) {
		t.Errorf("%v", err)
	}
	conn.Let <- nil
	if err := c.writeBurst(burst); err != nil || len(conn.Wrote) > 0 || notes.Calls() > 0 {
		t.Errorf("it was sent all the same: %v, %d notes", err, notes.Calls())
	}
}

// Without keep-alive a connection carries one request: one that was cancelled before it was taken is none.
func TestACancelledRequestThatWasNotSentLeavesItsPlace(t *testing.T) {
	c, _ := withoutLoops(t, Settings{Depth: 1})
	ctx, cancel := context.WithCancel(t.Context())
	wait := c.Start(ctx, get("/"), testkit.NewNotes(t))
	cancel()
	if _, err := wait(); err == nil || c.Room() != 1 {
		t.Errorf("%v, room for %d", err, c.Room())
	}
}

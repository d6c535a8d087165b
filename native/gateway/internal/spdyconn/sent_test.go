package spdyconn

import (
	"errors"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

// The kernel may have a request though Write has failed: it must not pass for one that was never sent.
func TestWhatIsSurelyNotSent(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		conn := testkit.NewStuck(t.Cleanup)
		c, err := NewClient(conn, version, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		<-conn.Wrote // SETTINGS
		conn.Let <- nil
		var taken, queued recorder
		waitTaken := c.Start(deadline(t), get("/taken"), &taken)
		<-conn.Wrote
		waitQueued := c.Start(deadline(t), get("/queued"), &queued)
		conn.Let <- errors.New("broken pipe")
		if _, err := waitTaken(); !errors.Is(err, exchange.ErrNotProcessed) || errors.Is(err, exchange.ErrNotSent) {
			t.Errorf("what was being written: %v", err)
		}
		if _, err := waitQueued(); !errors.Is(err, exchange.ErrNotSent) {
			t.Errorf("what waited behind it: %v", err)
		}
		if len(taken.calls) != 1 || len(queued.calls) != 0 {
			t.Errorf("noted: %v, %v", taken.calls, queued.calls)
		}
	})
}

package exchange

import "context"

// A Promise is the request for which a server sends an answer without having been asked.
type Promise struct {
	Stream, Associated              uint32
	Method, Scheme, Authority, Path string
	Fields                          []Field // of that request; where the protocol does not say any, those of the request that it belongs to
}

// Pushed is such an answer on its way. Its methods may be called once each, without the connection's lock.
type Pushed interface {
	// Wait returns when its head is there. Cancelling ctx cancels it.
	Wait(ctx context.Context) (*Response, error)
}

// TakePush decides about a promise. It is called with the connection's lock held, so it calls nothing of it. It returns what is told of the answer;
// nil: the answer is not wanted, and its stream is reset.
type TakePush func(promise Promise, pushed Pushed) Notes

// StreamUse is what was said of streams on a connection that multiplexes, and how they took turns.
type StreamUse struct {
	Told         map[string]uint32 // our SETTINGS, by name; and `connection_window`, where there is one
	Acknowledged bool              // the server said that it follows them; SPDY knows no such thing
	Heard        map[string]uint32 // the server's SETTINGS, those of them that came last
	DataFrames   int               // with a part of a body, that came
	Switches     int               // of these, how many were of another stream than the one before, which had not ended
	Refused      int               // pushes that were refused since none are taken
}

// A Multiplexer is a Conn that can tell of them.
type Multiplexer interface {
	StreamUse() StreamUse
}

// A Turns counts how streams take turns.
type Turns struct {
	DataFrames, Switches int
	last                 uint32
}

// Data counts a frame with a part of a body.
func (t *Turns) Data(stream uint32) {
	t.DataFrames++
	if t.last != 0 && t.last != stream {
		t.Switches++
	}
	t.last = stream
}

// Over: a stream has ended; that another one follows is no switch.
func (t *Turns) Over(stream uint32) {
	if t.last == stream {
		t.last = 0
	}
}

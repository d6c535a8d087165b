package spdy

import "fmt"

// A SessionError ends the session: what the peer sent can no longer be read in step, or breaks a rule whose answer is GOAWAY.
type SessionError struct {
	Status GoAwayStatus // told to the peer
	Reason string
}

func (e *SessionError) Error() string {
	return fmt.Sprintf("spdy: session ended with GOAWAY %s: %s", e.Status, e.Reason)
}

func protocolError(format string, values ...any) *SessionError {
	return &SessionError{GoAwayProtocolError, fmt.Sprintf(format, values...)}
}

// A StreamError ends one stream.
type StreamError struct {
	StreamID uint32
	Status   Status
	ByPeer   bool // the peer reset the stream; otherwise we did, because of what the peer sent
	Reason   string
}

func (e *StreamError) Error() string {
	by := "by us"
	if e.ByPeer {
		by = "by the peer"
	}
	text := fmt.Sprintf("spdy: stream %d was reset %s with %s", e.StreamID, by, e.Status)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

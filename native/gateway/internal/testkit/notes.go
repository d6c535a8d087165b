package testkit

import (
	"sync"
	"testing"
)

// Notes remembers what an exchange's Notes were told, and fails the test where that comes in another order or twice.
type Notes struct {
	t testing.TB

	mu                                             sync.Mutex
	calls                                          []string
	Stream                                         uint32
	Bytes, Wire, InFlight, AnswerBytes, AnswerWire int
}

// NewNotes makes them for one exchange.
func NewNotes(t testing.TB) *Notes { return &Notes{t: t} }

func (n *Notes) call(name string, after int) {
	if len(n.calls) != after {
		n.t.Errorf("%s after %v", name, n.calls)
	}
	n.calls = append(n.calls, name)
}

// Sent implements exchange.Notes.
func (n *Notes) Sent(stream uint32, bytes, wire, inFlight int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.call("sent", 0)
	n.Stream, n.Bytes, n.Wire, n.InFlight = stream, bytes, wire, inFlight
}

// FirstByte implements exchange.Notes.
func (n *Notes) FirstByte(bytes, wire int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.call("first", 1)
	n.AnswerBytes, n.AnswerWire = bytes, wire
}

// LastByte implements exchange.Notes.
func (n *Notes) LastByte() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.call("last", 2)
}

// Calls is how many have come.
func (n *Notes) Calls() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.calls)
}

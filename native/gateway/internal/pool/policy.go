package pool

import (
	"slices"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
)

// A policy decides which connection of HTTP/1.1 carries which request. Each host has one, since it learns.
type policy interface {
	// classOf a request: those of one class may share a pipeline.
	classOf(*exchange.Request) class
	// decide is pure: it depends on what was learnt and on the situation, and changes neither.
	decide(situation) decision
	// learn what became of a request.
	learn(outcome)
	// settle takes note of what has come to its end.
	settle(situation)
}

func newPolicy(wire *config.Wire) policy {
	switch wire.PipeliningPolicy {
	case config.Firefox:
		return &firefox{}
	case config.Chromium:
		return &chromium{}
	}
	return &eager{}
}

// A class of requests.
type class string

// solo: nothing is put behind such a request, nor it behind anything.
const solo class = "solo"

// A situation is what a host's connections and requests are in.
type situation struct {
	depth, limit int // of a pipeline; of connections
	connecting   int // connections that are being made, those that take part in limit only
	promised     int // those of them that requests wait for
	conns        []connState
	waiting      []class // of the requests that wait, in the order in which they may go
}

type connState struct {
	number     int
	unanswered int
	unheard    int // of which the policy has not learnt yet what became of them
	room       int
	class      class // of what is on it
	lastUsed   int
}

func (c *connState) idle() bool { return c.unanswered == 0 && c.room > 0 }

// A decision: which of those that wait are started, in this order, and how many connections are begun.
type decision struct {
	starts  []start
	connect int
}

type start struct{ waiting, conn int } // places in the situation

// An outcome is what a policy learns of.
type outcome struct {
	kind      kind
	class     class
	conn      int
	position  int  // in its pipeline, when it was sent; from 1
	successes int  // on its connection since that was idle last, this one counted
	alone     bool // its connection carried nothing else since then
}

type kind int

const (
	begun          kind = iota // it was put on a connection
	good                       // answered as HTTP/1.1, and the connection stays
	closes                     // answered, and the server closes
	oldVersion                 // answered as HTTP/1.0
	authentication             // answered with a demand for it
	broke                      // the connection ended, or what came was no answer
	evicted                    // the connection ended for a reason of another request's
)

func (s situation) clone() situation {
	s.conns = slices.Clone(s.conns)
	return s
}

// put a request on a connection: in the decision, and in this copy of the situation.
func (s *situation) put(d *decision, waiting, conn int) {
	c := &s.conns[conn]
	if c.idle() {
		c.class = s.waiting[waiting]
	}
	c.unanswered++
	if c.room--; s.waiting[waiting] == solo {
		c.room = 0
	}
	d.starts = append(d.starts, start{waiting, conn})
}

// idle finds a connection without a request: the one that was used last, else the oldest. That is Chromium's choice. -1: none.
func (s *situation) idle() int {
	best := -1
	for i := range s.conns {
		if s.conns[i].idle() && (best < 0 || s.conns[i].lastUsed > s.conns[best].lastUsed) {
			best = i
		}
	}
	return best
}

// shortest finds the connection of a class with the fewest unanswered requests, fewer than depth. -1: none.
func (s *situation) shortest(wanted class, depth int) int {
	best := -1
	for i, c := range s.conns {
		if c.class == wanted && c.room > 0 && c.unanswered > 0 && c.unanswered < depth &&
			(best < 0 || c.unanswered < s.conns[best].unanswered) {
			best = i
		}
	}
	return best
}

// wantConnection notes that a request waits for a connection: one that is being made already, else a new one if there may be more.
func (s *situation) wantConnection(d *decision) {
	if s.promised > 0 {
		s.promised--
	} else if len(s.conns)+s.connecting+d.connect < s.limit {
		d.connect++
	}
}

// destination is what for the browser wants an answer, by its Sec-Fetch-Dest; empty where it does not say.
func destination(request *exchange.Request) string { return field(request, "sec-fetch-dest") }

func field(request *exchange.Request, name string) string {
	for _, one := range request.Fields {
		if one.Name == name {
			return one.Value
		}
	}
	return ""
}

package pool

import (
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/http1"
)

// eager sends requests ahead as early as can be: it takes an idle connection, else a new one, and then a place behind others, whatever they are.
type eager struct {
	lasting bool // the host has answered as HTTP/1.1 and kept the connection: before that nobody knows whether it takes a pipeline
}

// any: what may be pipelined may be behind everything that may.
const anything class = "any"

func (e *eager) classOf(request *exchange.Request) class {
	if http1.Pipelinable(request) {
		return anything
	}
	return solo
}

func (e *eager) learn(o outcome) { e.lasting = e.lasting || o.kind == good || o.kind == authentication }

func (e *eager) settle(situation) {}

func (e *eager) decide(s situation) decision {
	s = s.clone()
	var d decision
	var left []int
	for i := range s.waiting {
		if idle := s.idle(); idle >= 0 {
			s.put(&d, i, idle)
		} else {
			left = append(left, i)
		}
	}
	d.connect = max(0, min(len(left)-s.promised, s.limit-len(s.conns)-s.connecting))
	made := s.promised + d.connect
	if s.depth < 2 || !e.lasting || len(left) <= made {
		return d
	}
	// The last ones are left to the connections that are being made: the urgent ones are on their way now.
	emptyWanted := 0 // of those before: nothing less urgent is put on the connection that would be idle soonest
	for _, i := range left[:len(left)-made] {
		if s.waiting[i] == solo {
			emptyWanted++
			continue
		}
		best, second := s.twoShortest()
		if emptyWanted > made {
			best = second
		}
		if best >= 0 {
			s.put(&d, i, best)
		}
	}
	return d
}

func (s *situation) twoShortest() (best, second int) {
	best, second = -1, -1
	for i, c := range s.conns {
		switch {
		case c.room < 1:
		case best < 0 || c.room > s.conns[best].room:
			best, second = i, best
		case second < 0 || c.room > s.conns[second].room:
			second = i
		}
	}
	return best, second
}

package pool

import (
	"slices"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/http1"
)

// chromium pipelines as Chromium 18 to about 30 did with --enable-http-pipelining. Sources and grades: docs/reference/gateway.md.
type chromium struct{ state capability }

type capability int

const (
	unknown  capability = iota // one request on each connection
	probable                   // one good answer: pipelines, until nothing is under way any more
	capable                    // three on one connection: remembered
	incapable
)

// enough good answers on one connection, since it was idle, prove a host.
const enough = 3

// pipelined is what may share a pipeline.
const pipelined class = "pipelined"

// neverPipelined may be streamed for a long time.
var neverPipelined = []string{"document", "iframe", "frame", "fencedframe", "object", "embed"}

func (c *chromium) classOf(request *exchange.Request) class {
	prefetch := field(request, "sec-purpose") != "" || field(request, "purpose") != ""
	if !http1.Pipelinable(request) || prefetch || slices.Contains(neverPipelined, destination(request)) {
		return solo
	}
	return pipelined
}

func (c *chromium) learn(o outcome) {
	if o.class == solo || c.state == incapable {
		return
	}
	switch {
	case o.kind == oldVersion, o.kind == authentication, o.kind == broke && !o.alone:
		c.state = incapable
	case o.kind == good && c.state == unknown:
		c.state = probable
	case o.kind == good && c.state == probable && o.successes >= enough:
		c.state = capable
	}
}

// settle forgets a host that is only probable when nothing is under way.
func (c *chromium) settle(s situation) {
	under := func(conn connState) bool { return conn.class == pipelined && (conn.unanswered > 0 || conn.unheard > 0) }
	if c.state == probable && !slices.ContainsFunc(s.conns, under) && !slices.Contains(s.waiting, pipelined) {
		c.state = unknown
	}
}

// decide: a place in the least loaded pipeline comes before an idle connection, and that before a new one.
func (c *chromium) decide(s situation) decision {
	s = s.clone()
	var d decision
	depth := 1
	if c.state == probable || c.state == capable {
		depth = s.depth
	}
	for i, class := range s.waiting {
		at := -1
		if class == pipelined && c.state != incapable {
			at = s.shortest(pipelined, depth)
		}
		if at < 0 {
			at = s.idle()
		}
		if at >= 0 {
			s.put(&d, i, at)
		} else {
			s.wantConnection(&d)
		}
	}
	return d
}

package pool

import (
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/http1"
)

// firefox pipelines as Firefox 14 to 53 did with network.http.pipelining. Sources and grades: docs/reference/gateway.md.
type firefox struct {
	state   trust
	testing int // the connection that has the one pipeline of a host that is untested; 0: none
	goods   int // answers since it has
	bads    int
	deep    bool // an answer from the third place on was good: no limit but the arm's
	penalty int  // so many good answers until a distrusted host is tested again
}

type trust int

const (
	untested trust = iota // one pipeline, of two
	trusted
	distrusted
)

// Classes: what is of one goes behind its like only, so that style sheets are not held up by images.
const (
	images        class = "images"
	scripts       class = "scripts" // and style sheets
	revalidations class = "revalidations"
	general       class = "general"
)

const (
	optimistic   = 4 // the depth of what goes behind others where a new connection could be begun
	firstDepth   = 6 // of a host that is trusted, until an answer from the third place on was good
	testDepth    = 2
	sameAtMost   = 3 // connections of a class, from which on there is pressure
	keptForOther = 2 // connections under the limit, from which on there is pressure
)

// Penalties, in good answers that make up for them.
const (
	brokenPipeline = 60
	tooOld         = 1000
)

func (f *firefox) classOf(request *exchange.Request) class {
	to := destination(request)
	switch {
	case !http1.Pipelinable(request) || to == "document" || to == "empty":
		return solo // "empty": a script asks
	case field(request, "if-modified-since") != "" || field(request, "if-none-match") != "":
		return revalidations
	case to == "image":
		return images
	case to == "script" || to == "style":
		return scripts
	}
	return general
}

func (f *firefox) learn(o outcome) {
	switch o.kind {
	case begun:
		if f.state == untested && o.position > 1 {
			f.testing, f.goods, f.bads = o.conn, 0, 0
		}
	case good, closes, authentication:
		f.goods++
		f.deep = f.deep || (f.state == trusted && o.position > 2)
		f.penalty = max(0, f.penalty-1)
		if f.state == distrusted && f.penalty == 0 {
			*f = firefox{}
		}
	case oldVersion:
		f.distrust(tooOld)
	case broke, evicted:
		f.bads++
		if o.position > 1 {
			f.distrust(brokenPipeline)
		}
	}
}

func (f *firefox) distrust(penalty int) {
	f.state, f.testing, f.deep = distrusted, 0, false
	f.penalty += penalty
}

// settle looks whether the pipeline of a host that is untested has come to its end.
func (f *firefox) settle(s situation) {
	if f.testing == 0 {
		return
	}
	for _, c := range s.conns {
		if c.number == f.testing && (c.unanswered > 0 || c.unheard > 0) {
			return
		}
	}
	f.testing, f.state = 0, distrusted
	if f.goods > 0 && f.bads == 0 {
		f.state = trusted
	}
}

// decide: under pressure a place behind the like of it; an idle connection; for scripts a place again; a new connection; then any place.
func (f *firefox) decide(s situation) decision {
	s = s.clone()
	now := *f
	var d decision
	for i, class := range s.waiting {
		at := -1
		if now.pressed(s, class) {
			at = now.behind(s, class, min(optimistic, s.depth))
		}
		if at < 0 {
			at = s.idle()
		}
		if at < 0 && (class == scripts || class == revalidations) {
			at = now.behind(s, class, min(optimistic, s.depth))
		}
		if at < 0 {
			before := d.connect
			if s.wantConnection(&d); d.connect > before {
				continue
			}
			at = now.behind(s, class, s.depth)
		}
		if at >= 0 {
			s.put(&d, i, at)
			if now.state == untested && s.conns[at].unanswered > 1 {
				now.testing = s.conns[at].number
			}
		}
	}
	return d
}

// pressed tells whether connections are so scarce that a place behind others is better than one more.
func (f *firefox) pressed(s situation, wanted class) bool {
	active, same := 0, 0
	for _, c := range s.conns {
		if !c.idle() {
			active++
			if c.class == wanted {
				same++
			}
		}
	}
	return active >= s.limit-keptForOther || same >= sameAtMost
}

// behind finds a place behind others of its class; -1: none.
func (f *firefox) behind(s situation, wanted class, most int) int {
	switch {
	case wanted == solo || f.state == distrusted || f.testing != 0:
		return -1
	case f.state == untested:
		most = min(most, testDepth)
	case !f.deep:
		most = min(most, firstDepth)
	}
	return s.shortest(wanted, most)
}

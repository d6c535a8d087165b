package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
)

// on is a situation of connections with so many unanswered requests of a class each, "images 2"; "full" takes nothing more.
func on(limit, connecting int, waiting string, conns ...string) situation {
	s := situation{depth: 4, limit: limit, connecting: connecting, promised: connecting}
	for i, one := range conns {
		c := connState{number: i + 1, room: s.depth, lastUsed: i}
		fmt.Sscan(one, &c.class, &c.unanswered)
		if c.room -= c.unanswered; c.class == solo {
			c.room = 0
		}
		s.conns = append(s.conns, c)
	}
	for name := range strings.FieldsSeq(waiting) {
		s.waiting = append(s.waiting, class(name))
	}
	return s
}

// said is a decision as text: "0>1" puts the first that waits on the second connection, "+2" begins two.
func (d decision) said() string {
	var words []string
	for _, one := range d.starts {
		words = append(words, fmt.Sprintf("%d>%d", one.waiting, one.conn))
	}
	if d.connect > 0 {
		words = append(words, fmt.Sprintf("+%d", d.connect))
	}
	return strings.Join(words, " ")
}

func TestWhatEachPolicyDecides(t *testing.T) {
	lasting, cold := &eager{lasting: true}, &eager{}
	for _, one := range []struct {
		what   string
		policy policy
		s      situation
		wanted string
	}{
		{"eager: an idle connection, then new ones", lasting, on(3, 0, "any any any", "any 1", "any 0"), "0>1 1>0 +1"},
		{"eager: behind others only what connections are not being made for", lasting, on(2, 0, "any any any any", "any 1", "any 2"), "0>0 1>0 2>1 3>0"},
		{"eager: one is left to the connection that is being made", lasting, on(2, 1, "any any", "any 1"), "0>0"},
		{"eager: nothing behind others before a host has answered", cold, on(1, 0, "any", "any 1"), ""},
		{"eager: what must be alone gets an empty one in the end", lasting, on(2, 0, "solo any any", "any 1", "any 2"), "1>1 2>1"},

		{"chromium: a cold host's connections fill up one by one", &chromium{}, on(6, 0, strings.Repeat("pipelined ", 8), "pipelined 1"), "+5"},
		{"chromium: an idle one before a new one", &chromium{}, on(6, 0, "pipelined pipelined", "pipelined 0"), "0>0 +1"},
		{"chromium: cold, nothing waits behind", &chromium{}, on(1, 0, "pipelined", "pipelined 1"), ""},
		{
			"chromium: the least loaded pipeline, before an idle connection", &chromium{state: probable},
			on(6, 0, "pipelined pipelined pipelined", "pipelined 2", "pipelined 1", "pipelined 0"), "0>1 1>0 2>1",
		},
		{"chromium: full pipelines, then a new connection", &chromium{state: capable}, on(6, 0, "pipelined", "pipelined 4"), "+1"},
		{"chromium: nothing behind a page", &chromium{state: capable}, on(6, 0, "pipelined", "solo 1"), "+1"},
		{"chromium: a page is behind nothing", &chromium{state: capable}, on(1, 0, "solo", "pipelined 1"), ""},
		{"chromium: an incapable host is as without pipelining", &chromium{state: incapable}, on(2, 0, "pipelined pipelined", "pipelined 1"), "+1"},
		{"chromium: one connection for each that waits", &chromium{}, on(6, 1, "pipelined pipelined", "pipelined 1"), "+1"},

		{"firefox: no pressure, a new connection", &firefox{state: trusted}, on(6, 0, "images", "images 1"), "+1"},
		{"firefox: three of a class are pressure", &firefox{state: trusted}, on(9, 0, "images", "images 1", "images 2", "images 1"), "0>0"},
		{"firefox: so are four of six", &firefox{state: trusted}, on(6, 0, "images", "images 2", "solo 1", "scripts 1", "general 1"), "0>0"},
		{
			"firefox: under pressure its like comes before an idle connection", &firefox{state: trusted},
			on(6, 0, "images", "images 1", "images 1", "images 1", "general 0"), "0>0",
		},
		{
			"firefox: scripts do not queue behind images", &firefox{state: trusted},
			on(6, 0, "scripts images", "images 1", "images 1", "images 1", "images 1"), "1>0 +1",
		},
		{"firefox: scripts behind scripts without pressure", &firefox{state: trusted}, on(6, 0, "scripts", "scripts 1"), "0>0"},
		{"firefox: a host is tested with one pipeline of two", &firefox{}, on(2, 0, "images images images", "images 1", "images 1"), "0>0"},
		{"firefox: while it is tested nothing else is behind others", &firefox{testing: 1}, on(2, 0, "images", "images 2", "images 1"), ""},
		{"firefox: a distrusted host is as without pipelining", &firefox{state: distrusted}, on(2, 0, "images", "images 1", "images 1"), ""},
		{"firefox: nothing behind or before what is alone", &firefox{state: trusted}, on(2, 0, "solo images", "images 1", "solo 1"), "1>0"},
	} {
		before := fmt.Sprint(one.policy, one.s)
		if got := one.policy.decide(one.s).said(); got != one.wanted {
			t.Errorf("%s: %q, not %q", one.what, got, one.wanted)
		}
		if fmt.Sprint(one.policy, one.s) != before {
			t.Errorf("%s: deciding has changed something", one.what)
		}
	}
}

func TestWhatChromiumLearns(t *testing.T) {
	idle, busy := on(6, 0, "", "pipelined 0"), on(6, 0, "", "pipelined 1")
	for what, one := range map[string]struct {
		outcomes []outcome
		then     situation
		state    capability
	}{
		"one good answer":                  {[]outcome{{kind: good, successes: 1}}, busy, probable},
		"is forgotten when all is quiet":   {[]outcome{{kind: good, successes: 1}}, idle, unknown},
		"three on one connection are not":  {[]outcome{{kind: good, successes: 1}, {kind: good, successes: 2}, {kind: good, successes: 3}}, idle, capable},
		"three on three are":               {[]outcome{{kind: good, successes: 1}, {kind: good, successes: 1}, {kind: good, successes: 1}}, idle, unknown},
		"a page proves nothing":            {[]outcome{{kind: good, class: solo, successes: 1}}, busy, unknown},
		"HTTP/1.0":                         {[]outcome{{kind: oldVersion}, {kind: good, successes: 1}}, idle, incapable},
		"a demand for a password":          {[]outcome{{kind: authentication}}, idle, incapable},
		"closing is no fault":              {[]outcome{{kind: good, successes: 1}, {kind: closes}, {kind: evicted, position: 2}}, busy, probable},
		"a break of a pipeline":            {[]outcome{{kind: broke, position: 2}}, idle, incapable},
		"a break at a request that is one": {[]outcome{{kind: broke, position: 1, alone: true}}, idle, unknown},
	} {
		c := &chromium{}
		for _, o := range one.outcomes {
			c.learn(o)
		}
		if c.settle(one.then); c.state != one.state {
			t.Errorf("%s: %d, not %d", what, c.state, one.state)
		}
	}
}

func TestWhatFirefoxLearns(t *testing.T) {
	f := &firefox{}
	f.learn(outcome{kind: begun, conn: 1, position: 2})
	f.learn(outcome{kind: good, position: 1})
	if f.settle(on(6, 0, "", "images 1")); f.state != untested {
		t.Error("a host is trusted before its pipeline has ended")
	}
	f.learn(outcome{kind: good, position: 2})
	if f.settle(on(6, 0, "", "images 0")); f.state != trusted || f.deep {
		t.Errorf("%+v", f)
	}
	if f.learn(outcome{kind: good, position: 3}); !f.deep {
		t.Error("a third place that was answered did not open the depth")
	}
	if f.learn(outcome{kind: evicted, position: 2}); f.state != distrusted || f.penalty != brokenPipeline {
		t.Errorf("%+v", f)
	}
	for range brokenPipeline {
		f.learn(outcome{kind: good, position: 1})
	}
	if f.state != untested {
		t.Errorf("%+v", f)
	}
	f.learn(outcome{kind: oldVersion})
	if f.state != distrusted || f.penalty != tooOld {
		t.Errorf("%+v", f)
	}
}

func TestClassesOfRequests(t *testing.T) {
	asked := func(method, name, value string) *exchange.Request {
		return &exchange.Request{Method: method, Fields: []exchange.Field{{Name: name, Value: value}}}
	}
	for _, one := range []struct {
		request  *exchange.Request
		chromium class
		firefox  class
	}{
		{asked("GET", "sec-fetch-dest", "document"), solo, solo}, {asked("GET", "sec-fetch-dest", "iframe"), solo, general},
		{asked("GET", "sec-fetch-dest", "image"), pipelined, images}, {asked("GET", "sec-fetch-dest", "style"), pipelined, scripts},
		{asked("HEAD", "sec-fetch-dest", "script"), pipelined, scripts}, {asked("GET", "sec-fetch-dest", "empty"), pipelined, solo},
		{asked("GET", "sec-fetch-dest", "font"), pipelined, general}, {asked("GET", "if-none-match", "x"), pipelined, revalidations},
		{asked("GET", "sec-purpose", "prefetch"), solo, general}, {asked("POST", "sec-fetch-dest", "image"), solo, solo},
	} {
		if got := (&chromium{}).classOf(one.request); got != one.chromium {
			t.Errorf("chromium: %v is %s", one.request.Fields, got)
		}
		if got := (&firefox{}).classOf(one.request); got != one.firefox {
			t.Errorf("firefox: %v is %s", one.request.Fields, got)
		}
	}
}

// Its connection may go on, where others wait on it: that one of them is wanted no more says nothing of the host.
func TestACancelledRequestIsNoBreak(t *testing.T) {
	for cancelled, state := range map[bool]capability{true: capable, false: incapable} {
		ctx, cancel := context.WithCancel(t.Context())
		f := withRoom(3)
		f.answer = func(int) (*exchange.Response, error) {
			if cancelled {
				cancel()
			}
			return nil, errors.New("it ended")
		}
		b := newBench(t, config.Wire{Protocol: config.HTTP1, Pipelining: 4, Keepalive: true, PipeliningPolicy: config.Chromium}, f)
		g := b.group(host)
		g.policy.(*chromium).state = capable
		g.conns[0].class, g.conns[0].begun = pipelined, 1
		if _, err := b.Begin(ctx, host, asking("GET"), NewRecord(b.log, 1, "GET", host, "http/1.1", exchange.DefaultPriority)).Wait(); err == nil {
			t.Error("it was answered")
		}
		if got := g.policy.(*chromium).state; got != state {
			t.Errorf("cancelled %t: %d, not %d", cancelled, got, state)
		}
		cancel()
	}
}

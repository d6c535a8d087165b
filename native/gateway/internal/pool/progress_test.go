package pool

import (
	"math/rand/v2"
	"testing"
)

// A world is what a policy decides about, played through: connections that are made, answer, close and break in any order.
type world struct {
	policy     policy
	chance     *rand.Rand
	s          situation
	under      [][]class // requests on each connection, in their order
	successes  []int
	carried    []int // since it was idle
	unpipeable []bool
	next       int
}

// play decides once, and then lets one thing happen. false: nothing can.
func (w *world) play(t *testing.T) bool {
	for i := range w.s.conns {
		c := &w.s.conns[i]
		c.unanswered = len(w.under[i])
		if c.room = w.s.depth - c.unanswered; w.unpipeable[i] && c.unanswered > 0 {
			c.room = 0
		}
	}
	w.s.promised = w.s.connecting
	w.policy.settle(w.s)
	decided := w.policy.decide(w.s)
	w.s.connecting += decided.connect
	if len(w.s.conns)+w.s.connecting > w.s.limit {
		t.Fatalf("more than %d connections", w.s.limit)
	}
	started := map[int]bool{}
	for _, one := range decided.starts {
		w.put(t, w.s.waiting[one.waiting], one.conn)
		started[one.waiting] = true
	}
	var left []class
	for i, class := range w.s.waiting {
		if !started[i] {
			left = append(left, class)
		}
	}
	w.s.waiting = left
	return w.happen()
}

func (w *world) put(t *testing.T, class class, conn int) {
	if len(w.under[conn]) == 0 {
		w.s.conns[conn].class, w.successes[conn], w.carried[conn] = class, 0, 0
		w.unpipeable[conn] = class == solo
	} else if class == solo || w.unpipeable[conn] {
		t.Fatal("something is behind, or before, what must be alone")
	}
	w.under[conn] = append(w.under[conn], class)
	if w.carried[conn]++; len(w.under[conn]) > w.s.depth {
		t.Fatal("a pipeline is too deep")
	}
	w.policy.learn(outcome{kind: begun, class: class, conn: w.s.conns[conn].number, position: len(w.under[conn])})
}

func (w *world) happen() bool {
	var busy []int
	for i := range w.s.conns {
		if len(w.under[i]) > 0 {
			busy = append(busy, i)
		}
	}
	switch all := w.s.connecting + len(busy); {
	case all == 0:
		return false
	case w.chance.IntN(all) < w.s.connecting:
		w.s.connecting--
		w.next++
		w.s.conns = append(w.s.conns, connState{number: w.next})
		w.under, w.successes = append(w.under, nil), append(w.successes, 0)
		w.carried, w.unpipeable = append(w.carried, 0), append(w.unpipeable, false)
	default:
		w.answer(busy[w.chance.IntN(len(busy))])
	}
	return true
}

// answer what is first on a connection; now and then in a way that takes the rest along, which waits again, to be alone.
func (w *world) answer(i int) {
	class, rest := w.under[i][0], w.under[i][1:]
	how := []kind{good, good, good, good, good, good, good, closes, oldVersion, authentication, broke}[w.chance.IntN(11)]
	if how == good {
		w.successes[i]++
	}
	told := outcome{kind: how, class: class, conn: w.s.conns[i].number, position: 1, successes: w.successes[i], alone: w.carried[i] == 1}
	w.policy.learn(told)
	if w.under[i] = rest; how != closes && how != broke {
		return
	}
	for place, class := range rest {
		w.policy.learn(outcome{kind: evicted, class: class, conn: told.conn, position: place + 2})
		w.s.waiting = append(w.s.waiting, solo)
	}
	last := len(w.s.conns) - 1
	w.s.conns[i], w.under[i], w.successes[i] = w.s.conns[last], w.under[last], w.successes[last]
	w.carried[i], w.unpipeable[i] = w.carried[last], w.unpipeable[last]
	w.s.conns, w.under, w.successes, w.carried, w.unpipeable = w.s.conns[:last], w.under[:last], w.successes[:last], w.carried[:last], w.unpipeable[:last]
}

// Whatever servers do, every request is sent in the end, and nobody has more or deeper connections than there may be.
func TestNoPolicyLetsARequestWaitForEver(t *testing.T) {
	classes := map[string][]class{
		"eager": {anything, solo}, "chromium": {pipelined, solo}, "firefox": {images, scripts, revalidations, general, solo},
	}
	for name, fresh := range map[string]func() policy{
		"eager": func() policy { return &eager{} }, "chromium": func() policy { return &chromium{} }, "firefox": func() policy { return &firefox{} },
	} {
		for seed := range uint64(3000) {
			chance := rand.New(rand.NewPCG(seed, 1))
			w := &world{policy: fresh(), chance: chance, s: situation{depth: 2 + chance.IntN(4), limit: 1 + chance.IntN(7)}}
			for range 1 + chance.IntN(60) {
				w.s.waiting = append(w.s.waiting, classes[name][chance.IntN(len(classes[name]))])
			}
			steps := 0
			for w.play(t) {
				if steps++; steps > 10_000 {
					t.Fatalf("%s, seed %d: it does not end", name, seed)
				}
			}
			if len(w.s.waiting) > 0 {
				t.Fatalf("%s, seed %d: %v wait, and nothing will happen", name, seed, w.s.waiting)
			}
		}
	}
}

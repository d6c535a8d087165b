package lab

import (
	"crypto/tls"
	"strconv"
	"sync"
	"time"
)

// Parts of a request's time.
const (
	partConnect = "connect"
	partTLS     = "tls"
	partWait    = "wait"    // from the request's last byte to the answer's first
	partReceive = "receive" // from there to the answer's last
)

// A tally counts requests or pages.
type tally struct {
	begun, ended, failed, timedOut int64 // of what was begun after the warm-up
	endedAfter                     int64 // well and after the warm-up, whenever it was begun
	took                           *latencies
	live                           map[*span]struct{}
	cut                            map[*span]time.Time // under way at the end, or when their user left

	ended1, failed1 int64           // of this second
	took1           []time.Duration // likewise
	ever            bool
}

func newTally() *tally {
	return &tally{took: newLatencies(), live: map[*span]struct{}{}, cut: map[*span]time.Time{}}
}

// A span is a request or page that was begun.
type span struct {
	of       *tally
	began    time.Time // open model: corrected when it is known
	arrival  *arrival
	counts   bool // begun after the warm-up
	failed   bool
	timedOut bool
}

type errorsOfAKind struct{ took *latencies }

// recorder is what happens in this process. Everything is behind one lock: nothing takes long.
type recorder struct {
	settings *Settings
	mutex    sync.Mutex
	zero     time.Time // when the load began: after setup
	over     time.Time // when teardown began; zero before

	pages, requests *tally
	parts           map[string]*latencies
	errors          map[string]*errorsOfAKind
	statuses        map[int]int64
	bytes, bytes1   int64
	opened, opened1 int64
	protocol, tls   string

	courses map[string]*course // of the open model, by scenario
	missed  int64              // dropped after the warm-up
	started []*arrival         // whose due time is not known yet
	due     map[*arrival]time.Duration
	late    []latePage
}

func newRecorder(s *Settings) *recorder {
	return &recorder{
		settings: s, pages: newTally(), requests: newTally(), parts: map[string]*latencies{}, errors: map[string]*errorsOfAKind{},
		statuses: map[int]int64{}, courses: map[string]*course{}, due: map[*arrival]time.Duration{},
	}
}

// begins says when the load began: the first call counts.
func (r *recorder) begins(zero time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.zero.IsZero() {
		r.zero = zero
	}
}

// isOver says that teardown began: the first call counts.
func (r *recorder) isOver(when time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.over.IsZero() {
		r.over = when
	}
}

// placed says whether what happens then is of the load, and whether it is after the warm-up, too.
func (r *recorder) placed(when time.Time) (within, counted bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.within(when), r.counted(when)
}

// within the load is what is neither of setup nor of teardown. k6's tags do not tell that: setup has the group of a script's own group "setup",
// and a script may have no tags of groups at all.
func (r *recorder) within(when time.Time) bool {
	return !r.zero.IsZero() && !when.Before(r.zero) && (r.over.IsZero() || when.Before(r.over))
}

func (r *recorder) counted(when time.Time) bool {
	return r.within(when) && when.Sub(r.zero) >= r.settings.warmUp()
}

func (r *recorder) begin(of *tally, due *arrival) *span {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	s := &span{of: of, began: time.Now(), arrival: due}
	s.counts = r.counted(s.began)
	of.ever = true
	of.live[s] = struct{}{}
	if s.counts {
		of.begun++
	}
	return s
}

// ends a span: what it took is noted unless that is not known yet.
func (r *recorder) ends(s *span, now time.Time) {
	delete(s.of.live, s)
	if !s.failed && r.counted(now) {
		s.of.endedAfter++
	}
	switch {
	case s.failed:
		s.of.failed1++
		if s.counts {
			s.of.failed++
		}
		if s.counts && s.timedOut {
			s.of.timedOut++
		}
	case s.arrival != nil:
		r.late = append(r.late, latePage{s, now})
	default:
		r.took(s, now)
	}
}

func (r *recorder) took(s *span, now time.Time) {
	took := now.Sub(s.began)
	s.of.ended1++
	s.of.took1 = append(s.of.took1, took)
	if s.counts {
		s.of.ended++
		s.of.took.add(took)
	}
}

func (r *recorder) pageEnds(s *span) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.ends(s, time.Now())
}

func (r *recorder) pageFails(s *span, timedOut bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	s.failed, s.timedOut = true, s.timedOut || timedOut
}

func (r *recorder) requestEnds(s, page *span, status int, count int64, wrote, first time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	now := time.Now()
	r.bytes1 += count
	if r.counted(now) {
		r.bytes += count
	}
	if s.counts {
		r.statuses[status]++
		if !first.IsZero() {
			r.addPart(partWait, max(0, first.Sub(wrote)))
			r.addPart(partReceive, now.Sub(first))
		}
	}
	if status >= 400 {
		r.error(s, page, "status "+strconv.Itoa(status), now)
	}
	r.ends(s, now)
}

func (r *recorder) requestFails(s, page *span, kind string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	now := time.Now()
	r.error(s, page, kind, now)
	r.ends(s, now)
}

func (r *recorder) error(s, page *span, kind string, now time.Time) {
	s.failed, s.timedOut = true, kind == kindTimeout
	if page != nil {
		page.failed, page.timedOut = true, page.timedOut || s.timedOut
	}
	if !s.counts {
		return
	}
	if r.errors[kind] == nil {
		r.errors[kind] = &errorsOfAKind{newLatencies()}
	}
	r.errors[kind].took.add(now.Sub(s.began))
}

// cutOff says that nobody waits for it any more: it stays unfinished.
func (r *recorder) cutOff(s *span) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, live := s.of.live[s]; live {
		delete(s.of.live, s)
		s.of.cut[s] = time.Now()
	}
}

// leaves says that a page's user left in the midst of it, as in a ramp down. Who is there at the load's end still waits for it.
func (r *recorder) leaves(page *span) {
	if time.Since(r.zeroTime()) < r.settings.duration() {
		r.cutOff(page)
	}
}

func (r *recorder) part(name string, took time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.counted(time.Now()) {
		r.addPart(name, took)
	}
}

func (r *recorder) addPart(name string, took time.Duration) {
	if r.parts[name] == nil {
		r.parts[name] = newLatencies()
	}
	r.parts[name].add(took)
}

func (r *recorder) connected(took time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	now := time.Now()
	if r.within(now) {
		r.opened1++
	}
	if r.counted(now) {
		r.opened++
		r.addPart(partConnect, took)
	}
}

// spoke notes what was agreed upon.
func (r *recorder) spoke(protocol string, state *tls.ConnectionState) {
	version := "off"
	if state != nil {
		version = map[uint16]string{tls.VersionTLS12: "1.2", tls.VersionTLS13: "1.3"}[state.Version]
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.protocol, r.tls = protocol, version
}

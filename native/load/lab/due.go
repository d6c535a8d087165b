package lab

import (
	"math"
	"time"
)

// How long an arrival waits until it is known how many were dropped before it.
const settledAfter = 300 * time.Millisecond

// An arrival is an iteration of the open model.
type arrival struct {
	course *course
	order  int64 // of those of its scenario that began, from 1 on
	began  time.Time
}

// A course is the arrivals of one scenario: k6 plays each by itself.
type course struct {
	plan    *arrivals // nil until one of them began
	arrived int64
	drops   []time.Time   // in order; those that are used up are gone
	dropped int64         // before the ones in drops
	offset  time.Duration // of the plan's beginning to zero
	known   bool
}

// A late page has ended before it is known when it was due.
type latePage struct {
	span  *span
	ended time.Time
}

// arrivals knows when each arrival is due, counted from the beginning: where the area below the rate reaches its number. k6 begins them so.
type arrivals struct {
	stages []Stage // the first says where the rate begins

	at     int     // the stage that the last answer was in
	before float64 // arrivals before that stage
	began  float64 // of that stage, in s
}

func newArrivals(stages []Stage) *arrivals { return &arrivals{stages: stages, at: 1} }

// due of the arrival with this number, from 1 on. Numbers must not go back. False: there are not so many.
func (a *arrivals) due(number int64) (time.Duration, bool) {
	for ; a.at < len(a.stages); a.at++ {
		from, to, over := a.stages[a.at-1].Target, a.stages[a.at].Target, a.stages[a.at].OverS
		inside := float64(number) - a.before
		all := over * (from + to) / 2
		if over > 0 && all > 0 && inside <= all+1e-9 {
			return seconds(a.began + reached(inside, from, to, over)), true
		}
		a.before += all
		a.began += over
	}
	return 0, false
}

// reached is when the area below a line is so large.
func reached(area, from, to, over float64) float64 {
	slope := (to - from) / over
	if slope == 0 {
		return area / from
	}
	return (math.Sqrt(math.Max(0, from*from+2*slope*area)) - from) / slope
}

// course of a scenario.
func (r *recorder) course(scenario string) *course {
	found := r.courses[scenario]
	if found == nil {
		found = &course{}
		r.courses[scenario] = found
	}
	return found
}

// arrives counts an iteration of the open model. The plan is asked for once.
func (r *recorder) arrives(scenario string, plan func() ([]Stage, error)) (*arrival, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	c := r.course(scenario)
	if c.plan == nil {
		stages, err := plan()
		if err != nil {
			return nil, err
		}
		c.plan = newArrivals(stages)
	}
	c.arrived++
	a := &arrival{course: c, order: c.arrived, began: time.Now()}
	r.started = append(r.started, a)
	return a, nil
}

// drop counts arrivals for which no user was free.
func (r *recorder) drop(scenario string, when time.Time, count int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.counted(when) {
		r.missed += count
	}
	c := r.course(scenario)
	for range count {
		c.drops = append(c.drops, when)
	}
}

// settle works out when arrivals were due, once it is known how many were dropped before each: the n-th of those of a scenario that began was
// its arrival n + the dropped ones. The plan begins where no arrival was early: k6 begins none before its time.
func (r *recorder) settle(before time.Time) {
	for len(r.started) > 0 && r.started[0].began.Before(before) {
		a := r.started[0]
		r.started = r.started[1:]
		c := a.course
		for len(c.drops) > 0 && c.drops[0].Before(a.began) {
			c.drops = c.drops[1:]
			c.dropped++
		}
		due, there := c.plan.due(a.order + c.dropped)
		if !there {
			due = a.began.Sub(r.zero) - c.offset
		}
		r.due[a] = due
		if offset := a.began.Sub(r.zero) - due; !c.known || offset < c.offset {
			c.offset, c.known = offset, true
		}
	}
	kept := r.late[:0]
	for _, page := range r.late {
		due, known := r.due[page.span.arrival]
		if !known {
			kept = append(kept, page)
			continue
		}
		page.span.began = r.zero.Add(page.span.arrival.course.offset + due)
		r.took(page.span, page.ended)
	}
	r.late = kept
	r.forgetDue()
}

// forgetDue keeps the due times of pages that are under way.
func (r *recorder) forgetDue() {
	needed := make(map[*arrival]time.Duration, len(r.pages.live))
	for s := range r.pages.live {
		if due, known := r.due[s.arrival]; s.arrival != nil && known {
			needed[s.arrival] = due
		}
	}
	for s := range r.pages.cut {
		if due, known := r.due[s.arrival]; s.arrival != nil && known {
			needed[s.arrival] = due
		}
	}
	for _, a := range r.started {
		if due, known := r.due[a]; known {
			needed[a] = due
		}
	}
	r.due = needed
}

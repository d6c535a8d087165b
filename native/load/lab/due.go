package lab

import (
	"math"
	"time"
)

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

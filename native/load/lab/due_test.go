package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"go.k6.io/k6/lib"

	"lanelab/gateway/internal/testkit"
)

func TestArrivalsAreDueWhereTheAreaReachesTheirNumber(t *testing.T) {
	a := newArrivals([]Stage{{10, 0}, {10, 1}, {50, 4}, {0, 0}, {20, 2}})
	rate := func(at float64) float64 {
		switch {
		case at < 1:
			return 10
		case at < 5:
			return 10 + (at-1)*10
		}
		return (at - 5) * 10
	}
	const step = 1e-5
	area, number := 0.0, int64(0)
	for at := 0.0; at < 7; at += step {
		area += rate(at+step/2) * step
		if int64(area) == number {
			continue
		}
		number++
		if due, there := a.due(number); !there || math.Abs(due.Seconds()-at) > 0.01 {
			t.Fatalf("arrival %d is due at %v, %v, not %.3f s", number, due, there, at)
		}
	}
	if number < 149 {
		t.Fatalf("%d arrivals", number)
	}
	if _, there := a.due(151); there {
		t.Error("there are more arrivals than the plan has")
	}
}

// open is a recorder of the open model, ten arrivals per second.
func open() *recorder {
	r := newRecorder(&Settings{Arrivals: []Stage{{10, 0}, {10, 100}}})
	r.begins(time.Now().Add(-10 * time.Second))
	return r
}

func (r *recorder) arrivedAt(at time.Duration) *arrival {
	a, _ := r.arrives("load", func() ([]Stage, error) { return r.settings.Arrivals, nil })
	a.began = r.zero.Add(at)
	return a
}

// A page counts from when it was due, not from when its user was free at last.
func TestLatenessCounts(t *testing.T) {
	r := open()
	for _, at := range []int{100, 200, 800} { // the third was due at 300
		a := r.arrivedAt(time.Duration(at) * time.Millisecond)
		s := r.begin(r.pages, a)
		s.began = a.began
		r.ends(s, a.began.Add(50*time.Millisecond))
	}
	if got := r.report(time.Now()).Pages.MS; got.Count != 3 || math.Abs(got.Max-550) > 1 || math.Abs(got.Min-50) > 1 {
		t.Errorf("%+v", got)
	}
}

// Arrivals that were dropped have their places in the plan.
func TestDroppedArrivalsHaveTheirPlaces(t *testing.T) {
	r := open()
	first := r.arrivedAt(100 * time.Millisecond)
	r.drop("load", r.zero.Add(200*time.Millisecond), 1)
	r.drop("load", r.zero.Add(300*time.Millisecond), 1)
	fourth := r.arrivedAt(400 * time.Millisecond)
	for _, a := range []*arrival{first, fourth} {
		s := r.begin(r.pages, a)
		s.began = a.began
		r.ends(s, a.began.Add(20*time.Millisecond))
	}
	report := r.report(time.Now())
	if got := report.Pages.MS; got.Count != 2 || math.Abs(got.Max-20) > 1 || report.Dropped != 2 {
		t.Errorf("%+v, %d dropped", got, report.Dropped)
	}
}

// Each scenario has a rate of its own, and its own dropped arrivals.
func TestScenariosArriveByThemselves(t *testing.T) {
	r := open()
	arrive := func(scenario string, rate float64, at time.Duration) {
		a, err := r.arrives(scenario, func() ([]Stage, error) { return []Stage{{rate, 0}, {rate, 100}}, nil })
		if err != nil {
			t.Fatal(err)
		}
		a.began = r.zero.Add(at * time.Millisecond)
		s := r.begin(r.pages, a)
		s.began = a.began
		r.ends(s, a.began.Add(20*time.Millisecond))
	}
	arrive("often", 10, 100)
	r.drop("often", r.zero.Add(200*time.Millisecond), 1)
	arrive("often", 10, 300)
	arrive("seldom", 2, 500)
	r.drop("seldom", r.zero.Add(time.Second), 1)
	arrive("seldom", 2, 1600) // was due at 1500
	report := r.report(time.Now())
	if got := report.Pages.MS; got.Count != 4 || math.Abs(got.Max-120) > 1 || math.Abs(got.P90-120) > 1 || math.Abs(got.P50-20) > 1 || report.Dropped != 2 {
		t.Errorf("%+v, %d dropped", got, report.Dropped)
	}
}

func TestThePlanIsWhatK6Plays(t *testing.T) {
	config, err := lib.GetParsedExecutorConfig("buy", "ramping-arrival-rate", []byte(`{
		"executor": "ramping-arrival-rate", "startRate": 0, "timeUnit": "1000s", "preAllocatedVUs": 1,
		"stages": [{"target": 2500, "duration": "1500ms"}, {"target": 500, "duration": "2m"}]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	stages, err := planOf(config)
	if want := []Stage{{0, 0}, {2.5, 1.5}, {0.5, 120}}; err != nil || !slices.Equal(stages, want) {
		t.Errorf("%v, %v", stages, err)
	}
	if _, err := planOf(nil); err == nil {
		t.Error("no scenario has a plan")
	}
}

func TestWhatIsUnderWayCountsFromWhenItWasDue(t *testing.T) {
	r := open()
	r.arrivedAt(100 * time.Millisecond)
	late := r.begin(r.pages, r.arrivedAt(900*time.Millisecond)) // due at 200
	late.began = late.arrival.began
	got := r.report(r.zero.Add(2 * time.Second)).Pages
	if got.Unfinished != 1 || math.Abs(got.Longest-1800) > 1 {
		t.Errorf("%+v", got)
	}
}

func TestWarmUpIsInSeriesOnly(t *testing.T) {
	r := newRecorder(&Settings{WarmUpS: 3600})
	r.begins(time.Now())
	r.pageEnds(r.begin(r.pages, nil))
	s := r.begin(r.requests, nil)
	r.requestFails(s, nil, kindReset)
	r.connected(time.Millisecond)
	if values := r.second(time.Now()); values["pages_per_s"] != 1 || values["errors_per_s"] != 1 || values["connections_opened_per_s"] != 1 {
		t.Errorf("%v", values)
	}
	report := r.report(time.Now())
	if report.Pages.Begun+report.Pages.Ended+report.Requests.Begun+report.Requests.Failed+report.Connections != 0 || len(report.Errors) != 0 {
		t.Errorf("%+v", report)
	}
	if report.Pages.MS != nil || len(report.Parts) != 0 {
		t.Errorf("%+v", report)
	}
}

// What was under way when the warm-up ended is in the rates of the time after it, as what is under way at the end is not.
func TestRatesHaveWhatWasBegunInTheWarmUpAndEndsAfterIt(t *testing.T) {
	r := newRecorder(&Settings{WarmUpS: 5})
	r.begins(time.Now().Add(-4 * time.Second))
	early := []*span{r.begin(r.pages, nil), r.begin(r.requests, nil), r.begin(r.requests, nil)}
	r.requestEnds(early[2], nil, 200, 100, time.Time{}, time.Time{}) // in the warm-up
	r.zero = r.zero.Add(-time.Second)
	r.requestEnds(early[1], early[0], 200, 20, time.Time{}, time.Time{})
	r.pageEnds(early[0])
	s := r.begin(r.requests, nil)
	r.requestEnds(s, nil, 200, 3, time.Time{}, time.Time{})
	r.requestFails(r.begin(r.requests, nil), nil, kindReset)
	report := r.report(time.Now())
	if got := report.Requests; got.EndedAfter != 2 || got.Begun != 2 || got.Ended != 1 || got.MS.Count != 1 || report.Statuses["200"] != 1 {
		t.Errorf("%+v, %v", got, report.Statuses)
	}
	if got := report.Pages; got.EndedAfter != 1 || got.Begun != 0 || got.Ended != 0 || got.MS != nil {
		t.Errorf("%+v", got)
	}
	if report.BodyBytes != 23 {
		t.Errorf("%d bytes", report.BodyBytes)
	}
}

func TestSecondsAreEmptiedAndHaveNoValueWhereNothingEnded(t *testing.T) {
	r := newRecorder(&Settings{})
	r.begins(time.Now())
	r.pageEnds(r.begin(r.pages, nil))
	if values := r.second(time.Now()); values["pages_per_s"] != 1 {
		t.Errorf("%v", values)
	}
	values := r.second(time.Now())
	if _, there := values["page_ms"]; there || values["pages_per_s"] != 0 {
		t.Errorf("%v", values)
	}
}

// A script that gives up in the midst of a page has failed it; the trial's end has not.
func TestPagesThatScriptsLeave(t *testing.T) {
	w := newWorld(t, http1, "off", nil)
	if w.user.beginPage() != nil || w.user.beginPage() == nil {
		t.Error("a page within a page")
	}
	w.user.begins(t.Context(), nil)
	if w.user.endPage() == nil {
		t.Error("the page before goes on")
	}
	if report := w.report(); report.Pages.Failed != 1 || report.Pages.Begun != 1 {
		t.Errorf("%+v", report.Pages)
	}
}

func TestUse(t *testing.T) {
	current, err := useNow()
	if err != nil || current.files < 3 || current.memory < 1<<20 || current.cpu <= 0 {
		t.Errorf("%+v, %v", current, err)
	}
	before, err := useNow()
	if err != nil {
		t.Fatal(err)
	}
	listener := testkit.Listen(t)
	after, err := useNow()
	if err != nil || after.files <= before.files {
		t.Errorf("%d files, and with %v %d, %v", before.files, listener.Addr(), after.files, err)
	}
	if ports, err := portsAllowed(); err != nil || ports < 1 {
		t.Errorf("%d ports, %v", ports, err)
	}
	if processors() < 1 || filesAllowed() < 3 || monotonic() <= 0 {
		t.Error(processors(), filesAllowed(), monotonic())
	}
}

func TestKindOf(t *testing.T) {
	for kind, err := range map[string]error{
		kindTimeout: fmt.Errorf("x: %w", context.DeadlineExceeded), kindOther: fmt.Errorf("x"),
		kindProtocol: fmt.Errorf("%w: h2", errProtocol),
	} {
		if got := kindOf(err); got != kind {
			t.Errorf("%v is %s", err, got)
		}
	}
}

package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.k6.io/k6/metrics"
)

// What setup and teardown measure is none of the load, and what a group of the script's own with such a name measures is.
func TestSetupAndTeardownCountInNothing(t *testing.T) {
	r, registry := newRecorder(&Settings{}), metrics.NewRegistry()
	o := &labOutput{recorder: r, script: newScriptMetrics(), settings: r.settings}
	checks := registry.MustNewMetric(metrics.ChecksName, metrics.Rate)
	add := func(when time.Time, group string, value float64) {
		series := metrics.TimeSeries{Metric: checks, Tags: registry.RootTagSet().With("group", group)}
		o.AddMetricSamples([]metrics.SampleContainer{metrics.Sample{TimeSeries: series, Time: when, Value: value}})
	}
	zero := time.Now()
	add(zero.Add(-2*time.Second), "::setup", 0)
	r.begins(zero)
	add(zero.Add(-time.Second), "::setup", 0) // told of late
	if values := o.script.second(time.Second); len(values) != 0 {
		t.Errorf("of setup: %v", values)
	}
	add(zero.Add(time.Second), "", 1)
	add(zero.Add(time.Second), "::setup", 0)
	r.isOver(zero.Add(3 * time.Second))
	add(zero.Add(2*time.Second), "", 1) // told of late
	add(zero.Add(4*time.Second), "::teardown", 0)
	if rate := o.script.second(time.Second)["checks"]; rate < 0.66 || rate > 0.67 {
		t.Errorf("the second has %v", rate)
	}
	if all, _ := o.script.values(time.Second); len(all) != 1 || all[0].Values["rate"] < 0.66 || all[0].Values["rate"] > 0.67 {
		t.Errorf("%+v", all)
	}
}

func TestConnectionsOfSetupAndTeardownCountInNothing(t *testing.T) {
	r := newRecorder(&Settings{})
	r.connected(time.Millisecond)
	r.begins(time.Now())
	r.connected(time.Millisecond)
	r.isOver(time.Now())
	r.connected(time.Millisecond)
	if values := r.second(time.Now()); values["connections_opened_per_s"] != 1 {
		t.Errorf("%v", values)
	}
	if report := r.report(time.Now()); report.Connections != 1 || report.Parts[partConnect].Count != 1 {
		t.Errorf("%+v", report)
	}
}

// late is the output of a load that began so long ago, and when that was. It has written no second's line.
func late(t *testing.T, by time.Duration) (o *labOutput, zero time.Time) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "load.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(&Settings{DurationS: 60})
	zero = time.Now().Add(-by)
	r.begins(zero)
	o = &labOutput{
		recorder: r, script: newScriptMetrics(), settings: r.settings, file: file, lag: newLag(), begun: true, next: zero.Add(time.Second),
		beforeAt: zero, lastAt: zero,
	}
	t.Cleanup(func() {
		close(o.lag.stop)
		file.Close()
	})
	return o, zero
}

// A process that is not woken writes its line late. What it counts is then of more than a second.
func TestRatesAreOverTheTimeOfTheirLine(t *testing.T) {
	o, zero := late(t, 4*time.Second)
	for range 8 {
		o.recorder.connected(time.Millisecond)
	}
	o.second(zero)
	text, err := os.ReadFile(o.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	var line secondLine
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if rate := line.Values["connections_opened_per_s"]; rate <= 0 || rate > 2 {
		t.Errorf("8 connections in 4 s are %v per second", rate)
	}
	if due := zero.Add(4 * time.Second); !o.next.After(due) || o.lastAt.Before(due) {
		t.Errorf("this line was of %v, the next is due at %v", o.lastAt, o.next)
	}
}

// What came in while a process was not woken is counted in the moment after. A line of that moment would have a rate of many times what there was.
func TestNoLineIsOfAMomentOnly(t *testing.T) {
	for _, by := range []time.Duration{time.Second, 1300 * time.Millisecond, 1700 * time.Millisecond, 1990 * time.Millisecond} {
		o, zero := late(t, by)
		o.second(zero)
		if left := o.next.Sub(o.lastAt); left < time.Second/2 || left >= 3*time.Second/2 || o.next.Sub(zero)%time.Second != 0 {
			t.Errorf("after a line at %v the next is due at %v", o.lastAt.Sub(zero), o.next.Sub(zero))
		}
	}
}

// In a ramp down users leave pages that take too long. These are unfinished, and nobody waits for them for the rest of the load.
func TestPagesOfUsersWhoLeftAreUnderWayNoMore(t *testing.T) {
	for seconds, underWay := range map[float64]float64{3600: 0, 0: 1} { // in the midst of the load; at its end
		w := newWorld(t, http1, "off", func(s *Settings) { s.DurationS = seconds })
		if err := w.user.beginPage(); err != nil {
			t.Fatal(err)
		}
		w.end()
		if err := w.user.endPage(); err != nil {
			t.Fatal(err)
		}
		if values := w.recorder.second(time.Now()); values["pages_under_way"] != underWay {
			t.Errorf("of %v s: %v", seconds, values)
		}
		if pages := w.report().Pages; pages.Unfinished != 1 || pages.Failed != 0 || pages.Ended != 0 {
			t.Errorf("of %v s: %+v", seconds, pages)
		}
	}
}

package lab

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.k6.io/k6/metrics"
)

// mostScriptMetrics bounds what a script that names metrics or checks by its data can make of the report.
const mostScriptMetrics = 500

// ScriptMetric is as driver/record/evidence/load.py has it.
type ScriptMetric struct {
	Name   string             `json:"name"` // with the check or group in braces, as k6 writes it
	Kind   string             `json:"kind"`
	IsTime bool               `json:"is_time"` // its values are milliseconds
	Values map[string]float64 `json:"values"`
}

// scriptMetrics are what a script measures by itself: its own metrics, its checks and its groups. k6 passes each value on.
type scriptMetrics struct {
	mutex   sync.Mutex
	builtIn map[string]bool // which the recorder measures
	all     map[string]*scriptMetric
	leftOut bool
}

type scriptMetric struct {
	metric *metrics.Metric
	whole  metrics.Sink // since the end of the warm-up
	second metrics.Sink // since the last second's line
}

func newScriptMetrics() *scriptMetrics {
	registry := metrics.NewRegistry()
	metrics.RegisterBuiltinMetrics(registry)
	s := &scriptMetrics{builtIn: map[string]bool{}, all: map[string]*scriptMetric{}}
	for _, each := range registry.All() {
		s.builtIn[each.Name] = true
	}
	return s
}

// add a value; counts: it is not of the warm-up.
func (s *scriptMetrics) add(sample metrics.Sample, counts bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, name := range s.names(sample) {
		found := s.all[name]
		if found == nil {
			if len(s.all) >= mostScriptMetrics {
				s.leftOut = true
				continue
			}
			found = &scriptMetric{sample.Metric, metrics.NewSink(sample.Metric.Type), metrics.NewSink(sample.Metric.Type)}
			s.all[name] = found
		}
		found.second.Add(sample)
		if counts {
			found.whole.Add(sample)
		}
	}
}

// names under which a value counts. k6 writes checks and groups as tags; a metric with a tag has them in braces.
func (s *scriptMetrics) names(sample metrics.Sample) []string {
	name := sample.Metric.Name
	switch name {
	case metrics.ChecksName:
		if check, there := sample.Tags.Get("check"); there {
			return []string{name, name + "{check:" + check + "}"}
		}
	case metrics.GroupDurationName:
		if group, there := sample.Tags.Get("group"); there {
			return []string{name + "{group:" + group + "}"}
		}
	default:
		if s.builtIn[name] {
			return nil
		}
	}
	return []string{name}
}

// values of the whole load, and whether there were more metrics than are kept.
func (s *scriptMetrics) values(lasted time.Duration) ([]ScriptMetric, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	values := []ScriptMetric{}
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		each := s.all[name]
		if !each.whole.IsEmpty() {
			isTime := each.metric.Contains == metrics.Time
			values = append(values, ScriptMetric{name, each.metric.Type.String(), isTime, plain(each.whole.Format(lasted))})
		}
	}
	return values, s.leftOut
}

// plain has "p95" for k6's "p(95)".
func plain(values map[string]float64) map[string]float64 {
	named := map[string]float64{}
	for name, value := range values {
		named[strings.NewReplacer("(", "", ")", "").Replace(name)] = value
	}
	return named
}

// second gives each metric's number of the time since it was last asked: the mean of a trend, the share of a rate, the last value of
// a gauge, and what a counter grew by per second.
func (s *scriptMetrics) second(lasted time.Duration) map[string]float64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	values := map[string]float64{}
	for name, each := range s.all {
		if each.second.IsEmpty() {
			continue
		}
		values[name] = each.second.Format(lasted)[shown[each.metric.Type]]
		each.second = metrics.NewSink(each.metric.Type)
	}
	return values
}

var shown = map[metrics.MetricType]string{
	metrics.Trend: "avg", metrics.Rate: "rate", metrics.Gauge: "value", metrics.Counter: "rate",
}

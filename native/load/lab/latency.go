package lab

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	mostMicroseconds = int64(24 * time.Hour / time.Microsecond)
	digits           = 3
)

// latencies is a histogram of times.
type latencies struct{ histogram *hdrhistogram.Histogram }

func newLatencies() *latencies {
	return &latencies{hdrhistogram.New(1, mostMicroseconds, digits)}
}

func (l *latencies) add(took time.Duration) {
	_ = l.histogram.RecordValue(min(max(took.Microseconds(), 0), mostMicroseconds)) // it is in the range
}

func milliseconds(microseconds int64) float64 { return float64(microseconds) / 1000 }

func inMS(took time.Duration) float64 { return milliseconds(took.Microseconds()) }

func (l *latencies) at(percent float64) float64 {
	return milliseconds(l.histogram.ValueAtQuantile(percent))
}

// Latency is as driver/record/evidence/load.py has it.
type Latency struct {
	Count     int64        `json:"count"`
	Min       float64      `json:"min"`
	Mean      float64      `json:"mean"`
	P50       float64      `json:"p50"`
	P90       float64      `json:"p90"`
	P95       float64      `json:"p95"`
	P99       float64      `json:"p99"`
	P999      float64      `json:"p99_9"`
	Max       float64      `json:"max"`
	Histogram [][2]float64 `json:"histogram"`
}

// latency sums up; nil where there is nothing.
func (l *latencies) latency(whole bool) *Latency {
	h := l.histogram
	if h.TotalCount() == 0 {
		return nil
	}
	found := &Latency{
		Count: h.TotalCount(), Min: milliseconds(h.Min()), Mean: h.Mean() / 1000, P50: l.at(50), P90: l.at(90), P95: l.at(95), P99: l.at(99),
		P999: l.at(99.9), Max: milliseconds(h.Max()), Histogram: [][2]float64{},
	}
	if whole {
		for _, bar := range h.Distribution() {
			if bar.Count > 0 {
				found.Histogram = append(found.Histogram, [2]float64{milliseconds(bar.To), float64(bar.Count)})
			}
		}
	}
	return found
}

package lab

import (
	"strconv"
	"time"
)

// Tally is as driver/record/evidence/load.py has it.
type Tally struct {
	Begun      int64    `json:"begun"`
	Ended      int64    `json:"ended"`
	Failed     int64    `json:"failed"`
	TimedOut   int64    `json:"timed_out"`
	Unfinished int64    `json:"unfinished"`
	Longest    float64  `json:"unfinished_longest_ms"`
	MS         *Latency `json:"ms"`
	EndedAfter int64    `json:"ended_after_warm_up"`
}

// ErrorCount likewise.
type ErrorCount struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50_ms"`
	Max   float64 `json:"max_ms"`
}

// GeneratorUse likewise.
type GeneratorUse struct {
	CPU          float64 `json:"cpu_s"`
	Seconds      float64 `json:"seconds"`
	Processors   int64   `json:"processors"`
	Lag50        float64 `json:"lag_50_ms"`
	Lag99        float64 `json:"lag_99_ms"`
	LagMax       float64 `json:"lag_max_ms"`
	FilesMost    int64   `json:"files_most"`
	FilesAllowed int64   `json:"files_allowed"`
	PortsAllowed int64   `json:"ports_allowed"`
	MemoryMost   int64   `json:"memory_bytes_most"`
}

// Report is LoadReport there.
type Report struct {
	Generator   string                `json:"generator"`
	Protocol    string                `json:"protocol"`
	TLS         string                `json:"tls"`
	Seconds     float64               `json:"seconds"`
	Requests    Tally                 `json:"requests"`
	Pages       *Tally                `json:"pages"`
	Parts       map[string]*Latency   `json:"parts_ms"`
	Errors      map[string]ErrorCount `json:"errors"`
	Statuses    map[string]int64      `json:"statuses"`
	BodyBytes   int64                 `json:"body_bytes"`
	Connections int64                 `json:"connections"`
	Dropped     int64                 `json:"dropped"`
	Use         GeneratorUse          `json:"use"`
	Stopped     string                `json:"stopped"`
	Crossed     string                `json:"crossed"` // thresholds of the script's own

	Script        []ScriptMetric `json:"script"`
	ScriptLeftOut bool           `json:"script_left_out"` // it has more metrics than are kept
}

// report sums up what was until end; nothing may happen any more.
func (r *recorder) report(end time.Time) Report {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.settle(end.Add(time.Hour))
	made := Report{
		Protocol: r.protocol, TLS: r.tls, Requests: r.sum(r.requests, end), Parts: map[string]*Latency{}, Errors: map[string]ErrorCount{},
		Statuses: map[string]int64{}, BodyBytes: r.bytes, Connections: r.opened, Dropped: r.missed,
	}
	for status, count := range r.statuses {
		made.Statuses[strconv.Itoa(status)] = count
	}
	if !r.zero.IsZero() {
		made.Seconds = max(0, (end.Sub(r.zero) - r.settings.warmUp()).Seconds())
	}
	if r.pages.ever {
		pages := r.sum(r.pages, end)
		made.Pages = &pages
	}
	for name, part := range r.parts {
		if part.histogram.TotalCount() > 0 {
			made.Parts[name] = part.latency(false)
		}
	}
	for kind, all := range r.errors {
		made.Errors[kind] = ErrorCount{all.took.histogram.TotalCount(), all.took.at(50), milliseconds(all.took.histogram.Max())}
	}
	return made
}

func (r *recorder) sum(t *tally, end time.Time) Tally {
	made := Tally{
		Begun: t.begun, Ended: t.ended, Failed: t.failed, TimedOut: t.timedOut, MS: t.took.latency(true), EndedAfter: t.endedAfter,
	}
	unfinished := func(s *span, until time.Time) {
		if !s.counts {
			return
		}
		if due, known := r.due[s.arrival]; s.arrival != nil && known {
			s.began = r.zero.Add(s.arrival.course.offset + due)
		}
		made.Unfinished++
		made.Longest = max(made.Longest, inMS(until.Sub(s.began)))
	}
	for s := range t.live {
		unfinished(s, end)
	}
	for s, when := range t.cut {
		unfinished(s, when)
	}
	return made
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// result is what came of a load.
type result struct {
	Load *load `json:"load"`

	Seconds           float64             `json:"seconds"`
	TLSVersion        string              `json:"tls_version"` // 1.2, 1.3; "" without TLS
	Connections       int                 `json:"connections"` // that were opened
	Succeeded         int                 `json:"succeeded"`   // answered in full with a status below 400
	Failed            int                 `json:"failed"`      // others, those never begun too
	Reconnections     int                 `json:"reconnections"`
	RequestsPerSecond float64             `json:"requests_per_second"`  // of those that succeeded
	BodyBytes         int64               `json:"body_bytes"`           // of those too
	WireBytes         int64               `json:"wire_bytes"`           // received by TCP
	MegabytesPerS     float64             `json:"megabytes_per_second"` // of these bodies; 1,000,000 bytes
	LatencyMs         percentiles         `json:"latency_ms"`           // to the last byte
	FirstByteMs       percentiles         `json:"first_byte_ms"`
	Histogram         []bucket            `json:"histogram"` // of the same times as LatencyMs
	Statuses          map[string]int      `json:"statuses"`
	Errors            map[string]*failure `json:"errors"`      // by their text
	TimedOut          int                 `json:"timed_out"`   // of them
	Completions       []int               `json:"completions"` // how many requests succeeded in each span of CompletionsEvery
	CompletionsEvery  float64             `json:"completions_every_ms"`

	began                time.Time
	mutex                sync.Mutex
	latencies, firstByte []time.Duration
}

type percentiles struct {
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// bucket has the samples above the bucket before and not above its own end.
type bucket struct {
	EndMs float64 `json:"end_ms"`
	Count int     `json:"count"`
}

// failure is an error that happened so often, and how long each time took.
type failure struct {
	Count int     `json:"count"`
	P50Ms float64 `json:"p50_ms"`
	MaxMs float64 `json:"max_ms"`

	took []time.Duration
}

func (p percentiles) String() string {
	return fmt.Sprintf("min %.3f  p50 %.3f  p90 %.3f  p95 %.3f  p99 %.3f  p99.9 %.3f  max %.3f  mean %.3f ms",
		p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.Max, p.Mean)
}

const completionsEvery = 100 * time.Millisecond

func newResult(l *load) *result {
	return &result{
		Load: l, Statuses: make(map[string]int), Errors: make(map[string]*failure), Completions: []int{}, Histogram: []bucket{},
		CompletionsEvery: float64(completionsEvery / time.Millisecond), began: time.Now(),
	}
}

// failed counts a connection's or request's error. Numbers in the text are left out, so that like errors are counted together.
func (r *result) failed(err error, took time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.countError(err, took)
}

func (r *result) countError(err error, took time.Duration) {
	const most = 20 // kinds of error
	text := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return '#'
		}
		return c
	}, err.Error())
	if r.Errors[text] == nil && len(r.Errors) >= most {
		text = "others"
	}
	if r.Errors[text] == nil {
		r.Errors[text] = new(failure)
	}
	r.Errors[text].Count++
	r.Errors[text].took = append(r.Errors[text].took, took)
	if errors.Is(err, context.DeadlineExceeded) {
		r.TimedOut++
	}
}

func (r *result) connected(version string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.Connections++
	r.TLSVersion = version
}

func (r *result) reconnected() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.Reconnections++
}

func (r *result) add(s sample) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if s.err != nil {
		r.countError(s.err, s.latency)
		return
	}
	r.Statuses[fmt.Sprint(s.status)]++
	if s.status < 400 {
		r.Succeeded++
		r.BodyBytes += s.bytes
		for span := int(time.Since(r.began) / completionsEvery); len(r.Completions) <= span; {
			r.Completions = append(r.Completions, 0)
		}
		r.Completions[len(r.Completions)-1]++
		r.latencies, r.firstByte = append(r.latencies, s.latency), append(r.firstByte, s.firstByte)
	}
}

func (r *result) finish(took time.Duration, requests int) {
	r.Seconds = took.Seconds()
	r.Failed = requests - r.Succeeded
	r.RequestsPerSecond = float64(r.Succeeded) / r.Seconds
	r.MegabytesPerS = float64(r.BodyBytes) / r.Seconds / 1e6
	r.LatencyMs, r.FirstByteMs = percentilesOf(r.latencies), percentilesOf(r.firstByte)
	r.Histogram = histogramOf(r.latencies)
	for _, one := range r.Errors {
		of := percentilesOf(one.took)
		one.P50Ms, one.MaxMs = of.P50, of.Max
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// histogramOf ordered samples. The end of a bucket is a number of two digits.
func histogramOf(ordered []time.Duration) []bucket {
	buckets := []bucket{}
	var end time.Duration
	for _, sample := range ordered {
		if len(buckets) == 0 || sample > end {
			unit := time.Duration(1)
			for sample > 99*unit {
				unit *= 10
			}
			end = (sample + unit - 1) / unit * unit
			buckets = append(buckets, bucket{EndMs: milliseconds(end)})
		}
		buckets[len(buckets)-1].Count++
	}
	return buckets
}

func percentilesOf(samples []time.Duration) (p percentiles) {
	if len(samples) == 0 {
		return p
	}
	slices.Sort(samples)
	var sum time.Duration
	for _, sample := range samples {
		sum += sample
	}
	// The nearest rank: the smallest sample that so many of a thousand are not above.
	at := func(permille int) float64 { return milliseconds(samples[(len(samples)*permille+999)/1000-1]) }
	mean := milliseconds(sum) / float64(len(samples))
	return percentiles{milliseconds(samples[0]), at(500), at(900), at(950), at(990), at(999), at(1000), mean}
}

func (r *result) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %s (TLS: %t), %d clients, %d streams each\n", r.Load.URL, r.Load.Protocol, r.Load.TLS, r.Load.Clients, r.Load.Streams)
	fmt.Fprintf(&text, "%d requests succeeded, %d failed in %.3f s: %.1f requests/s and %.2f MB/s, of what succeeded\n",
		r.Succeeded, r.Failed, r.Seconds, r.RequestsPerSecond, r.MegabytesPerS)
	if r.Reconnections > 0 {
		fmt.Fprintf(&text, "%d connections were ended by the server and replaced\n", r.Reconnections)
	}
	fmt.Fprintf(&text, "%d bytes received, TLS and framing included\n", r.WireBytes)
	fmt.Fprintln(&text, "first byte:", r.FirstByteMs)
	fmt.Fprintln(&text, "last byte: ", r.LatencyMs)
	for _, kind := range sortedKeys(r.Statuses) {
		fmt.Fprintf(&text, "status %s: %d\n", kind, r.Statuses[kind])
	}
	for _, kind := range sortedKeys(r.Errors) {
		one := r.Errors[kind]
		fmt.Fprintf(&text, "error, %d times, after %.0f ms at most: %s\n", one.Count, one.MaxMs, kind)
	}
	return text.String()
}

func sortedKeys[V any](counts map[string]V) []string {
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

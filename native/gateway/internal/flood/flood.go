// Package flood counts what a peer sends that brings no exchange forward, so that a peer that sends it without end is noticed.
package flood

import (
	"fmt"
	"time"
)

// A Kind is what is counted.
type Kind int

// The kinds.
const (
	Settings Kind = iota
	Ping
	WindowUpdate
	Priority
	Reset
	Refused // frames that we answer with a reset
	Empty   // frames that carry nothing: DATA without bytes or an end, fields that end nothing, unknown types
	kinds
)

// Period is how long frames are counted together.
const Period = 10 * time.Second

// limits are far above what servers send for themselves: a few of each.
var limits = [kinds]struct {
	name string
	most int
}{
	Settings:     {"SETTINGS", 100},
	Ping:         {"PING", 1000},
	WindowUpdate: {"WINDOW_UPDATE", 10_000},
	Priority:     {"PRIORITY", 10_000},
	Reset:        {"RST_STREAM", 1000},
	Refused:      {"refused", 1000},
	Empty:        {"empty", 1000},
}

// perStep is how many frames of each kind are granted beside the limits for each step of our own: a fast peer resets a stream for each request and
// gives windows back, or measures the round trip, for each DATA frame.
const perStep = 10

// A Counter counts for one connection. The zero value is ready. It is not safe for concurrent use.
type Counter struct {
	Now func() time.Time // nil: time.Now

	began  time.Time
	counts [kinds]int
	steps  int
}

// An Error is a peer that sent too many.
type Error struct {
	What string // the kind
	Most int    // that were granted in a period
}

func (e *Error) Error() string {
	return fmt.Sprintf("the peer floods the connection: more than %d %s frames in %v", e.Most, e.What, Period)
}

// Step says that an exchange goes on from our side: a request began, or DATA was sent.
func (c *Counter) Step() { c.steps++ }

// Count counts a frame of the peer's, and returns an *Error where it is one too many.
func (c *Counter) Count(kind Kind) error {
	if now := c.now(); c.began.IsZero() || now.Sub(c.began) >= Period {
		*c = Counter{Now: c.Now, began: now}
	}
	c.counts[kind]++
	if most := limits[kind].most + perStep*c.steps; c.counts[kind] > most {
		return &Error{limits[kind].name, most}
	}
	return nil
}

func (c *Counter) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

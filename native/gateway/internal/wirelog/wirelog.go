// Package wirelog writes what happened on the wire: a JSON object on each line. Lines are written when what they tell of has ended.
package wirelog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// quietTime without a new line after which what is held is written: so the disk is left alone while a page loads.
const quietTime = 200 * time.Millisecond

// mostHeld bytes before lines are written even though more are coming.
const mostHeld = 1 << 20

// A Log is safe for concurrent use.
type Log struct {
	began  time.Time
	broken chan error // the first failure to write

	connections atomic.Int64 // begun so far

	mu     sync.Mutex
	file   *os.File
	held   bytes.Buffer
	timer  *time.Timer
	failed bool
	ended  bool
}

// Create makes the file anew. The clock of the log starts now.
func Create(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot make the log: %w", err)
	}
	log := &Log{began: time.Now(), file: file, broken: make(chan error, 1)}
	log.timer = time.AfterFunc(quietTime, log.flush)
	return log, nil
}

// Now is the time since the gateway began.
func (l *Log) Now() Time { return Time(time.Since(l.began)) }

// Broken gets the error when the file cannot be written: a log with gaps would be worse than none.
func (l *Log) Broken() <-chan error { return l.broken }

// Write adds a line.
func (l *Log) Write(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	encoder := json.NewEncoder(&l.held)
	encoder.SetEscapeHTML(false) // so that & in an address stays as it is
	if err := encoder.Encode(event); err != nil {
		panic(fmt.Sprintf("an event that JSON cannot hold: %v", err)) // a mistake in this program: events are plain structures
	}
	if l.held.Len() >= mostHeld {
		l.writeHeld()
	}
	l.timer.Reset(quietTime)
}

// Close writes the rest. Later events are dropped.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil
	}
	l.ended = true
	l.timer.Stop()
	err := l.writeHeld()
	if closing := l.file.Close(); err == nil && closing != nil {
		err = fmt.Errorf("cannot write the log: %w", closing)
	}
	return err
}

func (l *Log) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.writeHeld()
	}
}

func (l *Log) writeHeld() error {
	_, err := l.file.Write(l.held.Bytes())
	l.held.Reset()
	if err == nil {
		return nil
	}
	err = fmt.Errorf("cannot write the log: %w", err)
	if !l.failed {
		l.failed = true
		l.broken <- err
	}
	return err
}

// Began is when the clock of the log began.
func (l *Log) Began() time.Time { return l.began }

// NextConnection is the number of a connection that begins now: from 1 on, whatever it speaks.
func (l *Log) NextConnection() int { return int(l.connections.Add(1)) }

// Connections is how many were begun.
func (l *Log) Connections() int { return int(l.connections.Load()) }

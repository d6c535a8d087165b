package pool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/wirelog"
)

// A fake is a connection that does what the test says.
type fake struct {
	room    atomic.Int64
	started []*exchange.Request
	notes   []exchange.Notes
	moved   []exchange.Priority
	answer  func(try int) (*exchange.Response, error)
	done    chan struct{}
}

func withRoom(room int64) *fake {
	f := &fake{done: make(chan struct{})}
	f.room.Store(room)
	return f
}

func (f *fake) Start(_ context.Context, r *exchange.Request, n exchange.Notes) func() (*exchange.Response, error) {
	f.started, f.notes = append(f.started, r), append(f.notes, n)
	try := len(f.started)
	return func() (*exchange.Response, error) { return f.answer(try) }
}

func (f *fake) Reprioritise(_ exchange.Notes, priority exchange.Priority) {
	f.moved = append(f.moved, priority)
}

func (f *fake) Room() int             { return int(f.room.Load()) }
func (f *fake) Close() error          { return nil }
func (f *fake) Done() <-chan struct{} { return f.done }
func (f *fake) Err() error            { return nil }
func (f *fake) ClosedByUs() bool      { return false }
func (f *fake) Leaving() bool         { return false }

// A bench is a pool with fakes for a.example, and its log.
type bench struct {
	*Pool
	t    *testing.T
	path string
}

const host = "a.example"

func newBench(t *testing.T, wire config.Wire, fakes ...*fake) *bench {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	log, err := wirelog.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	wire.TLS, wire.ConnectionsPerHost = "off", len(fakes)
	names := dial.NewNames(&config.DNS{Mode: config.Instant, Hosts: config.Hosts{host: "127.0.0.1"}}, log)
	b := &bench{New(&wire, names, dial.New(&wire, log, nil), log), t, path}
	t.Cleanup(func() { b.cancel(); log.Close() })
	for i, f := range fakes {
		b.group(host).conns = append(b.group(host).conns, &wireConn{number: i + 1, host: host, dialled: dial.NoConn(), conn: f})
	}
	return b
}

func (b *bench) begin(request *exchange.Request) (*Ticket, *Record) {
	record := NewRecord(b.log, 1, request.Method, host+request.Path, string(b.wire.Protocol), request.Priority)
	return b.Begin(b.t.Context(), host, request, record), record
}

// logged ends a record and reads it back.
func (b *bench) logged(record *Record) map[string]any {
	b.t.Helper()
	record.End()
	b.log.Close()
	text, err := os.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var event map[string]any
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &event); err != nil {
		b.t.Fatal(err)
	}
	return event
}

func asking(method string) *exchange.Request {
	return &exchange.Request{Method: method, Path: "/", Priority: exchange.DefaultPriority}
}

func answered() *exchange.Response {
	return &exchange.Response{Status: 200, Body: io.NopCloser(strings.NewReader(""))}
}

var multiplexed = config.Wire{Protocol: config.H2, Pipelining: 1}

// A connection that was never used before was not closed for being idle.
func TestHowOftenARequestIsSent(t *testing.T) {
	for _, one := range []struct {
		err    error
		used   bool
		starts int
		why    string
	}{
		{exchange.ErrNotProcessed, false, 1, ""}, {exchange.ErrNotProcessed, true, 21, closedOn}, {exchange.ErrRefused, false, 3, refused},
		{exchange.ErrEvicted, false, 21, unpipelined}, {exchange.ErrNotSent, false, 21, noRoom}, {io.ErrUnexpectedEOF, true, 1, ""},
	} {
		for _, method := range []string{"GET", "POST"} {
			f := withRoom(100)
			f.answer = func(int) (*exchange.Response, error) { return nil, fmt.Errorf("it ended: %w", one.err) }
			b := newBench(t, multiplexed, f)
			b.group(host).conns[0].wasIdle = one.used
			ticket, record := b.begin(asking(method))
			if _, err := ticket.Wait(); err == nil || len(f.started) != one.starts {
				t.Errorf("%s, %v: %v, started %d times", method, one.err, err, len(f.started))
			}
			for _, why := range b.logged(record)["sent_again"].([]any) {
				if why != one.why {
					t.Errorf("%s, %v: again for %q", method, one.err, why)
				}
			}
		}
	}
}

func TestABodyIsSentAgainFromItsBeginningWhileItIsThere(t *testing.T) {
	for size, starts := range map[int]int{mostKept: 2, 2 * mostKept: 1} {
		body := strings.Repeat("body", mostKept)[:size]
		f := withRoom(100)
		sent := ""
		f.answer = func(try int) (*exchange.Response, error) {
			text, err := io.ReadAll(f.started[try-1].Body)
			sent = string(text)
			if try == 1 {
				return nil, exchange.ErrRefused
			}
			return answered(), err
		}
		request := asking("PUT")
		request.Body = strings.NewReader(body)
		ticket, _ := newBench(t, multiplexed, f).begin(request)
		if _, err := ticket.Wait(); (err == nil) != (starts == 2) || len(f.started) != starts || sent != body {
			t.Errorf("%d bytes: %v, started %d times, %d bytes at last", size, err, len(f.started), len(sent))
		}
	}
}

// A connection that was given up may still be about to read the body: the next one must get all of it.
func TestAnAttemptThatWasGivenUpTakesNothingOfTheBody(t *testing.T) {
	f := withRoom(100)
	sent := ""
	f.answer = func(try int) (*exchange.Response, error) {
		if try == 1 {
			return nil, exchange.ErrNotSent
		}
		if late, err := io.ReadAll(f.started[0].Body); len(late) > 0 || err == nil {
			t.Errorf("the first attempt got %q, %v", late, err)
		}
		text, err := io.ReadAll(f.started[1].Body)
		sent = string(text)
		return answered(), err
	}
	request := asking("POST")
	request.Body = strings.NewReader("body")
	ticket, _ := newBench(t, multiplexed, f).begin(request)
	if _, err := ticket.Wait(); err != nil || sent != "body" {
		t.Errorf("%v, %q", err, sent)
	}
}

func TestALateNoteOfADeadAttemptDoesNotChangeTheRecord(t *testing.T) {
	first, second := withRoom(1), withRoom(1)
	first.answer = func(int) (*exchange.Response, error) {
		first.room.Store(0)
		return nil, exchange.ErrRefused
	}
	second.answer = func(int) (*exchange.Response, error) {
		second.notes[0].Sent(7, 10, 20, 1)
		second.notes[0].FirstByte(30, 40)
		first.notes[0].Sent(5, 11, 21, 9)
		first.notes[0].FirstByte(31, 41)
		first.notes[0].LastByte()
		return answered(), nil
	}
	b := newBench(t, multiplexed, first, second)
	ticket, record := b.begin(asking("GET"))
	if _, err := ticket.Wait(); err != nil {
		t.Fatal(err)
	}
	event := b.logged(record)
	if event["connection"] != 2.0 || event["stream"] != 7.0 || event["in_flight"] != 1.0 || event["tries"] != 2.0 ||
		event["first_byte_ms"] == nil || event["last_byte_ms"] != nil || event["response_header_bytes"] != 30.0 {
		t.Errorf("%v", event)
	}
}

// A stream has its number when the kernel has its head, but a priority may change before.
func TestANewPriorityReachesWhatIsJustBeingSent(t *testing.T) {
	f := withRoom(1)
	ticket, _ := newBench(t, multiplexed, f).begin(asking("GET"))
	ticket.Reprioritise(exchange.Priority{Urgency: 1})
	if len(f.moved) != 1 || f.moved[0].Urgency != 1 {
		t.Errorf("%v", f.moved)
	}
}

func TestANewPriorityIsSaidInTheFieldOfWhatWaits(t *testing.T) {
	kept := exchange.Field{Name: "accept", Value: "*/*"}
	for _, one := range []struct {
		before   string
		priority exchange.Priority
		after    string
	}{
		{"u=5", exchange.Priority{Urgency: 1, Incremental: true}, "u=1, i"}, {"", exchange.Priority{Urgency: 2}, "u=2"}, {"u=4", exchange.DefaultPriority, ""},
	} {
		f := withRoom(0)
		b := newBench(t, multiplexed, f)
		request := asking("GET")
		request.Fields = []exchange.Field{kept}
		if one.before != "" {
			request.Fields = append(request.Fields, exchange.Field{Name: "priority", Value: one.before})
		}
		wanted := []exchange.Field{kept}
		if one.after != "" {
			wanted = append(wanted, exchange.Field{Name: "priority", Value: one.after})
		}
		f.answer = func(int) (*exchange.Response, error) { return answered(), nil }
		ticket, _ := b.begin(request)
		ticket.Reprioritise(one.priority)
		f.room.Store(1)
		b.kick()
		if _, err := ticket.Wait(); err != nil || !slices.Equal(f.started[0].Fields, wanted) || f.started[0].Priority != one.priority {
			t.Errorf("%v: %v, %+v", one, err, f.started[0])
		}
	}
}

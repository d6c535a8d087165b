package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/pool"
	"lanelab/gateway/internal/wirelog"
)

// agent is how requests name who asks.
const agent = "lanelab-fetcher/" + version

// A Report is all that a fetch tells. Times are of the log's clock.
type Report struct {
	Version string       `json:"version"`
	AtOnce  int          `json:"at_once"`
	Warm    bool         `json:"warm"`
	Began   wirelog.Time `json:"began_ms"` // of what is measured
	Ended   wirelog.Time `json:"ended_ms"`
	InTime  bool         `json:"in_time"` // nothing was given up because the time was over, or since somebody wanted it to end
	Objects []Object     `json:"objects"` // in the order of asking
}

// An Object is one request and what came of it.
type Object struct {
	Request   int           `json:"request"` // its number in the log
	URL       string        `json:"url"`
	Measured  bool          `json:"measured"` // false: of the fetch before, which warms connections
	Status    *int          `json:"status"`
	Encoding  *string       `json:"encoding"`
	BodyBytes int64         `json:"body_bytes"`
	SHA256    *string       `json:"sha256"` // of the whole body; null: it did not come whole
	Began     wirelog.Time  `json:"began_ms"`
	Ended     *wirelog.Time `json:"ended_ms"`
	Error     *string       `json:"error"`
}

// A fetcher is the parts of a running one.
type fetcher struct {
	plan   *config.Plan
	log    *wirelog.Log
	keys   *os.File
	pool   *pool.Pool
	fields []exchange.Field

	mu      sync.Mutex
	objects []*Object
}

func begin(plan *config.Plan) (*fetcher, error) {
	f := &fetcher{plan: plan, fields: []exchange.Field{{Name: "user-agent", Value: agent}, {Name: "accept", Value: "*/*"}}}
	if plan.AcceptEncoding != "" {
		f.fields = append(f.fields, exchange.Field{Name: "accept-encoding", Value: plan.AcceptEncoding})
	}
	var err error
	if f.log, err = wirelog.Create(plan.Log); err != nil {
		return nil, err
	}
	var keys io.Writer
	if plan.KeyLog != "" {
		if f.keys, err = os.OpenFile(plan.KeyLog, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return nil, fmt.Errorf("cannot make the file for TLS keys: %w", err)
		}
		keys = f.keys
	}
	f.log.Write(&wirelog.Gateway{Event: "gateway", Version: version, StartedUnixUs: f.log.Began().UnixMicro(), Wire: plan.Wire})
	f.pool = pool.New(&plan.Wire, dial.NewNames(&plan.DNS, f.log), dial.New(&plan.Wire, f.log, keys), f.log)
	return f, nil
}

// end ends the connections; then the log is whole. A log that could not be written is an error.
func (f *fetcher) end() error {
	f.pool.Close()
	err := f.log.Close()
	select {
	case broken := <-f.log.Broken():
		err = errors.Join(broken, err)
	default:
	}
	if f.keys != nil {
		err = errors.Join(err, f.keys.Close())
	}
	return err
}

// fetchAll fetches what the plan says, until its time is over or ctx ends.
func (f *fetcher) fetchAll(ctx context.Context) *Report {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(f.plan.TimeoutMs)*time.Millisecond)
	defer cancel()
	if f.plan.Warm {
		f.pass(ctx, false)
	}
	report := &Report{Version: version, AtOnce: f.plan.AtOnce, Warm: f.plan.Warm, Began: f.log.Now()}
	f.pass(ctx, true)
	report.Ended, report.InTime = f.log.Now(), ctx.Err() == nil
	report.Objects = make([]Object, 0, len(f.objects))
	for _, each := range f.objects {
		report.Objects = append(report.Objects, *each)
	}
	return report
}

// pass asks for each object once, in order; so many at once. What has no turn before the time is over is not asked for.
func (f *fetcher) pass(ctx context.Context, measured bool) {
	left := slices.Clone(f.plan.Objects)
	var workers sync.WaitGroup
	for range min(f.plan.AtOnce, len(left)) {
		workers.Go(func() {
			for {
				object, answer := f.next(ctx, &left, measured)
				if object == nil {
					return
				}
				answer(object)
			}
		})
	}
	workers.Wait()
}

// next asks for the next object: the order of numbers is that of asking. nil: there is none.
func (f *fetcher) next(ctx context.Context, left *[]string, measured bool) (*Object, func(*Object)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(*left) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	url := (*left)[0]
	*left = (*left)[1:]
	object := &Object{Request: len(f.objects) + 1, URL: url, Measured: measured, Began: f.log.Now()}
	f.objects = append(f.objects, object)
	wire := &f.plan.Wire
	host, path, _ := strings.Cut(url, "/")
	request := &exchange.Request{
		Method: "GET", Scheme: wire.Scheme(), Authority: wire.Authority(host), Path: "/" + path, Fields: f.fields, Priority: exchange.DefaultPriority,
	}
	record := pool.NewRecord(f.log, object.Request, "GET", url, string(wire.Protocol), exchange.DefaultPriority)
	ticket := f.pool.Begin(ctx, host, request, record)
	return object, func(object *Object) { f.take(ctx, ticket, record, object) }
}

// take waits for the answer, and reads all of it.
func (f *fetcher) take(ctx context.Context, ticket *pool.Ticket, record *pool.Record, object *Object) {
	response, err := ticket.Wait()
	if err == nil {
		object.Status, object.Encoding = &response.Status, encodingOf(response)
		hash := sha256.New()
		object.BodyBytes, err = io.Copy(hash, response.Body)
		now := f.log.Now()
		response.Body.Close()
		if err == nil {
			object.Ended, object.SHA256 = &now, wirelog.Some(hex.EncodeToString(hash.Sum(nil)))
		}
	}
	cancelled := err != nil && ctx.Err() != nil
	if err != nil {
		object.Error = wirelog.Some(err.Error())
	}
	record.Change(func(event *wirelog.Request) {
		event.Status, event.ResponseBodyBytes, event.Cancelled = object.Status, object.BodyBytes, cancelled
		if !cancelled {
			event.Error = object.Error
		}
	})
	record.End()
}

func encodingOf(response *exchange.Response) *string {
	var values []string
	for _, field := range response.Fields {
		if field.Name == "content-encoding" {
			values = append(values, strings.ToLower(field.Value))
		}
	}
	return wirelog.Some(strings.Join(values, ","))
}

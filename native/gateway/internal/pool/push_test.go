package pool

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
)

// A said is a pushed answer that comes when the test lets it.
type said struct {
	response *exchange.Response
	err      error
	come     chan bool
}

func (s *said) Wait(ctx context.Context) (*exchange.Response, error) {
	select {
	case <-s.come:
		return s.response, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func pushing() config.Wire {
	return config.Wire{Protocol: config.H2, Pipelining: 1, Port: 80, Push: true}
}

func promiseOf(path string) exchange.Promise {
	return exchange.Promise{Stream: 2, Associated: 1, Method: "GET", Scheme: "http", Authority: host, Path: path}
}

// promised is a push of what is at the path, and how it comes.
func (b *bench) promised(promise exchange.Promise, response *exchange.Response, err error) (taken bool, come func()) {
	s := &said{response, err, make(chan bool)}
	taken = b.pushes.take(b.group(host).conns[0], promise, s) != nil
	return taken, func() { close(s.come) }
}

func body(text string, fields ...exchange.Field) *exchange.Response {
	return &exchange.Response{Status: 200, Fields: fields, Body: io.NopCloser(strings.NewReader(text))}
}

// sending is a connection that answers what it is asked with its own word.
func sending(text string) *fake {
	f := withRoom(100)
	f.answer = func(int) (*exchange.Response, error) { return body(text), nil }
	return f
}

func (b *bench) got(ticket *Ticket) string {
	b.t.Helper()
	response, err := ticket.Wait()
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

func at(path string, fields ...exchange.Field) *exchange.Request {
	return &exchange.Request{Method: "GET", Path: path, Priority: exchange.DefaultPriority, Fields: fields}
}

func TestAPushAnswersTheRequestThatComes(t *testing.T) {
	f := sending("asked")
	b := newBench(t, pushing(), f)
	if taken, come := b.promised(promiseOf("/a.css"), body("pushed"), nil); !taken {
		t.Fatal("it was refused")
	} else {
		ticket, _ := b.begin(at("/a.css")) // waits for it rather than going out
		come()
		if got := b.got(ticket); got != "pushed" || len(f.started) != 0 {
			t.Error(got, len(f.started))
		}
	}
	again, record := b.begin(at("/a.css")) // a push is used once
	if got := b.got(again); got != "asked" || len(f.started) != 1 {
		t.Error(got, len(f.started))
	}
	if event := b.logged(record); event["pushed"] != false {
		t.Error(event)
	}
}

func TestWhatHasNoUseForAPushIsAskedFor(t *testing.T) {
	vary := exchange.Field{Name: "vary", Value: "Accept-Language"}
	for name, c := range map[string]struct {
		request *exchange.Request
		push    *exchange.Response
		err     error
	}{
		"another query":          {at("/a.css?v=2"), body("pushed"), nil},
		"a part of it":           {at("/a.css", exchange.Field{Name: "range", Value: "bytes=0-1"}), body("pushed"), nil},
		"a POST":                 {&exchange.Request{Method: "POST", Path: "/a.css", Priority: exchange.DefaultPriority}, body("pushed"), nil},
		"another tongue":         {at("/a.css", exchange.Field{Name: "accept-language", Value: "de"}), body("pushed", vary), nil},
		"a push that breaks off": {at("/a.css"), nil, errors.New("reset")},
	} {
		t.Run(name, func(t *testing.T) {
			f := sending("asked")
			b := newBench(t, pushing(), f)
			taken, come := b.promised(promiseOf("/a.css"), c.push, c.err)
			if !taken {
				t.Fatal("it was refused")
			}
			come()
			ticket, _ := b.begin(c.request)
			if got := b.got(ticket); got != "asked" {
				t.Error(got)
			}
		})
	}
}

func TestWhichPromisesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		promise exchange.Promise
		before  func(*bench)
	}{
		"a POST":       {exchange.Promise{Stream: 2, Method: "POST", Scheme: "http", Authority: host, Path: "/a.css"}, nil},
		"a scheme":     {exchange.Promise{Stream: 2, Method: "GET", Scheme: "https", Authority: host, Path: "/a.css"}, nil},
		"a stranger":   {exchange.Promise{Stream: 2, Method: "GET", Scheme: "http", Authority: "evil.example", Path: "/a.css"}, nil},
		"a port":       {exchange.Promise{Stream: 2, Method: "GET", Scheme: "http", Authority: host + ":81", Path: "/a.css"}, nil},
		"twice":        {promiseOf("/a.css"), func(b *bench) { b.promised(promiseOf("/a.css"), body("x"), nil) }},
		"asked before": {promiseOf("/a.css"), func(b *bench) { t, _ := b.begin(at("/a.css")); b.got(t) }},
		"at the end":   {promiseOf("/a.css"), func(b *bench) { b.pushes.close() }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, pushing(), sending("asked"))
			if taken, _ := b.promised(promiseOf("/other.css"), body("x"), nil); !taken {
				t.Fatal("nothing is taken at all")
			}
			if c.before != nil {
				c.before(b)
			}
			if taken, _ := b.promised(c.promise, body("x"), nil); taken {
				t.Error("it was taken")
			}
		})
	}
}

func TestABrowserThatLeavesEndsItsPush(t *testing.T) {
	b := newBench(t, pushing(), sending("asked"))
	b.promised(promiseOf("/a.css"), body("pushed"), nil)
	ctx, leave := context.WithCancel(t.Context())
	request := at("/a.css")
	ticket := b.Begin(ctx, host, request, NewRecord(b.log, 1, "GET", host+request.Path, "h2", request.Priority))
	leave()
	if _, err := ticket.Wait(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lanelab/gateway/internal/testkit"
)

func TestWhoIsAskedToEndTellsWhatThereIs(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	ctx, cancel := context.WithCancel(t.Context())
	path := plan(t, s, []string{"/never"}, nil, nil)
	var out, complaints bytes.Buffer
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{path}, &out, &complaints) }()
	testkit.Eventually(t, "the request came", func() bool {
		_, most := s.counts()
		return most == 1
	})
	cancel()
	if got := <-status; got != ended || !strings.Contains(out.String(), `"in_time":false`) {
		t.Errorf("status %d: %s%s", got, &out, &complaints)
	}
}

func TestWhoHoldsKeepsConnectionsUntilASignal(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	path := plan(t, s, []string{"/one"}, settings{"hold": true}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	reading, writing := io.Pipe()
	var complaints bytes.Buffer
	status := make(chan int, 1)
	go func() { status <- run(ctx, []string{path}, writing, &complaints) }()
	report, err := bufio.NewReader(reading).ReadString('\n')
	if err != nil || !strings.Contains(report, `"in_time":true`) {
		t.Errorf("%v: %s", err, report)
	}
	if logged := events(t, path, "connection"); len(logged) != 0 {
		t.Errorf("a connection has ended: %v", logged)
	}
	cancel()
	if got := <-status; got != ended {
		t.Errorf("status %d: %s", got, &complaints)
	}
	if logged := events(t, path, "connection"); len(logged) != 1 || logged[0]["ended_by"] != "gateway" {
		t.Errorf("%v", logged)
	}
}

func TestKeysOfTLSAreWritten(t *testing.T) {
	s := serve(t, "h2", tls.VersionTLS13)
	path := plan(t, s, []string{"/one"}, nil, settings{"protocol": "h2", "tls": "1.3"})
	fetch(t, path)
	keys, err := os.ReadFile(filepath.Join(filepath.Dir(path), "keys.log"))
	if err != nil || !bytes.Contains(keys, []byte("CLIENT_TRAFFIC_SECRET_0")) {
		t.Errorf("%v: %s", err, keys)
	}
}

func TestAServerWithAnotherKeyIsRefused(t *testing.T) {
	s := serve(t, "h2", tls.VersionTLS13)
	s.pin = testkit.NewIdentity(t, host).Pin
	objects := fetch(t, plan(t, s, []string{"/one"}, nil, settings{"protocol": "h2", "tls": "1.3"})).Objects
	if objects[0].Error == nil || objects[0].SHA256 != nil {
		t.Errorf("%+v", objects[0])
	}
}

func TestAPlanThatCannotBeIsRefusedByName(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	for _, one := range []struct {
		changed, wire settings
		says          string
	}{
		{settings{"at_onse": 2}, nil, `did you mean "at_once"`},
		{settings{"at_once": 0}, nil, "at_once: 0"},
		{settings{"objects": []string{}}, nil, "objects: none"},
		{settings{"objects": []string{"b.example/"}}, nil, "objects[0]"},
		{settings{"warm": true}, settings{"keepalive": false}, "warm: "},
		{settings{"version": 2}, nil, "version: 2"},
		{settings{"timeout_ms": 0}, nil, "timeout_ms"},
		{nil, settings{"protocol": "h4"}, "wire.protocol"},
		{nil, settings{"protocol": "h2", "push": true}, "wire.push"},
	} {
		var out, complaints bytes.Buffer
		status := run(t.Context(), []string{plan(t, s, []string{"/one"}, one.changed, one.wire)}, &out, &complaints)
		if status != refused || !strings.Contains(complaints.String(), one.says) {
			t.Errorf("%v %v: status %d: %s", one.changed, one.wire, status, &complaints)
		}
	}
}

func TestArgumentsAndVersion(t *testing.T) {
	var out, complaints bytes.Buffer
	if run(t.Context(), nil, &out, &complaints) != refused || run(t.Context(), []string{"/nowhere/plan.json"}, &out, &complaints) != refused {
		t.Error("it began without a plan")
	}
	if run(t.Context(), []string{"--version"}, &out, &complaints) != ended || out.String() != "lanelab-fetcher 1\n" {
		t.Errorf("%q", out.String())
	}
}

package main

import (
	"bytes"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"lanelab/gateway/internal/testkit"
)

var overQUIC = settings{"protocol": "h3", "tls": "1.3"}

func serveH3(t *testing.T) *site { return serveH3With(t, &quic.Config{}) }

func serveH3With(t *testing.T, settings *quic.Config) *site {
	t.Helper()
	identity := testkit.NewIdentity(t, host)
	s := &site{pin: identity.Pin}
	s.port = testkit.ServeHTTP3(t, identity, settings, s.serve, func(*quic.Conn) {
		s.mu.Lock()
		s.connections++
		s.mu.Unlock()
	})
	return s
}

func TestHTTP3IsInTheLogAsItIsOnTheWire(t *testing.T) {
	s := serveH3(t)
	path := plan(t, s, paths, nil, overQUIC)
	report := fetch(t, path)
	requests, connections := events(t, path, "request"), events(t, path, "connection")
	if len(requests) != len(paths) || len(connections) != 1 {
		t.Fatalf("%d requests over %d connections", len(requests), len(connections))
	}
	for number, request := range requests {
		object := report.Objects[number]
		moments := []any{request["queued_ms"], request["sent_ms"], request["first_byte_ms"], request["last_byte_ms"]}
		for at := 1; at < len(moments); at++ {
			if moments[at] == nil || moments[at].(float64) < moments[at-1].(float64) {
				t.Errorf("moments of %s: %v", object.URL, moments)
			}
		}
		if request["stream"] != float64(4*number) || request["protocol"] != "h3" || request["tls"] != "TLS 1.3" || request["reused"] != (number > 0) {
			t.Errorf("%v", request)
		}
		if request["response_body_bytes"] != float64(object.BodyBytes) || request["response_header_wire_bytes"].(float64) < 5 ||
			request["request_header_wire_bytes"].(float64) >= request["request_header_bytes"].(float64) {
			t.Errorf("%v", request)
		}
	}
	one := connections[0]
	if one["alpn"] != "h3" || one["protocol"] != "h3" || one["tls"] != "TLS 1.3" || one["ended_by"] != "gateway" || one["requests"] != float64(len(paths)) {
		t.Errorf("%v", one)
	}
	if !strings.HasPrefix(one["local"].(string), "127.0.0.1:") || one["received_bytes"].(float64) < float64(len(paths)*1000) || one["sent_bytes"].(float64) < 1200 {
		t.Errorf("%v", one)
	}
}

func TestByHTTP3SoManyAreUnderWayAtOnceAsThePlanSays(t *testing.T) {
	s := serveH3(t)
	s.delay = 50 * time.Millisecond
	fetch(t, plan(t, s, []string{"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"}, settings{"at_once": 3}, overQUIC))
	if connections, most := s.counts(); most != 3 || connections != 1 {
		t.Errorf("%d at once over %d connections", most, connections)
	}
}

func TestWhatAServerTakesNoMoreOfWaits(t *testing.T) {
	s := serveH3With(t, &quic.Config{MaxIncomingStreams: 2})
	s.delay = 10 * time.Millisecond
	several := []string{"/1", "/2", "/3", "/4", "/5", "/6"}
	for i, object := range fetch(t, plan(t, s, several, settings{"at_once": 6}, overQUIC)).Objects {
		requireWhole(t, object, several[i])
	}
	if connections, most := s.counts(); most > 2 || connections != 1 {
		t.Errorf("%d at once over %d connections", most, connections)
	}
}

func TestAWarmFetchByHTTP3AsksTwiceOverTheSameConnection(t *testing.T) {
	s := serveH3(t)
	path := plan(t, s, []string{"/one", "/three"}, settings{"warm": true}, overQUIC)
	for _, object := range fetch(t, path).Objects {
		requireWhole(t, object, strings.TrimPrefix(object.URL, host))
	}
	if connections, _ := s.counts(); connections != 1 || len(events(t, path, "request")) != 4 {
		t.Errorf("%d connections", connections)
	}
}

func TestByHTTP3AnAnswerThatIsNoObjectOrNotWholeIsToldAsItIs(t *testing.T) {
	s := serveH3(t)
	objects := fetch(t, plan(t, s, []string{"/absent", "/short", "/one"}, nil, overQUIC)).Objects
	if objects[0].Status == nil || *objects[0].Status != 404 {
		t.Errorf("%+v", objects[0])
	}
	if objects[1].SHA256 != nil || objects[1].Error == nil {
		t.Errorf("%+v", objects[1])
	}
	requireWhole(t, objects[2], "/one")
}

func TestByHTTP3WhatTakesTooLongIsGivenUp(t *testing.T) {
	s := serveH3(t)
	report := fetch(t, plan(t, s, []string{"/one", "/never", "/three"}, settings{"timeout_ms": 1500}, overQUIC))
	if report.InTime || len(report.Objects) != 2 || report.Objects[1].Error == nil {
		t.Errorf("%+v", report)
	}
	requireWhole(t, report.Objects[0], "/one")
}

// A probe would be sent when five round trips have passed since the handshake.
func TestByHTTP3NoPathIsProbedAndNothingIsMarked(t *testing.T) {
	s := serveH3(t)
	s.delay = 30 * time.Millisecond
	heard := testkit.Overhear(t, s.port)
	s.port = heard.Port
	several := []string{"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"}
	for i, object := range fetch(t, plan(t, s, several, nil, overQUIC)).Objects {
		requireWhole(t, object, several[i])
	}
	heard.RequirePlain(t)
}

func TestKeysOfQUICAreWritten(t *testing.T) {
	path := plan(t, serveH3(t), []string{"/one"}, nil, overQUIC)
	fetch(t, path)
	keys, err := os.ReadFile(filepath.Join(filepath.Dir(path), "keys.log"))
	for _, secret := range []string{"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", "SERVER_HANDSHAKE_TRAFFIC_SECRET ", "CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "} {
		if err != nil || bytes.Count(keys, []byte(secret)) != 1 {
			t.Errorf("%s in %s, %v", secret, keys, err)
		}
	}
}

func TestByHTTP3AServerWithAnotherKeyIsRefused(t *testing.T) {
	s := serveH3(t)
	s.pin = testkit.NewIdentity(t, host).Pin
	objects := fetch(t, plan(t, s, []string{"/one"}, nil, overQUIC)).Objects
	if objects[0].Error == nil || objects[0].SHA256 != nil || !strings.Contains(*objects[0].Error, "not trusted") {
		t.Errorf("%+v", objects[0])
	}
	if _, most := s.counts(); most != 0 {
		t.Error("it was asked")
	}
}

func TestWhereNobodySpeaksQUICThereIsNoAnswer(t *testing.T) {
	s := serve(t, "h2", tls.VersionTLS13)
	objects := fetch(t, plan(t, s, []string{"/one"}, settings{"timeout_ms": 1000}, overQUIC)).Objects
	if connections, _ := s.counts(); objects[0].Error == nil || objects[0].Status != nil || connections != 0 {
		t.Errorf("%+v, %d connections over TCP", objects[0], connections)
	}
}

func TestWhatHTTP3CannotHaveIsRefusedByName(t *testing.T) {
	s := serveH3(t)
	for says, wire := range map[string]settings{
		"wire.tls: h3 has TLS 1.3":        {"protocol": "h3", "tls": "1.2"},
		"wire.backup_connections":         {"protocol": "h3", "tls": "1.3", "backup_connections": true},
		"wire.stream_window":              {"protocol": "h3", "tls": "1.3", "stream_window": 65536},
		"wire.keepalive: false only":      {"protocol": "h3", "tls": "1.3", "keepalive": false},
		"wire.max_concurrent_streams: h3": {"protocol": "h3", "tls": "1.3", "max_concurrent_streams": 6},
	} {
		var out, complaints bytes.Buffer
		status := run(t.Context(), []string{plan(t, s, []string{"/one"}, nil, wire)}, &out, &complaints)
		if status != refused || !strings.Contains(complaints.String(), says) {
			t.Errorf("%v: status %d: %s", wire, status, &complaints)
		}
	}
}

package main

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"
)

var paths = []string{"/", "/one", "/two?q=1", "/three"}

func pathOnly(path string) string {
	only, _, _ := strings.Cut(path, "?")
	return only
}

func TestEachProtocolBringsEachObjectWholeOverOneConnection(t *testing.T) {
	for _, one := range []struct {
		name string
		site func(*testing.T) *site
		wire settings
	}{
		{"http1", func(t *testing.T) *site { return serve(t, "http/1.1", 0) }, settings{}},
		{"http1-tls", func(t *testing.T) *site { return serve(t, "http/1.1", tls.VersionTLS12) }, settings{"tls": "1.2"}},
		{"h2c", func(t *testing.T) *site { return serve(t, "h2", 0) }, settings{"protocol": "h2"}},
		{"h2", func(t *testing.T) *site { return serve(t, "h2", tls.VersionTLS13) }, settings{"protocol": "h2", "tls": "1.3"}},
		{"spdy", serveSPDY, settings{"protocol": "spdy/3.1"}},
		{"h3", serveH3, overQUIC},
	} {
		t.Run(one.name, func(t *testing.T) {
			s := one.site(t)
			path := plan(t, s, paths, nil, one.wire)
			report := fetch(t, path)
			if len(report.Objects) != len(paths) || !report.InTime {
				t.Fatalf("%+v", report)
			}
			for i, object := range report.Objects {
				served := paths[i]
				if one.name != "spdy" {
					served = pathOnly(served)
				}
				hash := sha256.Sum256([]byte(body(served)))
				if object.SHA256 == nil || *object.SHA256 != hex.EncodeToString(hash[:]) || !object.Measured || object.Request != i+1 {
					t.Errorf("%+v", object)
				}
			}
			if connections, _ := s.counts(); connections != 1 {
				t.Errorf("%d connections", connections)
			}
			if requests := events(t, path, "request"); len(requests) != len(paths) || requests[3]["status"] != float64(200) {
				t.Errorf("%v", requests)
			}
		})
	}
}

func TestWithoutKeepaliveEachObjectHasAConnectionOfItsOwn(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	fetch(t, plan(t, s, paths, nil, settings{"keepalive": false, "connections_per_host": 1}))
	if connections, most := s.counts(); connections != len(paths) || most != 1 {
		t.Errorf("%d connections, %d at once", connections, most)
	}
}

func TestSoManyAreUnderWayAtOnceAsThePlanSays(t *testing.T) {
	s := serve(t, "h2", 0)
	s.delay = 50 * time.Millisecond
	many := []string{"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"}
	fetch(t, plan(t, s, many, settings{"at_once": 3}, settings{"protocol": "h2"}))
	if _, most := s.counts(); most != 3 {
		t.Errorf("%d at once", most)
	}
}

func TestAWarmFetchAsksTwiceOverTheSameConnection(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	report := fetch(t, plan(t, s, []string{"/one", "/three"}, settings{"warm": true}, nil))
	measured := []bool{}
	for _, object := range report.Objects {
		requireWhole(t, object, strings.TrimPrefix(object.URL, host))
		measured = append(measured, object.Measured)
	}
	if connections, _ := s.counts(); fmt.Sprint(measured) != "[false false true true]" || connections != 1 {
		t.Errorf("%v over %d connections", measured, connections)
	}
}

func TestAnAnswerThatIsNoObjectOrNotWholeIsToldAsItIs(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	objects := fetch(t, plan(t, s, []string{"/absent", "/short", "/one"}, nil, nil)).Objects
	if objects[0].Status == nil || *objects[0].Status != 404 {
		t.Errorf("%+v", objects[0])
	}
	if objects[1].SHA256 != nil || objects[1].Error == nil {
		t.Errorf("%+v", objects[1])
	}
	requireWhole(t, objects[2], "/one")
}

func TestWhatTakesTooLongIsGivenUpAndTheRestIsNotAskedFor(t *testing.T) {
	s := serve(t, "http/1.1", 0)
	report := fetch(t, plan(t, s, []string{"/one", "/never", "/three"}, settings{"timeout_ms": 1500}, nil))
	if report.InTime || len(report.Objects) != 2 || report.Objects[1].Error == nil {
		t.Errorf("%+v", report)
	}
	requireWhole(t, report.Objects[0], "/one")
}

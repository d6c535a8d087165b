package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

// besides is what is spoken with the second host alone.
func besides(o *origin, wire settings) settings {
	whole := settings{"protocol": "http/1.1", "port": o.port, "trust": []string{o.pin}}
	for key, value := range wire {
		whole[key] = value
	}
	return settings{"hosts": names[1:], "wire": whole}
}

// getFromBoth asks both hosts for so many objects each, all at once.
func (w *world) getFromBoth(count int) {
	w.t.Helper()
	var all sync.WaitGroup
	for _, host := range names {
		for i := range count {
			all.Go(func() {
				response, body, err := w.fetch("GET", url(host, "/%d", 1000+i), nil)
				if err != nil || response.StatusCode != 200 || len(body) != 1000+i {
					w.t.Errorf("%s: %v, %d bytes, %v", host, response, len(body), err)
				}
			})
		}
	}
	all.Wait()
}

// of are the lines that are about a host.
func of(host string, events []event) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool {
		return e["host"] != host && !strings.HasPrefix(fmt.Sprint(e["url"]), host+"/")
	})
}

func TestEachHostIsSpokenToAsItsWireSays(t *testing.T) {
	for _, usual := range arms() {
		for _, other := range arms() {
			if secure := func(a arm) bool { return a.wire["tls"] != nil }; secure(usual) != secure(other) {
				continue
			}
			t.Run(usual.name+" and "+other.name, func(t *testing.T) {
				o, o2 := usual.origin(t, site), other.origin(t, site)
				w := begin(t, o.pin, o.port, usual.wire, nil, besides(o2, other.wire))
				w.getFromBoth(8)
				connections, requests := w.events("connection"), w.events("request")
				for i, a := range []arm{usual, other} {
					protocol, ofHost := a.wire["protocol"], of(names[i], connections)
					if protocol == nil {
						protocol = "http/1.1"
					}
					for _, line := range append(ofHost, of(names[i], requests)...) {
						if line["protocol"] != protocol {
							t.Errorf("%s instead of %s: %v", line["protocol"], protocol, line)
						}
					}
					if protocol != "http/1.1" && len(ofHost) != 1 {
						t.Errorf("%d connections to %s", len(ofHost), names[i])
					}
					for _, c := range ofHost {
						if port := fmt.Sprintf(":%d", []*origin{o, o2}[i].port); !strings.HasSuffix(fmt.Sprint(c["remote"]), port) {
							t.Errorf("not to %s: %v", port, c)
						}
					}
				}
				numbers := map[float64]bool{}
				for _, c := range connections {
					numbers[c.number("connection")] = true
				}
				for number := range len(numbers) {
					if !numbers[float64(number+1)] {
						t.Errorf("connections are numbered %v", numbers)
					}
				}
			})
		}
	}
}

// The limits of one wire are not those of the other.
func TestEachWireHasItsOwnConnections(t *testing.T) {
	o, o2 := serveHTTP(t, "http/1.1", 0, site), serveHTTP(t, "http/1.1", 0, site)
	w := begin(t, o.pin, o.port, settings{"connections_per_host": 2}, nil, besides(o2, settings{"protocol": "http/1.1", "connections_per_host": 1, "pipelining": 4}))
	w.getFromBoth(12)
	if o.connections() > 2 || o2.connections() != 1 {
		t.Errorf("%d and %d connections", o.connections(), o2.connections())
	}
	deepest := map[string]float64{}
	for _, host := range names {
		for _, r := range of(host, w.events("request")) {
			deepest[host] = max(deepest[host], r.number("in_flight"))
		}
	}
	if deepest[names[0]] != 1 || deepest[names[1]] < 2 {
		t.Errorf("so many were in flight: %v", deepest)
	}
}

func TestEachWireOffersItsProtocolByALPN(t *testing.T) {
	var mu sync.Mutex
	offered := map[string][]string{}
	listen := func(protocols ...string) (port int, pin string) {
		identity := testkit.NewIdentity(t, names...)
		server := httptest.NewUnstartedServer(http.HandlerFunc(site))
		server.TLS = &tls.Config{
			Certificates: []tls.Certificate{identity.TLS}, NextProtos: protocols,
			GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				mu.Lock()
				defer mu.Unlock()
				offered[hello.ServerName] = append(offered[hello.ServerName], strings.Join(hello.SupportedProtos, " "))
				return nil, nil
			},
		}
		server.EnableHTTP2 = slices.Contains(protocols, "h2")
		server.StartTLS()
		t.Cleanup(server.Close)
		return testkit.Port(server.Listener.Addr()), identity.Pin
	}
	port, pin := listen("h2", "http/1.1")
	port2, pin2 := listen("h2", "http/1.1")
	w := begin(t, pin, port, settings{"protocol": "h2", "tls": "1.3"}, nil,
		settings{"hosts": names[1:], "wire": settings{"protocol": "http/1.1", "tls": "1.3", "port": port2, "trust": []string{pin2}}})
	w.getFromBoth(3)
	w.end()
	for host, protocol := range map[string]string{names[0]: "h2", names[1]: "http/1.1"} {
		if len(offered[host]) == 0 || slices.ContainsFunc(offered[host], func(each string) bool { return each != protocol }) {
			t.Errorf("%s was offered %q", host, offered[host])
		}
	}
}

// Trust is of one wire: what the other trusts is nobody here.
func TestAKeyOfTheOtherWireIsNotTrusted(t *testing.T) {
	o, o2 := serveHTTP(t, "http/1.1", tls.VersionTLS13, site), serveHTTP(t, "http/1.1", tls.VersionTLS13, site)
	wrong := &origin{port: o2.port, pin: o.pin}
	w := begin(t, o.pin, o.port, settings{"tls": "1.3"}, nil, besides(wrong, settings{"protocol": "http/1.1", "tls": "1.3"}))
	w.get(url(names[0], "/10"))
	if response, body := w.get(url(names[1], "/10")); response.StatusCode != 502 || !strings.Contains(body, "not trusted") {
		t.Errorf("%d %q", response.StatusCode, body)
	}
}

// What a browser says of where it comes from names that host as its own wire does.
func TestARefererHasThePortOfItsOwnWire(t *testing.T) {
	asked := make(chan *http.Request, 1)
	o := serveHTTP(t, "http/1.1", 0, site)
	o2 := serveHTTP(t, "http/1.1", 0, func(_ http.ResponseWriter, r *http.Request) { asked <- r })
	w := begin(t, o.pin, o.port, nil, nil, besides(o2, settings{"protocol": "http/1.1"}))
	request, err := http.NewRequestWithContext(t.Context(), "GET", url(names[1], "/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Referer", url(names[0], "/page"))
	response, err := w.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	got, wanted := <-asked, fmt.Sprintf("http://%s:%d/page", names[0], o.port)
	if got.Referer() != wanted || got.Host != fmt.Sprintf("%s:%d", names[1], o2.port) {
		t.Errorf("%s to %s, not %s", got.Referer(), got.Host, wanted)
	}
}

// Two connections are begun for the very first name, and for no other, whatever wire it has.
func TestTheFirstNameAloneGetsTwoConnections(t *testing.T) {
	o, o2 := serveSPDY(t, spdy.V31, site), serveHTTP(t, "http/1.1", 0, site)
	w := begin(t, o.pin, o.port, settings{"protocol": "spdy/3.1"}, nil, besides(o2, settings{"protocol": "http/1.1"}))
	w.get(url(names[0], "/10"))
	w.gateway.pools.Prepare(names[1])
	w.get(url(names[1], "/10"))
	if begun := len(of(names[1], w.events("connection"))); begun != 1 {
		t.Errorf("%d connections", begun)
	}
}

func TestTheLogSaysWhatWasAsked(t *testing.T) {
	o := serveHTTP(t, "http/1.1", 0, site)
	w := begin(t, o.pin, o.port, nil, nil, besides(o, settings{"protocol": "spdy/3"}))
	wire, _ := w.events("gateway")[0]["wire"].(map[string]any)
	beside, _ := wire["beside"].([]any)
	if wire["protocol"] != "http/1.1" || len(beside) != 1 || !strings.Contains(fmt.Sprint(beside[0]), "protocol:spdy/3") {
		t.Errorf("%v", wire)
	}
	alone := begin(t, o.pin, o.port, nil, nil)
	if wire, _ := alone.events("gateway")[0]["wire"].(map[string]any); wire["beside"] != nil || wire["protocol"] != "http/1.1" {
		t.Errorf("%v", wire)
	}
}

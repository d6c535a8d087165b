package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"lanelab/gateway/internal/testkit"
)

func TestPagesUpgradeWhatTheyName(t *testing.T) {
	o := serveHTTP(t, "http/1.1", 0, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		w.Header().Set("Content-Security-Policy", "img-src 'self'")
	})
	w := begin(t, o.pin, o.port, nil, nil)
	for kind, added := range map[string]bool{
		"text/html": true, "Text/HTML; charset=utf-8": true, "application/xhtml+xml": true, "text/css": false, "text/htmlx": false,
	} {
		response, _ := w.get(url(names[0], "/?type=%s", neturl.QueryEscape(kind)))
		policies := response.Header.Values("Content-Security-Policy")
		if policies[0] != "img-src 'self'" || (len(policies) == 2) != added || (added && policies[1] != "upgrade-insecure-requests") {
			t.Errorf("%s: %q", kind, policies)
		}
	}
}

func TestRedirectsStayWithTheGateway(t *testing.T) {
	o := serveHTTP(t, "http/1.1", 0, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.Header.Get("X-To"))
		w.WriteHeader(302)
	})
	w := begin(t, o.pin, o.port, nil, nil)
	for to, wanted := range map[string]string{
		"http://a.example/x?y": "https://a.example/x?y", "http://b.example:8080": "https://b.example",
		"http://elsewhere.example/": "http://elsewhere.example/", "http://a.example:80@elsewhere.example/": "http://a.example:80@elsewhere.example/",
		"http://a.example.org/": "http://a.example.org/", "http://A.example/X": "https://a.example/X", "/relative": "/relative", "https://a.example/": "https://a.example/",
	} {
		request, _ := http.NewRequestWithContext(t.Context(), "GET", url(names[0], "/"), nil)
		request.Header.Set("X-To", to)
		response, err := w.browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Location"); got != wanted {
			t.Errorf("%s became %s", to, got)
		}
	}
}

// The browser believes that the site is https. On a wire in clear a server is told what it would be natively, and its answer is understood.
func TestOnAWireInClearTheSiteIsHTTP(t *testing.T) {
	seen := make(chan *http.Request, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		seen <- r
	}
	onEachArm(t, handler, func(t *testing.T, a arm, w *world) {
		for _, one := range []struct{ origin, referer, clearOrigin, clearReferer, allowed string }{
			{"https://a.example", "https://a.example/page?x=https://b.example/", "http://a.example:PORT", "http://a.example:PORT/page?x=https://b.example/", "https://a.example"},
			{"https://b.example", "https://b.example?x", "http://b.example:PORT", "http://b.example:PORT?x", "https://b.example"},
			{"https://a.example.org", "https://elsewhere.example/a.example", "https://a.example.org", "https://elsewhere.example/a.example", "https://a.example.org"},
			{"null", "https://elsewhere.example/", "null", "https://elsewhere.example/", "null"},
			{"http://a.example", "about:blank", "http://a.example", "about:blank", "https://a.example"},
		} {
			request, _ := http.NewRequestWithContext(t.Context(), "GET", url(names[1], "/font"), nil)
			request.Header.Set("Origin", one.origin)
			request.Header.Set("Referer", one.referer)
			response, err := w.browser.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			got := <-seen
			origin, referer, allowed := one.origin, one.referer, one.origin
			if a.wire["tls"] == nil {
				port := strings.TrimPrefix(got.Host, names[1])
				origin, referer = strings.Replace(one.clearOrigin, ":PORT", port, 1), strings.Replace(one.clearReferer, ":PORT", port, 1)
				allowed = one.allowed
			}
			answered := response.Header.Get("Access-Control-Allow-Origin")
			if got.Header.Get("Origin") != origin || got.Header.Get("Referer") != referer || answered != allowed {
				t.Errorf("%+v: the server saw %q and %q, the browser %q", one, got.Header.Get("Origin"), got.Header.Get("Referer"), answered)
			}
		}
	})
}

// A WebSocket, or a tool without HTTP/2: it gets no answer, and is in nobody's way.
func TestWhoSpeaksOnlyHTTP1IsRefused(t *testing.T) {
	o := serveHTTP(t, "h2", 0, site)
	w := begin(t, o.pin, o.port, settings{"protocol": "h2"}, nil)
	for _, protocols := range [][]string{{"http/1.1"}, nil} {
		conn, err := tls.Dial("tcp", w.gateway.front.Address().String(), &tls.Config{
			ServerName: names[0], InsecureSkipVerify: true, NextProtos: protocols,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(testkit.Patience))
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		if said, err := io.ReadAll(conn); len(said) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q, %v", said, err)
		}
	}
	if _, body := w.get(url(names[0], "/10")); len(body) != 10 {
		t.Errorf("%q", body)
	}
}

// Hosts of many objects have addresses of their own there, or Chromium would ask for a few of their images at a time.
func TestItListensAtSeveralAddresses(t *testing.T) {
	o := serveHTTP(t, "h2", 0, site)
	front := testkit.NewIdentity(t, names...)
	path, _ := writeConfig(t, front, o.pin, o.port, settings{"protocol": "h2"}, nil)
	port := testkit.Port(testkit.Listen(t).Addr()) // taken at one address, and free at the others
	at := func(address string) string { return fmt.Sprintf("%s:%d", address, port) }
	listenOn(t, path, at("127.0.0.2"), at("127.0.0.3"))
	running(t, path)
	w := &world{t: t}
	for _, address := range []string{"127.0.0.2", "127.0.0.3"} {
		w.browser = browserOf(t, at(address))
		if _, body := w.get(url(names[0], "/10")); len(body) != 10 {
			t.Errorf("%s: %q", address, body)
		}
	}
}

func TestEarlyHintsAndTrailersReachTheBrowser(t *testing.T) {
	o := rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) {
		for next(reader) != "" {
			io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"+
				"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n")
		}
	})
	w := begin(t, o.pin, o.port, nil, nil)
	hints := make(chan string, 1)
	request, _ := http.NewRequestWithContext(withHints(t.Context(), hints), "GET", url(names[0], "/"), nil)
	response, err := w.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if hint := <-hints; hint != "103 </a.css>; rel=preload" {
		t.Error(hint)
	}
	if err != nil || string(body) != "abc" || response.Trailer.Get("X-Sum") != "6" {
		t.Errorf("%q, %v, %v", body, response.Trailer, err)
	}
}

func TestAnAnswerThatBreaksOffDoesNotLookWhole(t *testing.T) {
	o := rawOrigin(t, func(_ int, conn net.Conn, reader *bufio.Reader) {
		next(reader)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
	})
	w := begin(t, o.pin, o.port, nil, nil)
	if _, body, err := w.fetch("GET", url(names[0], "/"), nil); err == nil {
		t.Errorf("%q was taken for all of it", body)
	}
	if r := w.events("request")[0]; r["error"] == nil || r.number("response_body_bytes") != 3 || r["last_byte_ms"] != nil {
		t.Errorf("%v", r)
	}
}

// resolver answers questions over UDP by what the test says.
func resolver(t *testing.T, answer func(dnsmessage.Question) (dnsmessage.RCode, []dnsmessage.ResourceBody)) (address string, asked chan string) {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	asked = make(chan string, 100)
	go func() {
		packet := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			var message dnsmessage.Message
			if message.Unpack(packet[:n]) != nil {
				continue
			}
			question := message.Questions[0]
			asked <- question.Name.String() + " " + question.Type.String()
			message.Response = true
			var bodies []dnsmessage.ResourceBody
			message.RCode, bodies = answer(question)
			for _, body := range bodies {
				message.Answers = append(message.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET, TTL: 1}, Body: body,
				})
			}
			if reply, err := message.Pack(); err == nil {
				socket.WriteTo(reply, from)
			}
		}
	}()
	return socket.LocalAddr().String(), asked
}

func TestNamesAreLookedUpOverTheLinkOnce(t *testing.T) {
	server, asked := resolver(t, func(q dnsmessage.Question) (dnsmessage.RCode, []dnsmessage.ResourceBody) {
		switch {
		case strings.HasPrefix(q.Name.String(), "b."):
			return dnsmessage.RCodeNameError, nil
		case q.Type == dnsmessage.TypeA:
			return dnsmessage.RCodeSuccess, []dnsmessage.ResourceBody{&dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}
		}
		return dnsmessage.RCodeSuccess, nil
	})
	for _, coalescing := range []string{"origin", "address"} {
		o := serveHTTP(t, "h2", 0, site)
		dns := settings{"mode": "resolver", "server": server, "hosts": names}
		w := begin(t, o.pin, o.port, settings{"protocol": "h2", "coalescing": coalescing}, dns)
		for range 3 {
			if response, body := w.get(url(names[0], "/10")); response.StatusCode != 200 {
				t.Errorf("%d %s", response.StatusCode, body)
			}
		}
		if response, body := w.get(url(names[1], "/10")); response.StatusCode != 502 || !strings.Contains(body, "does not exist") {
			t.Errorf("%d %q", response.StatusCode, body)
		}
		events := w.events("dns")
		if fmt.Sprint(events[0]["host"], " ", events[0]["addresses"], " ", events[0]["error"]) != "a.example [127.0.0.1] <nil>" || events[0].number("ended_ms") <= events[0].number("began_ms") {
			t.Errorf("%v", events[0])
		}
		if last := events[len(events)-1]; last["host"] != "b.example" || last["error"] == nil {
			t.Errorf("%v", last)
		}
		count := map[string]int{}
		for len(asked) > 0 {
			count[<-asked]++
		}
		if count["a.example. TypeA"] != 1 || count["a.example. TypeAAAA"] != 1 || count["b.example. TypeA"] < 1 {
			t.Errorf("%v", count)
		}
	}
}

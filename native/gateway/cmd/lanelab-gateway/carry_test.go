package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lanelab/gateway/internal/testkit"
)

// block is what a pattern repeats. Its length is a prime, so that nothing that is cut or repeated at a round number goes unnoticed.
var block = func() []byte {
	bytes := make([]byte, 1048573)
	for i := range bytes {
		bytes[i] = byte(i) ^ byte(i>>8) ^ byte(i>>16)
	}
	return bytes
}()

// pattern is n bytes that differ from place to place.
type pattern struct{ at, n int64 }

func (p *pattern) Read(to []byte) (int, error) {
	if p.at == p.n {
		return 0, io.EOF
	}
	from := block[p.at%int64(len(block)):]
	count := copy(to, from[:min(int64(len(from)), p.n-p.at)])
	p.at += int64(count)
	return count, nil
}

func sum(reader io.Reader) (size int64, digest string, err error) {
	hash := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	size, err = io.Copy(hash, reader)
	return size, fmt.Sprintf("%x", hash.Sum(nil)), err
}

// site answers /N with N bytes, and what is sent to /sum with its size and digest.
func site(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/sum" {
		size, digest, err := sum(r.Body)
		fmt.Fprintln(w, size, digest, err)
		return
	}
	size, err := strconv.ParseInt(strings.Trim(r.URL.Path, "/"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", fmt.Sprint(size))
	io.Copy(w, &pattern{n: size})
}

func TestAPageIsCarried(t *testing.T) {
	onEachArm(t, site, func(t *testing.T, a arm, w *world) {
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				host, size := names[i%2], int64(i*i*100)
				response, body, err := w.fetch("GET", url(host, "/%d", size), nil)
				_, wanted, _ := sum(&pattern{n: size})
				if _, got, _ := sum(strings.NewReader(body)); err != nil || response.StatusCode != 200 || got != wanted {
					t.Errorf("%d: %v, %d bytes, %v", size, response, len(body), err)
				}
			})
		}
		all.Wait()
		checkRequests(t, w.events("request"), 40)
		checkConnections(t, a, w.events("connection"), 40)
	})
}

func checkRequests(t *testing.T, requests []event, count int) {
	t.Helper()
	if len(requests) != count {
		t.Errorf("%d requests in the log, not %d", len(requests), count)
	}
	for _, r := range requests {
		times := []string{"queued_ms", "sent_ms", "first_byte_ms", "last_byte_ms"}
		for i := 1; i < len(times); i++ {
			if _, there := r[times[i]].(float64); !there || r.number(times[i]) < r.number(times[i-1]) {
				t.Errorf("%s: %v", times[i], r)
			}
		}
		size, _ := strconv.ParseFloat(strings.TrimPrefix(r["url"].(string), r["url"].(string)[:len("a.example/")]), 64)
		if r["error"] != nil || r["status"] != 200.0 || r.number("response_body_bytes") != size || r.number("connection") < 1 ||
			r.number("request_header_bytes") < 50 || r.number("response_header_wire_bytes") < 9 || r.number("in_flight") < 1 || r.number("tries") != 1 {
			t.Errorf("%v", r)
		}
	}
}

func checkConnections(t *testing.T, a arm, connections []event, requests float64) {
	t.Helper()
	sum := 0.0
	for _, c := range connections {
		sum += c.number("requests")
		if c["error"] != nil || c.number("connected_ms") < c.number("began_ms") || c.number("closed_ms") < c.number("connected_ms") {
			t.Errorf("%v", c)
		}
		if c.number("requests") > 0 && (c.number("received_bytes") < 1 || c.number("sent_bytes") < 1) {
			t.Errorf("%v", c)
		}
	}
	most := 12 // two hosts
	switch {
	case a.wire["keepalive"] == false:
		most = 41 // one of the first two may have stayed unused
	case a.wire["protocol"] != nil:
		most = 2
	}
	if sum != requests || len(connections) > most {
		t.Errorf("%v requests on %d connections", sum, len(connections))
	}
	if a.wire["keepalive"] == false && overlap(connections) > 12 {
		t.Errorf("%d at the same time", overlap(connections))
	}
}

// overlap is how many connections were there at the same time, at most.
func overlap(connections []event) int {
	most := 0
	for _, one := range connections {
		now := 0
		for _, other := range connections {
			if other.number("began_ms") <= one.number("began_ms") && other.number("closed_ms") > one.number("began_ms") {
				now++
			}
		}
		most = max(most, now)
	}
	return most
}

func TestLargeBodiesBothWays(t *testing.T) {
	size := int64(64 << 20)
	if testing.Short() {
		size = 8 << 20
	}
	onEachArm(t, site, func(t *testing.T, a arm, w *world) {
		var both sync.WaitGroup
		_, wanted, _ := sum(&pattern{n: size})
		both.Go(func() {
			response, err := w.browser.Get(url(names[0], "/%d", size))
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if got, digest, err := sum(response.Body); err != nil || got != size || digest != wanted {
				t.Errorf("down: %d, %v", got, err)
			}
		})
		both.Go(func() {
			_, said, err := w.fetch("POST", url(names[0], "/sum"), &pattern{n: size})
			if err != nil || said != fmt.Sprintln(size, wanted, nil) {
				t.Errorf("up: %q, %v", said, err)
			}
		})
		both.Wait()
		for _, r := range w.events("request") {
			if r.number("request_body_bytes")+r.number("response_body_bytes") < float64(size) {
				t.Errorf("%v", r)
			}
		}
	})
}

func TestMethodsAndStatusWithoutBody(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/304":
			w.Header().Set("Etag", `"x"`)
			w.WriteHeader(304)
		case "/204":
			w.WriteHeader(204)
		default:
			w.Header().Set("X-Method", r.Method)
			w.Header().Set("Content-Length", "1000")
			if r.Method != "HEAD" {
				w.Write(make([]byte, 1000))
			}
		}
	}
	onEachArm(t, handler, func(t *testing.T, a arm, w *world) {
		for path, status := range map[string]int{"/304": 304, "/204": 204} {
			if response, body := w.get(url(names[0], "%s", path)); response.StatusCode != status || body != "" {
				t.Errorf("%s: %d %q", path, response.StatusCode, body)
			}
		}
		for _, method := range []string{"HEAD", "OPTIONS", "DELETE", "PUT", "PATCH"} {
			response, body, err := w.fetch(method, url(names[0], "/"), nil)
			if err != nil || response.Header.Get("X-Method") != method || response.ContentLength != 1000 || (method == "HEAD") != (body == "") {
				t.Errorf("%s: %v, %v", method, response, err)
			}
		}
		for _, r := range w.events("request") {
			if r["error"] != nil || r["last_byte_ms"] == nil {
				t.Errorf("%v", r)
			}
		}
	})
}

func TestCancellingIsCarriedToTheOrigin(t *testing.T) {
	began, ended := make(chan bool, 1), make(chan bool, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/endless" {
			return
		}
		w.Write([]byte("so far"))
		http.NewResponseController(w).Flush()
		began <- true
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1000)); err != nil {
				break
			}
			http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond)
		}
		ended <- true
	}
	onEachArm(t, handler, func(t *testing.T, a arm, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		request, _ := http.NewRequestWithContext(ctx, "GET", url(names[0], "/endless"), nil)
		response, err := w.browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		<-began
		cancel()
		response.Body.Close()
		select {
		case <-ended:
		case <-time.After(testkit.Patience):
			t.Fatal("the origin never heard of it")
		}
		w.get(url(names[0], "/another"))        // the gateway goes on
		for _, r := range w.events("request") { // in the order in which they ended
			if r["cancelled"] != (r["url"] == names[0]+"/endless") || r["error"] != nil {
				t.Errorf("%v", r)
			}
		}
	})
}

func TestABrowserThatDoesNotReadStopsTheOrigin(t *testing.T) {
	const size = 200 << 20
	var written atomic.Int64
	handler := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil && written.Load() < size {
			n, err := w.Write(make([]byte, 64<<10))
			if err != nil {
				return
			}
			written.Add(int64(n))
		}
	}
	onEachArm(t, handler, func(t *testing.T, a arm, w *world) {
		written.Store(0)
		response, err := w.browser.Get(url(names[0], "/"))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		stood, last := 0, int64(-1)
		testkit.Eventually(t, "the origin stops", func() bool {
			time.Sleep(20 * time.Millisecond)
			if now := written.Load(); now != last {
				stood, last = 0, now
			} else {
				stood++
			}
			return stood > 25
		})
		// What lies between: the browser's window (4 MiB), the wire's (6 MiB), the kernel's buffers on both.
		if last >= size {
			t.Errorf("%d bytes left the origin, and nobody reads", last)
		}
	})
}

func TestFieldsAreUntouched(t *testing.T) {
	got := make(chan http.Header, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Clone()
		w.Header().Set("X-Answer", "b, \"c\"; d=é")
		w.Header().Set("Set-Cookie", "a=b; Path=/")
		w.Header().Set("X-Large", strings.Repeat("y", 30_000))
	}
	onEachArm(t, handler, func(t *testing.T, a arm, w *world) {
		request, _ := http.NewRequestWithContext(t.Context(), "GET", url(names[0], "/"), nil)
		request.Header.Set("X-Large", strings.Repeat("x", 6_000))
		request.Header.Set("Accept-Encoding", "br, zstd")
		request.Header.Set("Cookie", "a=1; b=2")
		request.Header.Set("If-None-Match", `"x"`)
		response, err := w.browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		seen := <-got
		for name := range request.Header {
			if seen.Get(name) != request.Header.Get(name) {
				t.Errorf("%s: %.50q became %.50q", name, request.Header.Get(name), seen.Get(name))
			}
		}
		if response.Header.Get("X-Answer") != "b, \"c\"; d=é" || response.Header.Get("Set-Cookie") != "a=b; Path=/" || len(response.Header.Get("X-Large")) != 30_000 {
			t.Errorf("%.300v", response.Header)
		}
	})
}

package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lanelab/gateway/internal/testkit"
)

// A rawOrigin accepts connections and lets the test serve each by hand. serve gets the connection's number, from 1.
func rawOrigin(t testing.TB, serve func(number int, conn net.Conn, reader *bufio.Reader)) *origin {
	t.Helper()
	o := &origin{pin: testkit.NewIdentity(t, names...).Pin}
	listener := testkit.Listen(t)
	o.port = testkit.Port(listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			o.mu.Lock()
			o.all++
			number := o.all
			o.mu.Unlock()
			go func() {
				defer conn.Close()
				serve(number, conn, bufio.NewReader(conn))
			}()
		}
	}()
	return o
}

// next reads a request's head, and gives its path; empty at the end.
func next(reader *bufio.Reader) string {
	line, err := reader.ReadString('\n')
	if err != nil {
		return ""
	}
	for {
		field, err := reader.ReadString('\n')
		if err != nil {
			return ""
		}
		if field == "\r\n" {
			return strings.Fields(line)[1]
		}
	}
}

func answer(conn net.Conn, body string) {
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func (w *world) getAll(count int) {
	w.t.Helper()
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			path := fmt.Sprint("/", i)
			response, body, err := w.fetch("GET", url(names[0], "%s", path), nil)
			if err != nil || response.StatusCode != 200 || body != path {
				w.t.Errorf("%s: %v %q %v", path, response, body, err)
			}
		})
	}
	all.Wait()
}

func TestAnIdleConnectionThatTheServerClosedIsReplaced(t *testing.T) {
	o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
		if path := next(reader); path != "" {
			answer(conn, path)
		}
		if number < 3 {
			next(reader) // and it closes without a word, as if the request had come too late
			return
		}
		for path := next(reader); path != ""; path = next(reader) {
			answer(conn, path)
		}
	})
	w := begin(t, o.pin, o.port, settings{"connections_per_host": 1}, nil)
	for i := range 5 {
		if _, body := w.get(url(names[0], "/%d", i)); body != fmt.Sprint("/", i) {
			t.Errorf("%q", body)
		}
	}
	tries := 0.0
	for _, r := range w.events("request") {
		tries += r.number("tries")
	}
	if tries != 7 {
		t.Errorf("%v tries for 5 requests, two of which were closed upon", tries)
	}
}

// As in Chromium: what was closed upon before a byte of an answer, on a connection that was used before, is sent again, with its body.
func TestAPOSTOnAConnectionThatWasClosedIsSentAgain(t *testing.T) {
	o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
		if path := next(reader); path != "" {
			answer(conn, path)
		}
		next(reader)
	})
	w := begin(t, o.pin, o.port, settings{"connections_per_host": 1}, nil)
	w.get(url(names[0], "/"))
	response, body, err := w.fetch("POST", url(names[0], "/form"), strings.NewReader("x"))
	if err != nil || response.StatusCode != 200 || body != "/form" {
		t.Errorf("%v %q %v", response, body, err)
	}
	if r := w.events("request")[1]; r.number("tries") != 2 || r.number("connection") != 2 || fmt.Sprint(r["sent_again"]) != "[closed]" {
		t.Errorf("%v", r)
	}
}

func TestAConnectionThatIsClosedUnusedIsNoEnd(t *testing.T) {
	o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
		next(reader) // every connection, at its first request
	})
	w := begin(t, o.pin, o.port, nil, nil)
	if response, _ := w.get(url(names[0], "/")); response.StatusCode != 502 {
		t.Errorf("%v", response)
	}
	if r := w.events("request")[0]; r.number("tries") > 3 { // two were begun before the request
		t.Errorf("a server that answers nothing was asked again: %v", r)
	}
}

func TestAPipelineThatBreaksIsMended(t *testing.T) {
	const each = 3
	o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
		for range each { // and then it closes, whatever else was asked
			path := next(reader)
			if path == "" {
				return
			}
			answer(conn, path)
		}
	})
	for _, policy := range []string{"eager", "chromium", "firefox"} {
		w := begin(t, o.pin, o.port, settings{"pipelining": 8, "connections_per_host": 2, "pipelining_policy": policy}, nil)
		w.get(url(names[0], "/first")) // so that it is known to keep connections
		w.getAll(30)
		deepest, evicted := 0.0, 0
		for _, r := range w.events("request")[1:] {
			deepest = max(deepest, r.number("in_flight"))
			evicted += strings.Count(fmt.Sprint(r["sent_again"]), "pipeline")
			if r["error"] != nil { // how many tries it takes depends on how often an idle connection was about to be closed
				t.Errorf("%s: %v", policy, r)
			}
		}
		if deepest > 8 || (policy == "eager" && (deepest < 2 || evicted == 0)) { // the others may have given up by then
			t.Errorf("%s: at most %v were in flight; %d times something was sent again for its pipeline", policy, deepest, evicted)
		}
	}
}

// A server that says after so many answers that it closes has nothing against pipelines: those behind go on as one. Browsers sent them alone.
func TestAPipelineGoesOnWhereTheServerKeepsToItsNumber(t *testing.T) {
	const each, count = 10, 35
	o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
		for i := range each {
			path := next(reader)
			if path == "" {
				return
			}
			said := ""
			if i == each-1 {
				said = "Connection: close\r\n"
			}
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", said, len(path), path)
		}
		for next(reader) != "" { // so that nothing is reset before the last answer is read
		}
	})
	for policy, least := range map[string]int{"eager": count / 2, "chromium": 0} {
		w := begin(t, o.pin, o.port, settings{"pipelining": 50, "connections_per_host": 1, "pipelining_policy": policy}, nil)
		w.get(url(names[0], "/first"))
		w.getAll(count)
		behind := 0
		for _, r := range w.events("request")[1:] {
			if r.number("in_flight") > 1 {
				behind++
			}
			if r["error"] != nil {
				t.Errorf("%s: %v", policy, r)
			}
		}
		if behind < least || (policy != "eager" && behind >= count/2) {
			t.Errorf("%s: %d of %d were sent behind others", policy, behind, count)
		}
	}
}

func TestPipeliningWaitsForAnAnswer(t *testing.T) {
	for policy, atFirst := range map[string]int{"eager": 1, "chromium": 1, "firefox": 2} {
		asked := make(chan string, 100)
		goOn := make(chan bool)
		o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
			for path := next(reader); path != ""; path = next(reader) {
				asked <- path
				<-goOn
				answer(conn, path)
			}
		})
		w := begin(t, o.pin, o.port, settings{"pipelining": 4, "connections_per_host": 1, "pipelining_policy": policy}, nil)
		done := make(chan bool)
		go func() {
			w.getAll(9)
			close(done)
		}()
		<-asked
		testkit.Eventually(t, "all nine have come", func() bool { return w.waiting() == 9-atFirst })
		if len(asked) > 0 {
			t.Error("a second request was answered before the first")
		}
		close(goOn)
		<-done
		var deepest float64
		for _, r := range w.events("request") {
			deepest = max(deepest, r.number("in_flight"))
		}
		if deepest != 4 {
			t.Errorf("%s: at most %v were in flight", policy, deepest)
		}
	}
}

// waiting is how many requests the pool has not given to a connection.
func (w *world) waiting() int { return w.gateway.pools.Waiting() }

func TestUrgentRequestsGoFirst(t *testing.T) {
	asked := make(chan string, 100)
	goOn := make(chan bool)
	o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
		for path := next(reader); path != ""; path = next(reader) {
			asked <- path
			<-goOn
			answer(conn, path)
		}
	})
	w := begin(t, o.pin, o.port, settings{"connections_per_host": 1}, nil)
	var all sync.WaitGroup
	ask := func(path, priority string, waiting int) {
		all.Go(func() {
			request, _ := http.NewRequestWithContext(t.Context(), "GET", url(names[0], "%s", path), nil)
			request.Header.Set("Priority", priority)
			if response, err := w.browser.Do(request); err != nil {
				t.Error(err)
			} else {
				response.Body.Close()
			}
		})
		testkit.Eventually(t, path+" waits", func() bool { return w.waiting() == waiting })
	}
	ask("/blocks", "u=7", 0)
	<-asked
	for i, one := range []struct{ path, priority string }{
		{"/image", "u=5, i"}, {"/script", "u=2"}, {"/default", ""}, {"/style", "u=0"}, {"/font", "u=2"},
	} {
		ask(one.path, one.priority, i+1)
	}
	close(goOn)
	all.Wait()
	close(asked)
	var order []string
	for path := range asked {
		order = append(order, path)
	}
	if got := strings.Join(order, " "); got != "/style /script /font /default /image" {
		t.Error(got)
	}
}

func TestConnectionsPerHostAreNeverMore(t *testing.T) {
	for _, most := range []int{1, 2, 13} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			var mu sync.Mutex
			open, highest := 0, 0
			together := make(chan bool)
			o := rawOrigin(t, func(number int, conn net.Conn, reader *bufio.Reader) {
				mu.Lock()
				open++
				highest = max(highest, open)
				if open == most {
					close(together)
				}
				mu.Unlock()
				for path := next(reader); path != ""; path = next(reader) {
					<-together // so that all of them are needed
					answer(conn, path)
				}
			})
			w := begin(t, o.pin, o.port, settings{"connections_per_host": most}, nil)
			w.getAll(40)
			if connections := w.events("connection"); highest != most || len(connections) != most {
				t.Errorf("%d at the same time, %d in the log", highest, len(connections))
			}
		})
	}
}

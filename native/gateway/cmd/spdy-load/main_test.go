package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
	"lanelab/gateway/internal/testkit"
)

func serve(t *testing.T, version spdy.Version, handler func(*spdyconn.ServerStream)) string {
	t.Helper()
	listener := testkit.Listen(t)
	done := make(chan error, 1)
	go func() { done <- (&spdyconn.Server{Version: version, Handler: handler}).Listen(listener) }()
	t.Cleanup(func() {
		_ = listener.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String() + "/x?y"
}

func TestLoad(t *testing.T) {
	for _, version := range spdy.Versions {
		var handled, got atomic.Int64
		target := serve(t, version, func(st *spdyconn.ServerStream) {
			count, _ := io.Copy(io.Discard, st.Body)
			got.Add(count)
			if handled.Add(1)%10 == 0 {
				_ = st.Reply(404, true)
				return
			}
			_ = st.Reply(200, false)
			_, _ = st.Write(make([]byte, 1000))
		})
		var out, errors bytes.Buffer
		status := run(context.Background(), []string{"-json", "-protocol", version.String(), "-clients", "3", "-streams", "4", "-requests", "100",
			"-body", "2000", target}, &out, &errors)
		var result struct {
			Succeeded, Failed int
			Body_bytes        int64
			Latency_ms        map[string]float64
			Statuses          map[string]int
			Completions       []int
		}
		if err := json.Unmarshal(out.Bytes(), &result); err != nil {
			t.Fatalf("%v: %s %s", err, out.String(), errors.String())
		}
		completed := 0
		for _, count := range result.Completions {
			completed += count
		}
		if completed != result.Succeeded {
			t.Errorf("%s: %d requests completed in some span of time, %d in all", version, completed, result.Succeeded)
		}
		if status != statusFailed || handled.Load() != 100 || got.Load() != 200_000 || result.Succeeded != 90 || result.Failed != 10 ||
			result.Body_bytes != 90_000 || result.Statuses["404"] != 10 || result.Latency_ms["p50"] <= 0 {
			t.Errorf("%s: status %d, %d handled, %d bytes of bodies; %s", version, status, handled.Load(), got.Load(), out.String())
		}
	}
}

func TestLoadOfAServerOfHTTP2(t *testing.T) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	served := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
		}
		_, _ = w.Write(make([]byte, 1000))
	}))
	served.Config.Protocols = protocols
	served.Start()
	defer served.Close()
	var out, errors bytes.Buffer
	status := run(context.Background(), []string{"-json", "-protocol", "h2", "-clients", "2", "-streams", "5", "-requests", "50", served.URL}, &out, &errors)
	if status != statusFine || !strings.Contains(out.String(), `"200": 50`) || !strings.Contains(out.String(), `"body_bytes": 50000`) {
		t.Errorf("status %d: %s %s", status, out.String(), errors.String())
	}
}

type counted struct {
	Succeeded, Failed, Reconnections int
	Wire_bytes, Body_bytes           int64
	Connections, Timed_out           int
	Tls_version                      string
	Errors                           map[string]struct {
		Count          int
		P50_ms, Max_ms float64
	}
	Histogram []struct {
		End_ms float64
		Count  int
	}
}

func loadWith(t *testing.T, arguments ...string) (result counted) {
	t.Helper()
	var out, errors bytes.Buffer
	run(context.Background(), append([]string{"-json"}, arguments...), &out, &errors)
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		t.Fatalf("%v: %s %s", err, out.String(), errors.String())
	}
	return result
}

// A server that says goodbye on each connection after some requests, and one that cuts it: neither takes the others' requests away.
func TestConnectionsThatEndAreReplaced(t *testing.T) {
	const requests, each = 1000, 100
	for _, cut := range []bool{false, true} {
		var handled sync.Map // by connection
		target := serve(t, spdy.V31, func(st *spdyconn.ServerStream) {
			count, _ := handled.LoadOrStore(st.Conn(), new(atomic.Int64))
			switch number := count.(*atomic.Int64).Add(1); {
			case number == each && !cut:
				st.Conn().GoAway()
			case number > each && cut:
				st.Conn().Cut()
				return
			}
			_ = st.Reply(200, false)
			_, _ = st.Write(make([]byte, 100))
		})
		result := loadWith(t, "-clients", "4", "-streams", "2", "-requests", strconv.Itoa(requests), target)
		if result.Connections != 4+result.Reconnections {
			t.Errorf("cut %t: %d connections and %d that were replaced", cut, result.Connections, result.Reconnections)
		}
		if result.Succeeded+result.Failed != requests || result.Reconnections < requests/each-4-1 || result.Wire_bytes < int64(100*result.Succeeded) {
			t.Errorf("cut %t: %+v", cut, result)
		}
		// Each cut fails what was under way, at most two streams.
		if most := map[bool]int{false: 0, true: 2 * (result.Reconnections + 4)}[cut]; result.Failed > most {
			t.Errorf("cut %t: %d failed, more than %d: %+v", cut, result.Failed, most, result)
		}
	}
}

func TestOneConnectionThatEndsTakesNoRequestsAway(t *testing.T) {
	var connections atomic.Int64
	listener := testkit.Listen(t)
	target := "http://" + listener.Addr().String() + "/"
	served := &spdyconn.Server{Version: spdy.V31, Handler: func(st *spdyconn.ServerStream) {
		time.Sleep(time.Millisecond)
		_ = st.Reply(200, true)
	}, Accepted: func(conn *spdyconn.ServerConn) {
		if connections.Add(1) == 1 {
			go conn.Cut()
		}
	}}
	go func() { _ = served.Listen(listener) }()
	t.Cleanup(func() { _ = listener.Close() })
	result := loadWith(t, "-clients", "4", "-requests", "400", target)
	if result.Failed > 1 || result.Reconnections != 0 || len(result.Errors) == 0 {
		t.Errorf("got %+v", result)
	}
}

func TestSeveralAddressesAreAskedForInTurn(t *testing.T) {
	target := serve(t, spdy.V31, func(st *spdyconn.ServerStream) {
		size := map[string]int{"/x?y": 1, "/ten": 10, "/hundred": 100}[st.Head.Path]
		_ = st.Reply(200, false)
		_, _ = st.Write(make([]byte, size))
	})
	base := strings.TrimSuffix(target, "/x?y")
	result := loadWith(t, "-requests", "8", "-streams", "2", base+"/hundred", base+"/ten", base+"/x?y")
	if result.Succeeded != 8 || result.Body_bytes != 3*100+3*10+2*1 {
		t.Errorf("got %+v", result)
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	listener := testkit.Listen(t)
	address := listener.Addr().String()
	_ = listener.Close()
	var out, errors bytes.Buffer
	if status := run(context.Background(), []string{"-requests", "5", "http://" + address + "/"}, &out, &errors); status != statusFailed {
		t.Errorf("status %d: %s", status, out.String())
	}
	if !strings.Contains(out.String(), "5 failed") || !strings.Contains(out.String(), "ms at most: connecting to") {
		t.Errorf("got %s", out.String())
	}
}

func TestWrongArguments(t *testing.T) {
	for _, arguments := range [][]string{{}, {"ftp://x/"}, {"-protocol", "http/1.1", "http://x/"}, {"-clients", "0", "http://x/"}, {"http://x/", "http://y/"}, {"http://x/", "https://x/"}} {
		var out, errors bytes.Buffer
		if status := run(context.Background(), arguments, &out, &errors); status != statusMisused || errors.Len() == 0 || out.Len() != 0 {
			t.Errorf("%q: status %d, %s", arguments, status, errors.String())
		}
	}
}

func TestPercentiles(t *testing.T) {
	var samples []time.Duration
	for i := range 200 {
		samples = append(samples, time.Duration(200-i)*time.Millisecond)
	}
	want := percentiles{Min: 1, P50: 100, P90: 180, P95: 190, P99: 198, P999: 200, Max: 200, Mean: 100.5}
	if got := percentilesOf(samples); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := percentilesOf(nil); got != (percentiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestHistogram(t *testing.T) {
	us := time.Microsecond
	got := histogramOf([]time.Duration{0, 90 * us, 101 * us, 110 * us, 111 * us, 2 * time.Second})
	want := []bucket{{0, 1}, {0.09, 1}, {0.11, 2}, {0.12, 1}, {2000, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRequestsThatTakeTooLongAreCountedWithTheirTime(t *testing.T) {
	target := serve(t, spdy.V31, func(st *spdyconn.ServerStream) {
		if st.Head.Path == "/slow" {
			<-st.Over()
		}
		_ = st.Reply(200, true)
	})
	base := strings.TrimSuffix(target, "/x?y")
	result := loadWith(t, "-requests", "4", "-timeout", "2s", base+"/slow", base+"/x")
	if result.Succeeded != 2 || result.Failed != 2 || result.Timed_out != 2 || len(result.Errors) != 1 {
		t.Fatalf("got %+v", result)
	}
	for text, one := range result.Errors {
		if one.Count != 2 || one.P50_ms < 2000 || one.Max_ms < one.P50_ms {
			t.Errorf("%s: %+v", text, one)
		}
	}
	counted := 0
	for _, one := range result.Histogram {
		counted += one.Count
	}
	if counted != 2 || result.Tls_version != "" {
		t.Errorf("got %+v", result)
	}
}

func TestWhatItAcceptsIsSaid(t *testing.T) {
	var said atomic.Value
	target := serve(t, spdy.V31, func(st *spdyconn.ServerStream) {
		for _, field := range st.Head.Fields {
			if field.Name == "accept-encoding" {
				said.Store(field.Value)
			}
		}
		_ = st.Reply(200, true)
	})
	if result := loadWith(t, "-requests", "1", "-accept-encoding", "gzip", target); result.Succeeded != 1 || said.Load() != "gzip" {
		t.Errorf("got %+v, and the server was told %v", result, said.Load())
	}
}

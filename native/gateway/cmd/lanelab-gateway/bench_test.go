package main

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"lanelab/gateway/internal/testkit"
)

// Without the gateway: the same client asks the same origin, in HTTP/1.1 and in clear. What the gateway adds is the difference.
func direct(b *testing.B) (client *http.Client, base string) {
	o := serveHTTP(b, "http/1.1", 0, site)
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 6, MaxConnsPerHost: 6}
	b.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: testkit.Patience}, fmt.Sprintf("http://127.0.0.1:%d", o.port)
}

// onEachWay runs a benchmark directly and through the gateway by each protocol.
func onEachWay(b *testing.B, run func(*testing.B, *http.Client, string)) {
	b.Run("direct", func(b *testing.B) {
		client, base := direct(b)
		run(b, client, base)
	})
	for _, a := range arms() {
		b.Run(a.name, func(b *testing.B) {
			o := a.origin(b, site)
			w := begin(b, o.pin, o.port, a.wire, nil)
			run(b, w.browser, "https://"+names[0])
		})
	}
}

func load(b *testing.B, client *http.Client, address string) {
	response, err := client.Get(address)
	if err != nil {
		b.Error(err)
		return
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		b.Error(err)
	}
}

// One small object after another: the latency of a request.
func BenchmarkRequest(b *testing.B) {
	onEachWay(b, func(b *testing.B, client *http.Client, base string) {
		load(b, client, base+"/100")
		for b.Loop() {
			load(b, client, base+"/100")
		}
	})
}

// A page of 24 objects and 1.1 MB, of which 23 are asked for together.
func BenchmarkPage(b *testing.B) {
	onEachWay(b, func(b *testing.B, client *http.Client, base string) {
		for b.Loop() {
			load(b, client, base+"/14000")
			var all sync.WaitGroup
			for i := range 23 {
				all.Go(func() { load(b, client, fmt.Sprint(base, "/", 4000+i*i*258)) })
			}
			all.Wait()
		}
	})
}

// One large object: throughput.
func BenchmarkThroughput(b *testing.B) {
	const size = 32 << 20
	onEachWay(b, func(b *testing.B, client *http.Client, base string) {
		b.SetBytes(size)
		for b.Loop() {
			load(b, client, fmt.Sprint(base, "/", size))
		}
	})
}

package spdyconn

import (
	"context"
	"io"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

// What a browser sends with each request, about.
var usualFields = []exchange.Field{
	{Name: "user-agent", Value: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"},
	{Name: "accept", Value: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"},
	{Name: "accept-encoding", Value: "gzip, deflate, br"}, {Name: "accept-language", Value: "en-GB,en;q=0.9"},
	{Name: "cookie", Value: "session=0123456789abcdef0123456789abcdef"},
}

func small(st *ServerStream) {
	_ = st.Reply(200, false, exchange.Field{Name: "content-type", Value: "text/plain"}, exchange.Field{Name: "content-length", Value: "5"})
	_, _ = st.Write([]byte("hello"))
}

func exchangeOnce(b *testing.B, client *Client) {
	request := get("/index.html")
	request.Fields = usualFields
	response, err := client.RoundTrip(context.Background(), request, quiet{})
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
}

// One request after another: what the protocol and its goroutines add, both sides together. The same over a bare connection is BenchmarkEcho.
func BenchmarkRequest(b *testing.B) {
	for _, version := range spdy.Versions {
		b.Run(version.String(), func(b *testing.B) {
			p := connect(b, &Server{Version: version, Handler: small}, Settings{})
			b.ReportAllocs()
			for b.Loop() {
				exchangeOnce(b, p.client)
			}
		})
	}
}

// A byte to and fro over loopback: what no protocol can go below.
func BenchmarkEcho(b *testing.B) {
	conn, echoing := testkit.Pair(b)
	go func() { _, _ = io.Copy(struct{ io.Writer }{echoing}, echoing) }()
	for b.Loop() {
		if _, err := conn.Write([]byte("x")); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConcurrentRequests(b *testing.B) {
	for _, version := range spdy.Versions {
		b.Run(version.String(), func(b *testing.B) {
			p := connect(b, &Server{Version: version, Handler: small}, Settings{})
			b.SetParallelism(50)
			b.ReportAllocs()
			b.RunParallel(func(loop *testing.PB) {
				for loop.Next() {
					exchangeOnce(b, p.client)
				}
			})
		})
	}
}

func BenchmarkDownload(b *testing.B) {
	const size = 16 << 20
	part := make([]byte, 64<<10)
	for _, version := range spdy.Versions {
		b.Run(version.String(), func(b *testing.B) {
			p := connect(b, &Server{Version: version, Handler: func(st *ServerStream) {
				_ = st.Reply(200, false)
				for range size / len(part) {
					_, _ = st.Write(part)
				}
			}}, Settings{})
			b.SetBytes(size)
			for b.Loop() {
				exchangeOnce(b, p.client)
			}
		})
	}
}

func BenchmarkUpload(b *testing.B) {
	const size = 16 << 20
	for _, version := range spdy.Versions {
		b.Run(version.String(), func(b *testing.B) {
			p := connect(b, &Server{Version: version, Handler: func(st *ServerStream) {
				_, _ = io.Copy(io.Discard, struct{ io.Reader }{st.Body})
			}}, Settings{})
			b.SetBytes(size)
			for b.Loop() {
				request := get("/")
				request.Body = io.LimitReader(zeros{}, size)
				if _, err := p.client.RoundTrip(context.Background(), request, quiet{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(buffer []byte) (int, error) { return len(buffer), nil }

package spdyconn

import (
	"context"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"lanelab/gateway/internal/spdy"
)

// Whatever way connections end, nothing of theirs goes on running: neither reader, writer, upload nor inflater.
func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		for i := range 30 {
			server := &Server{Version: version, Handler: func(st *ServerStream) { _, _ = io.Copy(io.Discard, st.Body) }}
			ours, theirs := net.Pipe()
			conn := server.Start(theirs)
			client, err := NewClient(ours, version, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			request := get("/")
			request.Body = endless{}
			wait := client.Start(ctx, request, quiet{})
			switch i % 3 {
			case 0:
				cancel()
				_, _ = wait()
				_ = client.Close()
			case 1:
				_ = client.Close()
				_, _ = wait()
			case 2:
				conn.Cut()
				_, _ = wait()
			}
			cancel()
			waitFor(t, client.Done(), "the client's end")
			waitFor(t, conn.Done(), "the server's end")
		}
	})
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(buffer []byte) (int, error) { return len(buffer), nil }

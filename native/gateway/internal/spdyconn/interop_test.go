package spdyconn

import (
	"net/http"
	"sync"
	"testing"

	"github.com/moby/spdystream"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/testkit"
)

// Another implementation as the server: it sends back what it gets. It knows no windows, so that bodies stay below what SPDY/3 begins with.
func TestServerOfAnother(t *testing.T) {
	wire, accepted := testkit.Pair(t)
	server, err := spdystream.NewConnection(accepted, true)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go server.Serve(func(stream *spdystream.Stream) {
		if err := stream.SendReply(http.Header{":status": {"200"}, ":version": {"HTTP/1.1"}, "X-Path": {stream.Headers().Get(":path")}}, false); err != nil {
			t.Error(err)
		}
		go mirror(t, stream) // what calls this handler reads for all streams
	})
	client, err := NewClient(wire, spdy.V3, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			request := get("/mirror")
			request.Method, request.Body = "POST", noise(byte(i), 40_000)
			response, err := client.RoundTrip(deadline(t), request, quiet{})
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := mustSum(t, response.Body), mustSum(t, noise(byte(i), 40_000)); got != want {
				t.Errorf("sent %s, got %s", want, got)
			}
			if want := (exchange.Field{Name: "x-path", Value: "/mirror"}); len(response.Fields) != 1 || response.Fields[0] != want {
				t.Errorf("got %q", response.Fields)
			}
		})
	}
	all.Wait()
}

func mirror(t *testing.T, stream *spdystream.Stream) {
	for {
		part, err := stream.ReadData()
		if err != nil {
			break
		}
		if err := stream.WriteData(part, false); err != nil {
			t.Error(err)
		}
	}
	_ = stream.Close()
}

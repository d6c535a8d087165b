package spdyconn

import (
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

// A push that is wanted comes whole, beside the answer that it was promised with; SPDY/2 has none.
func TestAPushIsTaken(t *testing.T) {
	for _, version := range []spdy.Version{spdy.V3, spdy.V31} {
		t.Run(version.String(), func(t *testing.T) {
			type taken struct {
				promise exchange.Promise
				pushed  exchange.Pushed
			}
			promises := make(chan taken, 1)
			take := func(promise exchange.Promise, pushed exchange.Pushed) exchange.Notes {
				promises <- taken{promise, pushed}
				return quiet{}
			}
			p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
				_ = st.Reply(200, false)
				pushed, err := st.Push("/style.css", exchange.Field{Name: "content-type", Value: "text/css"})
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = pushed.Write([]byte("body {}"))
				_ = pushed.Close()
				_, _ = st.Write([]byte("done"))
			}}, Settings{TakePush: take})
			response, err := p.client.RoundTrip(deadline(t), get("/"), quiet{})
			if err != nil {
				t.Fatal(err)
			}
			if text := readAll(t, response); text != "done" {
				t.Errorf("got %q", text)
			}
			one := <-promises
			if one.promise.Method != "GET" || one.promise.Path != "/style.css" || one.promise.Associated != 1 {
				t.Errorf("%+v", one.promise)
			}
			style, err := one.pushed.Wait(deadline(t))
			if err != nil {
				t.Fatal(err)
			}
			if text := readAll(t, style); text != "body {}" || style.Status != 200 {
				t.Errorf("got %q, %d", text, style.Status)
			}
			if use := p.client.StreamUse(); use.DataFrames < 2 || use.Refused != 0 {
				t.Errorf("%+v", use)
			}
		})
	}
}

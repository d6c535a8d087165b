package h2

import (
	"io"
	"testing"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// promised is what a test's pool was asked, and what comes of it.
type promised struct {
	promise exchange.Promise
	pushed  exchange.Pushed
}

// taker takes promises, or none.
func taker(t *testing.T, wanted bool) (ClientSettings, <-chan promised) {
	all := make(chan promised, 10)
	return ClientSettings{TakePush: func(promise exchange.Promise, pushed exchange.Pushed) exchange.Notes {
		all <- promised{promise, pushed}
		if !wanted {
			return nil
		}
		return ignored{}
	}}, all
}

type ignored struct{}

func (ignored) Sent(uint32, int, int, int) {}
func (ignored) FirstByte(int, int)         {}
func (ignored) LastByte()                  {}

func (r *raw) promise(id, with uint32, more ...string) {
	pairs := append([]string{":method", "GET", ":scheme", "http", ":authority", "a.example", ":path", "/style.css"}, more...)
	r.WritePushPromise(http2.PushPromiseParam{StreamID: with, PromiseID: id, BlockFragment: r.fields(pairs...), EndHeaders: true})
}

func TestAPushIsTaken(t *testing.T) {
	settings, promises := taker(t, true)
	c, server := rawServer(t, settings)
	page := ask(t.Context(), t, c, get("/"))
	frame[*http2.MetaHeadersFrame](server)
	server.promise(2, 1, "accept", "text/css")
	server.head(2, false, ":status", "200")
	server.WriteData(2, true, []byte("body {}"))
	server.head(1, true, ":status", "204")
	if got := <-page; got.err != nil {
		t.Fatal(got.err)
	}
	one := <-promises
	if p := one.promise; p.Stream != 2 || p.Associated != 1 || p.Method != "GET" || p.Authority != "a.example" || p.Path != "/style.css" || len(p.Fields) != 1 {
		t.Errorf("%+v", p)
	}
	response, err := one.pushed.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "body {}" || response.Status != 200 {
		t.Errorf("%q, %v, %d", body, err, response.Status)
	}
	if use := c.StreamUse(); use.Told["enable_push"] != 1 || use.DataFrames != 1 {
		t.Errorf("%+v", use)
	}
}

func TestAPushThatNobodyWantsIsReset(t *testing.T) {
	settings, promises := taker(t, false)
	c, server := rawServer(t, settings)
	page := ask(t.Context(), t, c, get("/"))
	frame[*http2.MetaHeadersFrame](server)
	server.promise(2, 1)
	<-promises
	if reset := frame[*http2.RSTStreamFrame](server); reset.StreamID != 2 || reset.ErrCode != http2.ErrCodeCancel {
		t.Errorf("%v", reset)
	}
	// What was on its way harms nothing.
	server.head(2, true, ":status", "200")
	server.head(1, true, ":status", "204")
	if got := <-page; got.err != nil {
		t.Error(got.err)
	}
}

func TestPromisesThatCannotBe(t *testing.T) {
	for name, say := range map[string]func(*raw){
		"a stream of ours":       func(r *raw) { r.promise(3, 1) },
		"a stream of long ago":   func(r *raw) { r.promise(4, 1); r.promise(2, 1) },
		"with what nobody began": func(r *raw) { r.promise(2, 9) },
		"with a push":            func(r *raw) { r.promise(2, 1); r.promise(4, 2) },
		"no header compression": func(r *raw) {
			r.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true})
		},
	} {
		t.Run(name, func(t *testing.T) {
			settings, _ := taker(t, true)
			c, server := rawServer(t, settings)
			page := ask(t.Context(), t, c, get("/"))
			frame[*http2.MetaHeadersFrame](server)
			say(server)
			if got := <-page; got.err == nil {
				t.Error("the connection goes on")
			}
			testkit.Eventually(t, "the connection ends", func() bool { return c.Err() != nil })
		})
	}
}

func TestAMalformedPromiseHarmsNoOther(t *testing.T) {
	settings, promises := taker(t, true)
	c, server := rawServer(t, settings)
	page := ask(t.Context(), t, c, get("/"))
	frame[*http2.MetaHeadersFrame](server)
	server.promise(2, 1, ":path", "/twice")
	if reset := frame[*http2.RSTStreamFrame](server); reset.StreamID != 2 {
		t.Errorf("%v", reset)
	}
	server.head(1, true, ":status", "204")
	if got := <-page; got.err != nil || len(promises) != 0 {
		t.Error(got.err, len(promises))
	}
}

func TestWindowsAreWhatTheServerIsTold(t *testing.T) {
	c, server := rawServer(t, ClientSettings{StreamWindow: 16384, SessionWindow: 70000})
	settings := frame[*http2.SettingsFrame](server)
	if window, there := settings.Value(http2.SettingInitialWindowSize); !there || window != 16384 {
		t.Error(window, there)
	}
	if push, there := settings.Value(http2.SettingEnablePush); !there || push != 0 {
		t.Error(push, there)
	}
	if more := frame[*http2.WindowUpdateFrame](server); more.StreamID != 0 || more.Increment != 70000-65535 {
		t.Errorf("%v", more)
	}
	if use := c.StreamUse(); use.Told["initial_window_size"] != 16384 || use.Told["connection_window"] != 70000 || use.Told["enable_push"] != 0 {
		t.Errorf("%+v", use)
	}
	server.WriteSettingsAck()
	testkit.Eventually(t, "the server has said that it follows", func() bool { return c.StreamUse().Acknowledged })
}

package h2

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// echo answers with what was asked.
func echo(x *Exchange) {
	go func() {
		defer x.Finish()
		text := ""
		if body, size := x.Body(); body != nil {
			all, err := io.ReadAll(body)
			text = fmt.Sprintf(" %d:%s %v", size, all, err)
		}
		method, authority, path, fields := x.Head()
		x.Respond(200, []exchange.Field{{Name: "x-fields", Value: fmt.Sprint(fields)}}, false)
		io.WriteString(x, method+" "+authority+path+text)
		x.End([]exchange.Field{{Name: "x-sum", Value: "6"}})
	}()
}

func TestARequestIsAnswered(t *testing.T) {
	_, browser := rawClient(t, echo)
	browser.request(1, false, "b", "2", "a", "1", "content-length", "5")
	browser.WriteData(1, false, []byte("he"))
	browser.WriteData(1, true, []byte("llo"))
	head := frame[*http2.MetaHeadersFrame](browser)
	if head.Fields[0].Value != "200" || head.Fields[1].Value != "[{b 2} {a 1} {content-length 5}]" {
		t.Errorf("%v", head.Fields)
	}
	if data := frame[*http2.DataFrame](browser); string(data.Data()) != "GET a.example/ 5:hello <nil>" {
		t.Errorf("%q", data.Data())
	}
	if trailers := frame[*http2.MetaHeadersFrame](browser); !trailers.StreamEnded() || trailers.Fields[0].Value != "6" {
		t.Errorf("%v", trailers)
	}
}

func TestTheBrowserReprioritises(t *testing.T) {
	heard := make(chan exchange.Priority, 1)
	_, browser := rawClient(t, func(x *Exchange) { x.OnPriority(func(p exchange.Priority) { heard <- p }) })
	browser.WritePriorityUpdate(9, "u=1") // of a stream that is not there yet: no harm
	browser.request(1, true, "priority", "i")
	browser.WritePriorityUpdate(1, "u=5, i")
	if got := <-heard; got != (exchange.Priority{Urgency: 5, Incremental: true}) {
		t.Errorf("%+v", got)
	}
	browser.WritePriority(1, http2.PriorityParam{StreamDep: 0, Exclusive: true, Weight: 255}) // as Chromium 156 does it
	if got := <-heard; got != (exchange.Priority{Urgency: 0, Incremental: true}) {
		t.Errorf("%+v", got)
	}
}

func TestTheBrowserResetsAStream(t *testing.T) {
	for _, code := range []http2.ErrCode{http2.ErrCodeCancel, http2.ErrCodeNo} {
		over := make(chan error, 1)
		_, browser := rawClient(t, func(x *Exchange) {
			go func() {
				<-x.Context().Done()
				_, err := x.Write([]byte("x"))
				over <- err
				x.Finish()
			}()
		})
		browser.request(1, true)
		browser.WriteRSTStream(1, code)
		if err := <-over; err == nil {
			t.Error("writing to a stream that was reset worked")
		}
	}
}

func TestTheBrowserLeaves(t *testing.T) {
	s, browser := rawClient(t, func(x *Exchange) {
		go func() {
			<-x.Context().Done()
			x.Finish()
		}()
	})
	browser.request(1, true)
	browser.WritePing(false, [8]byte{})
	frame[*http2.PingFrame](browser)
	browser.conn.Close()
	<-s.Done()
	s.Wait()
	testkit.Eventually(t, "the exchange is finished", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.live == 0
	})
}

func TestAnAnswerBeforeTheRequestIsWholeStopsIt(t *testing.T) {
	_, browser := rawClient(t, func(x *Exchange) {
		x.Respond(413, nil, true)
		x.Finish()
	})
	browser.request(1, false)
	frame[*http2.MetaHeadersFrame](browser)
	if reset := frame[*http2.RSTStreamFrame](browser); reset.ErrCode != http2.ErrCodeNo {
		t.Errorf("%v", reset)
	}
	browser.WriteData(1, false, []byte("still on its way"))
	browser.request(3, true)
	frame[*http2.MetaHeadersFrame](browser)
}

func TestAnAnswerIsSentAsTheBrowserReads(t *testing.T) {
	_, browser := rawClient(t, func(x *Exchange) {
		go func() {
			defer x.Finish()
			x.Respond(200, nil, false)
			x.Write(make([]byte, 200_000))
			x.End(nil)
		}()
	})
	browser.request(1, true)
	got := 0
	for got < 65535 {
		got += len(frame[*http2.DataFrame](browser).Data())
	}
	browser.WritePing(false, [8]byte{})
	if f, err := browser.ReadFrame(); err != nil || f.Header().Type != http2.FramePing {
		t.Fatalf("%v, %v", f, err)
	}
	browser.WriteWindowUpdate(0, 1<<20)
	browser.WriteWindowUpdate(1, 1<<20)
	for got < 200_000 {
		got += len(frame[*http2.DataFrame](browser).Data())
	}
}

func TestUploadsWaitForWhoeverReads(t *testing.T) {
	goOn, total := make(chan bool), make(chan int64, 1)
	_, browser := rawClient(t, func(x *Exchange) {
		body, _ := x.Body()
		go func() {
			defer x.Finish()
			<-goOn
			n, _ := io.Copy(io.Discard, body)
			total <- n
			x.Respond(200, nil, true)
		}()
	})
	settings := frame[*http2.SettingsFrame](browser)
	window, _ := settings.Value(http2.SettingInitialWindowSize)
	browser.request(1, false)
	for sent := 0; sent < int(window); sent += 16384 {
		browser.WriteData(1, false, make([]byte, min(16384, int(window)-sent)))
	}
	browser.WritePing(false, [8]byte{})
	for {
		f, err := browser.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if update, given := f.(*http2.WindowUpdateFrame); given && update.StreamID == 1 {
			t.Error("more may be sent although nobody has read")
		}
		if f.Header().Type == http2.FramePing {
			break
		}
	}
	close(goOn)
	if update := frame[*http2.WindowUpdateFrame](browser); update.Increment == 0 {
		t.Error(update)
	}
	browser.WriteData(1, true, nil)
	if n := <-total; n != int64(window) {
		t.Errorf("%d of %d", n, window)
	}
}

func TestBrowsersThatBreakTheProtocol(t *testing.T) {
	var handled atomic.Int64
	for name, c := range map[string]struct {
		do    func(*raw)
		whole bool
	}{
		"no method":            {func(r *raw) { r.head(1, true, ":scheme", "https", ":path", "/", ":authority", "a") }, false},
		"no path":              {func(r *raw) { r.head(1, true, ":method", "GET", ":scheme", "https", ":authority", "a") }, false},
		"a path with a break":  {func(r *raw) { r.head(1, true, ":method", "GET", ":scheme", "https", ":path", "/ HTTP/1.1\r\nx: y") }, false},
		"a path with blanks":   {func(r *raw) { r.head(1, true, ":method", "GET", ":scheme", "https", ":path", "/a b") }, false},
		"a method with blanks": {func(r *raw) { r.head(1, true, ":method", "GE T", ":scheme", "https", ":path", "/") }, false},
		"a value with a break": {func(r *raw) { r.request(1, true, "x", "a\nb") }, false},
		"transfer-encoding":    {func(r *raw) { r.request(1, true, "transfer-encoding", "chunked") }, false},
		"capitals":             {func(r *raw) { r.request(1, true, "X", "y") }, false},
		"twice":                {func(r *raw) { r.head(1, true, ":method", "GET", ":method", "PUT", ":scheme", "https", ":path", "/") }, false},
		"length without body":  {func(r *raw) { r.request(1, true, "content-length", "5") }, false},
		"an even stream":       {func(r *raw) { r.request(2, true) }, true},
		"DATA on no stream":    {func(r *raw) { r.WriteData(5, true, nil) }, true},
		"a window of its own":  {func(r *raw) { r.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			handled.Store(0)
			_, browser := rawClient(t, func(x *Exchange) {
				handled.Add(1)
				x.Finish()
			})
			go c.do(browser)
			if c.whole {
				browser.goneAway()
			} else if reset := frame[*http2.RSTStreamFrame](browser); reset.StreamID != 1 {
				t.Errorf("%v", reset)
			}
			if handled.Load() > 0 {
				t.Error("it was handed over all the same")
			}
		})
	}
}

func TestAHeadTooLargeIsRefused(t *testing.T) {
	_, browser := rawClient(t, func(*Exchange) { t.Error("it was handed over") })
	browser.largeRequest(1, strings.Repeat("x", 60_000))
	if head := frame[*http2.MetaHeadersFrame](browser); head.Fields[0].Value != "431" {
		t.Errorf("%v", head.Fields)
	}
}

// A field of 4 KiB that is said once and then referred to: 800 KiB of little on the wire.
func TestAHeadThatExpandsTooFarIsRefused(t *testing.T) {
	_, browser := rawClient(t, func(*Exchange) { t.Error("it was handed over") })
	var fields []string
	for range 200 {
		fields = append(fields, "x", strings.Repeat("y", 4000))
	}
	for id := uint32(1); id < 20; id += 2 {
		browser.request(id, true, fields...)
		if head := frame[*http2.MetaHeadersFrame](browser); head.StreamID != id || head.Fields[0].Value != "431" {
			t.Errorf("%v", head)
		}
	}
}

// What follows a request that cannot be read is on its way already, and other requests are not to suffer.
func TestAMalformedRequestHarmsNoOther(t *testing.T) {
	_, browser := rawClient(t, func(x *Exchange) {
		x.Respond(200, nil, true)
		x.Finish()
	})
	browser.request(1, false, "X", "y")
	browser.WriteData(1, false, []byte("body"))
	browser.head(1, true, "trailer", "z")
	browser.request(3, true)
	if head := frame[*http2.MetaHeadersFrame](browser); head.StreamID != 3 || head.Fields[0].Value != "200" {
		t.Errorf("%v", head)
	}
}

func (r *raw) largeRequest(id uint32, value string) {
	block := r.fields(":method", "GET", ":authority", "a.example", ":scheme", "https", ":path", "/", "a", value, "b", value, "c", value, "d", value, "e", value)
	r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:16000], EndStream: true})
	for block = block[16000:]; len(block) > 16000; block = block[16000:] {
		r.WriteContinuation(id, false, block[:16000])
	}
	r.WriteContinuation(id, true, block)
}

func TestFloodsEnd(t *testing.T) {
	for name, flood := range map[string]func(*raw, uint32) error{
		"pings":    func(r *raw, _ uint32) error { return r.WritePing(false, [8]byte{}) },
		"settings": func(r *raw, _ uint32) error { return r.WriteSettings() },
		"resets": func(r *raw, id uint32) error {
			r.request(id, true)
			return r.WriteRSTStream(id, http2.ErrCodeCancel)
		},
		"priorities": func(r *raw, id uint32) error { return r.WritePriorityUpdate(id, "u=1") },
	} {
		t.Run(name, func(t *testing.T) {
			var live, most atomic.Int64
			never := make(chan bool)
			defer close(never)
			near, far := testkit.NarrowPair(t)
			s, browser := serveRaw(t, near, far, func(x *Exchange) {
				most.Store(max(most.Load(), live.Add(1)))
				go func() { // slow to clear away
					<-never
					x.Finish()
				}()
			})
			var err error
			count := 0
			for ; err == nil && count < 200_000; count++ { // it never reads
				err = flood(browser, uint32(2*count+1))
			}
			<-s.Done()
			s.mu.Lock()
			held, streams := len(s.out), len(s.streams)
			s.mu.Unlock()
			if held > 2*mostReplies || streams > mostStreams || most.Load() > 4*mostStreams+1 {
				t.Errorf("after %d: %d bytes held, %d streams, %d exchanges", count, held, streams, most.Load())
			}
		})
	}
}

func TestStreamsAboveTheLimitAreRefused(t *testing.T) {
	_, browser := rawClient(t, func(*Exchange) {})
	for i := range uint32(mostStreams + 1) {
		browser.request(2*i+1, true)
	}
	if reset := frame[*http2.RSTStreamFrame](browser); reset.StreamID != 2*mostStreams+1 || reset.ErrCode != http2.ErrCodeRefusedStream {
		t.Errorf("%v", reset)
	}
}

func TestWhatIsNoHTTP2IsNotServed(t *testing.T) {
	near, far := testkit.Pair(t)
	s := Serve(near, func(*Exchange) { t.Error("it was served") })
	io.WriteString(far, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
	<-s.Done()
}

func FuzzFramesFromTheServer(f *testing.F) {
	f.Add([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88})
	f.Fuzz(func(t *testing.T, frames []byte) {
		near, far := net.Pipe() // a machine has not as many ports as a fuzzer needs
		c := NewClient(near, ClientSettings{})
		defer c.Close()
		go io.Copy(io.Discard, far)
		wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
		far.Write(frames)
		far.Close()
		response, err := wait()
		if err == nil {
			n, err := io.Copy(io.Discard, response.Body)
			if n > int64(len(frames)) {
				t.Errorf("%d bytes of %d, %v", n, len(frames), err)
			}
		}
		<-c.Done()
	})
}

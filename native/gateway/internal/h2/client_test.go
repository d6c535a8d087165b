package h2

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

func TestTheClientBeginsAsChromium(t *testing.T) {
	_, server := rawServer(t, ClientSettings{})
	settings := frame[*http2.SettingsFrame](server)
	var said []string
	settings.ForeachSetting(func(s http2.Setting) error {
		said = append(said, s.String())
		return nil
	})
	wanted := "[HEADER_TABLE_SIZE = 65536] [ENABLE_PUSH = 0] [INITIAL_WINDOW_SIZE = 6291456] [MAX_HEADER_LIST_SIZE = 262144]"
	if got := strings.Join(said, " "); got != wanted {
		t.Error(got)
	}
	if window := frame[*http2.WindowUpdateFrame](server); window.StreamID != 0 || window.Increment != 15663105 {
		t.Errorf("%v", window)
	}
}

func TestARequestAndItsSizes(t *testing.T) {
	c, server := rawServer(t, ClientSettings{})
	request := get("/a?b")
	request.Fields = []exchange.Field{{Name: "user-agent", Value: "x"}, {Name: "priority", Value: "u=1"}, {Name: "cookie", Value: "a=1"}, {Name: "cookie", Value: "b=2"}}
	notes := testkit.NewNotes(t)
	wait := c.Start(t.Context(), request, notes)
	head := frame[*http2.MetaHeadersFrame](server)
	got := ""
	bytes := 0
	for _, field := range head.Fields {
		got += field.Name + "=" + field.Value + " "
		bytes += len(field.Name) + len(field.Value) + 4
	}
	if got != ":method=GET :authority=a.example :scheme=http :path=/a?b user-agent=x priority=u=1 cookie=a=1 cookie=b=2 " || !head.StreamEnded() {
		t.Error(got)
	}
	server.head(1, false, ":status", "200", "x-a", "b")
	server.WriteData(1, true, []byte("hello"))
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != "hello" || fmt.Sprint(response.Status, response.Fields) != "200 [{x-a b}]" {
		t.Errorf("%q %v %v", body, response, err)
	}
	if notes.Calls() != 3 || notes.Stream != 1 || notes.Bytes != bytes || notes.Wire != int(head.Length)+9 || notes.InFlight != 1 {
		t.Errorf("%+v; the frame has %d", notes, head.Length)
	}
	if notes.AnswerBytes != len(":status: 200\r\nx-a: b\r\n") || notes.AnswerWire < 10 {
		t.Errorf("%+v", notes)
	}
}

func TestPrioritiesAreChromiums(t *testing.T) {
	c, server := rawServer(t, ClientSettings{})
	var notes []*testkit.Notes // the stream 2i+1 has the i-th
	for i, urgency := range []int{0, 3, 2, 3, 7, 0} {
		request := get("/")
		request.Priority.Urgency = urgency
		notes = append(notes, testkit.NewNotes(t))
		c.Start(t.Context(), request, notes[i])
	}
	got := ""
	for range 6 {
		head := frame[*http2.MetaHeadersFrame](server)
		if !head.Priority.Exclusive {
			t.Errorf("%v", head)
		}
		got += fmt.Sprintf("%d<%d:%d ", head.StreamID, head.Priority.StreamDep, int(head.Priority.Weight)+1)
	}
	// each behind the last that is at least as urgent; weights as seen from Chromium
	if got != "1<0:256 3<1:147 5<1:183 7<3:147 9<7:1 11<1:256 " {
		t.Error(got)
	}
	c.Reprioritise(notes[3], exchange.Priority{Urgency: 1}) // this server knows the old way only
	if moved := frame[*http2.PriorityFrame](server); moved.StreamID != 9 || moved.StreamDep != 3 {
		t.Errorf("%v", moved)
	}
	if moved := frame[*http2.PriorityFrame](server); moved.StreamID != 7 || moved.StreamDep != 11 || int(moved.Weight)+1 != 220 {
		t.Errorf("%v", moved)
	}
	server.WriteSettings(http2.Setting{ID: http2.SettingNoRFC7540Priorities, Val: 1})
	testkit.Eventually(t, "the settings are known", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.peer.newPriorities
	})
	c.Reprioritise(notes[4], exchange.Priority{Urgency: 2, Incremental: true})
	moved := frame[*http2.PriorityFrame](server)
	update := frame[*http2.PriorityUpdateFrame](server)
	if moved.StreamID != 9 || moved.StreamDep != 5 || int(moved.Weight)+1 != 183 || update.PrioritizedStreamID != 9 || update.Priority != "u=2, i" {
		t.Errorf("%v, %v", moved, update)
	}
}

func TestRoomIsWhatTheServerSays(t *testing.T) {
	changed := make(chan bool, 10)
	c, server := rawServer(t, ClientSettings{Changed: func() { changed <- true }}, http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
	<-changed
	if c.Room() != 2 {
		t.Error(c.Room())
	}
	first, second := ask(t.Context(), t, c, get("/1")), ask(t.Context(), t, c, get("/2"))
	if got := <-ask(t.Context(), t, c, get("/3")); !notProcessed(got.err) {
		t.Errorf("%+v", got)
	}
	frame[*http2.MetaHeadersFrame](server)
	server.head(1, true, ":status", "204")
	<-first
	if c.Room() != 1 {
		t.Error(c.Room())
	}
	server.WriteRSTStream(3, http2.ErrCodeRefusedStream)
	if got := <-second; !notProcessed(got.err) {
		t.Errorf("%+v", got)
	}
}

func TestResetsAndGoingAway(t *testing.T) {
	c, server := rawServer(t, ClientSettings{})
	var all []<-chan outcome
	for range 4 {
		all = append(all, ask(t.Context(), t, c, get("/")))
		frame[*http2.MetaHeadersFrame](server)
	}
	server.WriteRSTStream(1, http2.ErrCodeInternal)
	if got := <-all[0]; got.err == nil || notProcessed(got.err) {
		t.Errorf("%+v", got)
	}
	server.WriteGoAway(5, http2.ErrCodeNo, nil)
	if got := <-all[3]; !notProcessed(got.err) {
		t.Errorf("a stream above GOAWAY: %+v", got)
	}
	if c.Room() != 0 || !c.Leaving() {
		t.Error("there is room on a connection whose server goes away")
	}
	for i, done := range all[1:3] { // those below go on
		server.head(uint32(3+2*i), false, ":status", "200")
		server.WriteData(uint32(3+2*i), true, []byte("late"))
		if got := <-done; got.err != nil || got.body != "late" {
			t.Errorf("%+v", got)
		}
	}
	<-c.Done() // and then nothing is left to do
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

func TestAConnectionThatDiesSaysWhatWasNotAnswered(t *testing.T) {
	c, server := rawServer(t, ClientSettings{})
	answered, not := ask(t.Context(), t, c, get("/1")), ask(t.Context(), t, c, get("/2"))
	frame[*http2.MetaHeadersFrame](server)
	server.head(1, false, ":status", "200")
	testkit.Eventually(t, "the head has come", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.streams[1] != nil && c.streams[1].headed
	})
	server.conn.Close()
	if got := <-answered; got.err == nil || notProcessed(got.err) {
		t.Errorf("%+v", got)
	}
	if got := <-not; !notProcessed(got.err) {
		t.Errorf("%+v", got)
	}
}

func TestCancellingResetsTheStream(t *testing.T) {
	c, server := rawServer(t, ClientSettings{})
	ctx, cancel := context.WithCancel(t.Context())
	first := ask(ctx, t, c, get("/1"))
	frame[*http2.MetaHeadersFrame](server)
	cancel()
	if got := <-first; got.err == nil {
		t.Error("it was answered")
	}
	if reset := frame[*http2.RSTStreamFrame](server); reset.StreamID != 1 || reset.ErrCode != http2.ErrCodeCancel {
		t.Errorf("%v", reset)
	}
	server.head(1, false, ":status", "200") // it crossed our reset
	server.WriteData(1, true, make([]byte, 1000))
	second := ask(t.Context(), t, c, get("/2"))
	frame[*http2.MetaHeadersFrame](server)
	server.head(3, true, ":status", "200")
	if got := <-second; got.err != nil {
		t.Errorf("%+v", got)
	}
}

func TestClosingABodyResetsTheStreamAndGivesItsWindowBack(t *testing.T) {
	c, server := rawServer(t, ClientSettings{StreamWindow: 60_000, SessionWindow: 65_535})
	for id := uint32(1); id < 21; id += 2 { // together more than the connection's window
		wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
		frame[*http2.MetaHeadersFrame](server)
		server.head(id, false, ":status", "200")
		for range 3 {
			server.WriteData(id, false, make([]byte, 15_000))
		}
		response, err := wait()
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		frame[*http2.RSTStreamFrame](server)
	}
}

func TestNobodyReadsSoNoWindowIsGiven(t *testing.T) {
	c, server := rawServer(t, ClientSettings{StreamWindow: 40_000, SessionWindow: 100_000})
	wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
	frame[*http2.MetaHeadersFrame](server)
	server.head(1, false, ":status", "200")
	for range 4 {
		server.WriteData(1, false, make([]byte, 10_000))
	}
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	server.WritePing(false, [8]byte{1})
	for { // until the answer to the ping nothing else comes
		f, err := server.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if _, given := f.(*http2.WindowUpdateFrame); given {
			t.Errorf("%v", f)
		}
		if _, pong := f.(*http2.PingFrame); pong {
			break
		}
	}
	io.ReadFull(response.Body, make([]byte, 30_000))
	if given := frame[*http2.WindowUpdateFrame](server); given.StreamID != 1 || given.Increment <= 20_000 {
		t.Errorf("%v", given)
	}
}

func TestABodyIsSentAsTheWindowsAllow(t *testing.T) {
	c, server := rawServer(t, ClientSettings{}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16384})
	frame[*http2.SettingsFrame](server)
	testkit.Eventually(t, "the settings are known", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.peer.initialWindow == 10
	})
	request := get("/")
	request.Method, request.Body, request.BodySize = "POST", strings.NewReader(strings.Repeat("x", 1000)), 1000
	done := ask(t.Context(), t, c, request)
	got := 0
	for got < 1000 {
		data := frame[*http2.DataFrame](server)
		if len(data.Data()) > 10 {
			t.Fatalf("%d bytes where 10 were allowed", len(data.Data()))
		}
		got += len(data.Data())
		if data.StreamEnded() {
			break
		}
		server.WriteWindowUpdate(1, uint32(len(data.Data())))
	}
	server.head(1, true, ":status", "200")
	if result := <-done; result.err != nil || got != 1000 {
		t.Errorf("%d, %+v", got, result)
	}
}

func TestInterimAnswersAndTrailers(t *testing.T) {
	c, server := rawServer(t, ClientSettings{})
	request := get("/")
	hints := make(chan string, 2)
	request.Informed = func(status int, fields []exchange.Field) { hints <- fmt.Sprint(status, fields) }
	done := ask(t.Context(), t, c, request)
	frame[*http2.MetaHeadersFrame](server)
	server.head(1, false, ":status", "103", "link", "</a>")
	server.head(1, false, ":status", "200")
	server.WriteData(1, false, []byte("x"))
	server.head(1, true, "x-sum", "6")
	got := <-done
	if hint := <-hints; hint != "103 [{link </a>}]" || got.err != nil || fmt.Sprint(got.response.Trailers()) != "[{x-sum 6}]" {
		t.Errorf("%s, %+v", hint, got)
	}
}

package h2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"lanelab/gateway/internal/testkit"
)

// dataFrame is a DATA frame as it is on the wire. padding: -1 for a frame without.
func dataFrame(id uint32, data []byte, padding int, ends bool) []byte {
	var flags http2.Flags
	payload := data
	if padding >= 0 {
		flags |= http2.FlagDataPadded
		payload = append(append([]byte{byte(padding)}, data...), make([]byte, padding)...)
	}
	if ends {
		flags |= http2.FlagDataEndStream
	}
	return append(frameHead(len(payload), http2.FrameData, flags, id), payload...)
}

func frameHead(length int, kind http2.FrameType, flags http2.Flags, id uint32) []byte {
	head := []byte{byte(length >> 16), byte(length >> 8), byte(length), byte(kind), byte(flags)}
	return binary.BigEndian.AppendUint32(head, id)
}

// answering begins an exchange whose body the test sends.
func answering(t *testing.T, settings ClientSettings) (body io.ReadCloser, notes *testkit.Notes, c *Client, server *raw) {
	t.Helper()
	c, server = rawServer(t, settings)
	notes = testkit.NewNotes(t)
	wait := c.Start(t.Context(), get("/"), notes)
	frame[*http2.MetaHeadersFrame](server)
	server.head(1, false, ":status", "200")
	response, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	return response.Body, notes, c, server
}

func TestDataIsThereBeforeItsFrameIsWhole(t *testing.T) {
	page := strings.Repeat("0123456789", 1000)
	for _, padding := range []int{-1, 0, 200} {
		body, notes, c, server := answering(t, ClientSettings{})
		whole := dataFrame(1, []byte(page), padding, true)
		server.conn.Write(whole[:4000])
		first := testkit.ReadSoon(t, body, 3500)
		if notes.Calls() != 2 {
			t.Errorf("%d notes: its last byte has not come", notes.Calls())
		}
		server.conn.Write(whole[4000:])
		rest, err := io.ReadAll(body)
		if err != nil || first+string(rest) != page || notes.Calls() != 3 {
			t.Errorf("padding %d: %d bytes, %v, %d notes", padding, len(rest), err, notes.Calls())
		}
		if use := c.StreamUse(); use.DataFrames != 1 {
			t.Errorf("%d frames", use.DataFrames)
		}
	}
}

func TestAnUploadIsThereBeforeItsFrameIsWhole(t *testing.T) {
	first, all := make(chan string, 1), make(chan string, 1)
	_, browser := rawClient(t, func(x *Exchange) {
		body, _ := x.Body()
		go func() {
			defer x.Finish()
			first <- testkit.ReadSoon(t, body, 4)
			rest, err := io.ReadAll(body)
			all <- fmt.Sprint(string(rest), err)
		}()
	})
	browser.request(1, false)
	whole := dataFrame(1, []byte("one and two"), -1, true)
	browser.conn.Write(whole[:9+5])
	if got := <-first; got != "one " {
		t.Errorf("%q", got)
	}
	browser.conn.Write(whole[9+5:])
	if got := <-all; got != "and two<nil>" {
		t.Errorf("%q", got)
	}
}

// Padding counts in the windows, and is given back with what is read.
func TestPaddingIsGivenBack(t *testing.T) {
	const window = 65_535
	body, _, _, server := answering(t, ClientSettings{StreamWindow: window, SessionWindow: window})
	go io.Copy(io.Discard, body)
	ends := false
	left := map[uint32]int{0: window, 1: window}
	for sent := 0; !ends; sent++ {
		ends = sent == 1000
		whole := dataFrame(1, make([]byte, sent%3*100), 255, ends)
		for left[0] < len(whole)-9 || left[1] < len(whole)-9 {
			update := frame[*http2.WindowUpdateFrame](server)
			left[update.StreamID] += int(update.Increment)
		}
		left[0], left[1] = left[0]-(len(whole)-9), left[1]-(len(whole)-9)
		server.conn.Write(whole)
	}
}

func TestDataThatBreaksTheProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		frame []byte
		code  http2.ErrCode
	}{
		"stream 0":                 {dataFrame(0, []byte("x"), -1, false), http2.ErrCodeProtocol},
		"no room for padding":      {append(frameHead(3, http2.FrameData, http2.FlagDataPadded, 1), 3, 0, 0), http2.ErrCodeProtocol},
		"no room for its length":   {frameHead(0, http2.FrameData, http2.FlagDataPadded, 1), http2.ErrCodeFrameSize},
		"larger than was allowed":  {frameHead(defaultFrame+1, http2.FrameData, 0, 1), http2.ErrCodeFrameSize},
		"a stream that never was":  {dataFrame(7, []byte("x"), -1, false), http2.ErrCodeProtocol},
		"more than the connection": {bytes.Repeat(dataFrame(1, make([]byte, defaultFrame), -1, false), 5), http2.ErrCodeFlowControl},
	} {
		t.Run(name, func(t *testing.T) {
			body, _, client, server := answering(t, ClientSettings{StreamWindow: 200_000, SessionWindow: 65_535})
			server.conn.Write(c.frame)
			if code := server.goneAway(); code != c.code {
				t.Error(code)
			}
			if _, err := io.ReadAll(body); err == nil {
				t.Error("the body seems whole")
			}
			<-client.Done()
		})
	}
}

func TestAConnectionThatEndsInTheMiddleOfAFrame(t *testing.T) {
	for name, whole := range map[string][]byte{
		"in its head": dataFrame(1, nil, -1, true)[:5], "before its padding's length": dataFrame(1, nil, 0, true)[:9],
		"in its payload": dataFrame(1, []byte("page"), -1, true)[:11], "in its padding": dataFrame(1, []byte("page"), 10, true)[:20],
	} {
		body, notes, c, server := answering(t, ClientSettings{})
		server.conn.Write(whole)
		server.conn.(*net.TCPConn).CloseWrite()
		if _, err := io.ReadAll(body); err == nil || notes.Calls() != 2 {
			t.Errorf("%s: the body seems whole", name)
		}
		<-c.Done()
		if !errors.Is(c.Err(), io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, c.Err())
		}
	}
}

// What comes of a frame after its stream has ended is for nobody, and is given back; the connection goes on behind it.
func TestAStreamEndsInTheMiddleOfAFrame(t *testing.T) {
	for name, end := range map[string]func(io.Closer, *raw){
		"cancelled by us": func(body io.Closer, r *raw) {
			body.Close()
			frame[*http2.RSTStreamFrame](r)
		},
		"beyond its window": func(_ io.Closer, r *raw) {
			if reset := frame[*http2.RSTStreamFrame](r); reset.ErrCode != http2.ErrCodeFlowControl {
				t.Error(reset)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			window := map[string]int64{"cancelled by us": 30_000, "beyond its window": 100}[name]
			body, _, c, server := answering(t, ClientSettings{StreamWindow: window, SessionWindow: 65_535})
			whole := dataFrame(1, make([]byte, 10_000), 100, true)
			server.conn.Write(whole[:5000])
			end(body, server)
			server.conn.Write(whole[5000:])
			for id := uint32(3); id < 20; id += 2 { // together more than the connection's window
				done := ask(t.Context(), t, c, get("/"))
				frame[*http2.MetaHeadersFrame](server)
				server.head(id, false, ":status", "200")
				for range 100 {
					server.conn.Write(dataFrame(id, make([]byte, window/100), -1, false))
				}
				server.conn.Write(dataFrame(id, nil, -1, true))
				if got := <-done; got.err != nil || len(got.body) != int(window/100*100) {
					t.Fatalf("%d: %d bytes, %v", id, len(got.body), got.err)
				}
			}
		})
	}
}

// However DATA is cut into frames, padded, and however its bytes come, the body is the same.
func FuzzDataFrames(f *testing.F) {
	f.Add([]byte{5, 0, 0, 0, 3, 7, 255, 1, 100}, uint8(1))
	f.Fuzz(func(t *testing.T, script []byte, piece uint8) {
		script = script[:min(len(script), 100)]
		near, far := net.Pipe()
		c := NewClient(near, ClientSettings{})
		defer c.Close()
		defer far.Close()
		go io.Copy(io.Discard, far)
		wait := c.Start(t.Context(), get("/"), testkit.NewNotes(t))
		server := &raw{Framer: http2.NewFramer(far, nil)}
		wire, body := new(bytes.Buffer), new(bytes.Buffer)
		for i := 0; i+1 < len(script); i += 2 {
			data := bytes.Repeat(script[i:i+1], int(script[i])*7)
			body.Write(data)
			wire.Write(dataFrame(1, data, int(script[i+1])-1, false))
		}
		wire.Write(dataFrame(1, nil, int(piece)-1, true))
		go func() {
			server.WriteSettings()
			server.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true})
			for wire.Len() > 0 {
				far.Write(wire.Next(1 + int(piece)))
			}
		}()
		response, err := wait()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(got, body.Bytes()) {
			t.Errorf("%d bytes of %d, %v", len(got), body.Len(), err)
		}
	})
}

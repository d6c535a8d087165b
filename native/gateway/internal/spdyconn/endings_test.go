package spdyconn

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

func TestCancelBeforeTheReply(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		over, arrived := make(chan struct{}), make(chan struct{})
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			close(arrived)
			<-st.Over()
			close(over)
		}}, Settings{})
		ctx, cancel := context.WithCancel(deadline(t))
		go func() {
			<-arrived
			cancel()
		}()
		_, err := p.client.RoundTrip(ctx, get("/"), quiet{})
		if !errors.Is(err, context.Canceled) || errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("got %v", err)
		}
		waitFor(t, over, "the server's stream to be reset")
	})
}

func TestCancelDuringTheBody(t *testing.T) {
	for name, end := range map[string]func(context.CancelFunc, io.Closer){
		"by context": func(cancel context.CancelFunc, _ io.Closer) { cancel() },
		"by Close":   func(_ context.CancelFunc, body io.Closer) { _ = body.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, version spdy.Version) {
				over := make(chan struct{})
				p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
					if st.Head.Path == "/after" {
						return
					}
					_ = st.Reply(200, false)
					_, _ = st.Write(make([]byte, 100_000))
					<-st.Over()
					close(over)
				}}, Settings{})
				ctx, cancel := context.WithCancel(deadline(t))
				defer cancel()
				response, err := p.client.RoundTrip(ctx, get("/"), quiet{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(response.Body, make([]byte, 10)); err != nil {
					t.Fatal(err)
				}
				end(cancel, response.Body)
				waitFor(t, over, "the server's stream to be reset")
				if _, err := io.ReadAll(response.Body); err == nil {
					t.Error("a body that was cancelled seemed complete")
				}
				checkAlive(t, p.client)
			})
		})
	}
}

// checkAlive makes an exchange, after which nothing may be left of any.
func checkAlive(t *testing.T, client *Client) {
	t.Helper()
	response, err := client.RoundTrip(deadline(t), get("/after"), quiet{})
	if err != nil {
		t.Fatalf("the connection's next exchange: %v", err)
	}
	readAll(t, response)
	client.mutex.Lock()
	defer client.mutex.Unlock()
	if len(client.exchanges) != 0 || client.session.OpenStreams() != 0 || client.held != 0 {
		t.Errorf("%d exchanges, %d streams and %d bytes are left", len(client.exchanges), client.session.OpenStreams(), client.held)
	}
}

func waitFor(t testing.TB, event <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}

func TestResets(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			switch st.Head.Path {
			case "/refused":
				st.Reset(spdy.RefusedStream)
			case "/broken":
				st.Reset(spdy.InternalError)
			case "/middle":
				_ = st.Reply(200, false)
				_, _ = st.Write([]byte("half"))
				st.Reset(spdy.InternalError)
			}
		}}, Settings{})
		_, err := p.client.RoundTrip(deadline(t), get("/refused"), quiet{})
		if !errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("REFUSED_STREAM gave %v", err)
		}
		_, err = p.client.RoundTrip(deadline(t), get("/broken"), quiet{})
		if reset := new(spdy.StreamError); !errors.As(err, &reset) || !reset.ByPeer || errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("INTERNAL_ERROR gave %v", err)
		}
		response, err := p.client.RoundTrip(deadline(t), get("/middle"), quiet{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if reset := new(spdy.StreamError); string(text) != "half" || !errors.As(err, &reset) {
			t.Errorf("a reset in the middle gave %q, %v", text, err)
		}
		checkAlive(t, p.client)
	})
}

// Streams are reset by both sides in the middle of a load; the others must not notice.
func TestResetsUnderLoad(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			if st.Head.Path == "/reset" {
				_ = st.Reply(200, false)
				_, _ = st.Write(make([]byte, 50_000))
				st.Reset(spdy.InternalError)
				return
			}
			bodies(st)
		}}, Settings{StreamWindow: 100_000, SessionWindow: 200_000})
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				switch i % 3 {
				case 0:
					transfer(t, p.client, byte(i), 300_000, 300_000)
				case 1:
					if response, err := p.client.RoundTrip(deadline(t), get("/reset"), quiet{}); err == nil {
						if _, err := io.ReadAll(response.Body); err == nil {
							t.Error("a body that was reset seemed complete")
						}
					}
				case 2:
					request := get("/bodies")
					request.Fields = []exchange.Field{{Name: "x-size", Value: "400000"}}
					if response, err := p.client.RoundTrip(deadline(t), request, quiet{}); err != nil {
						t.Error(err)
					} else {
						_, _ = io.ReadFull(response.Body, make([]byte, 1000))
						_ = response.Body.Close()
					}
				}
			})
		}
		all.Wait()
		checkAlive(t, p.client)
	})
}

// After GOAWAY in the middle of a load every exchange is either complete or known not to be processed, and the client ends by itself.
func TestGoAwayUnderLoad(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		var handled, complete, unprocessed atomic.Int32
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			if handled.Add(1) == 50 {
				st.Conn().GoAway()
			}
			_ = st.Reply(200, false)
			_, _ = st.Write(make([]byte, 20_000))
		}}, Settings{})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 20 {
					response, err := p.client.RoundTrip(deadline(t), get("/"), quiet{})
					if err != nil {
						if !errors.Is(err, exchange.ErrNotProcessed) {
							t.Errorf("an exchange failed otherwise: %v", err)
						}
						unprocessed.Add(1)
						continue
					}
					readAll(t, response)
					complete.Add(1)
				}
			})
		}
		all.Wait()
		if complete.Load() != handled.Load() || complete.Load()+unprocessed.Load() != 400 || unprocessed.Load() == 0 {
			t.Errorf("%d exchanges are complete and %d not processed; the server handled %d", complete.Load(), unprocessed.Load(), handled.Load())
		}
		waitFor(t, p.client.Done(), "the client's end")
		if p.client.Err() != nil || p.client.Room() != 0 {
			t.Errorf("it ended with %v and room for %d", p.client.Err(), p.client.Room())
		}
	})
}

func TestConnectionThatIsCut(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			if st.Head.Path == "/half" {
				_ = st.Reply(200, false)
				_, _ = st.Write([]byte("half"))
				<-st.Over()
				return
			}
			st.Conn().Cut()
		}}, Settings{})
		half, err := p.client.RoundTrip(deadline(t), get("/half"), quiet{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(half.Body, make([]byte, len("half"))); err != nil {
			t.Fatal(err)
		}
		_, err = p.client.RoundTrip(deadline(t), get("/cut"), quiet{})
		if !errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("an exchange without any answer gave %v", err)
		}
		if text, err := io.ReadAll(half.Body); len(text) > 0 || err == nil || errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("an exchange that was answered in part gave %q, %v", text, err)
		}
		waitFor(t, p.client.Done(), "the client's end")
		if p.client.Err() == nil {
			t.Error("the end seems orderly")
		}
		if _, err := p.client.RoundTrip(deadline(t), get("/"), quiet{}); !errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("an exchange after the end gave %v", err)
		}
	})
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			_ = st.Conn() // it is never answered
			<-st.Over()
		}}, Settings{})
		failed := make(chan error, 1)
		begun := make(chan struct{})
		go func() {
			_, err := p.client.RoundTrip(deadline(t), get("/"), sentTo(begun))
			failed <- err
		}()
		waitFor(t, begun, "the request to be sent")
		_ = p.client.Close()
		if err := <-failed; err == nil || errors.Is(err, exchange.ErrNotProcessed) {
			t.Errorf("got %v", err)
		}
		waitFor(t, p.client.Done(), "the client's end")
		if p.client.Err() != nil {
			t.Errorf("Close ended with %v", p.client.Err())
		}
	})
}

// sentTo is a Notes that closes a channel when the request was sent.
type sentTo chan struct{}

func (s sentTo) Sent(uint32, int, int, int) { close(s) }
func (sentTo) FirstByte(int, int)           {}
func (sentTo) LastByte()                    {}

func TestRequestBodyThatFails(t *testing.T) {
	eachVersion(t, func(t *testing.T, version spdy.Version) {
		over := make(chan struct{})
		p := connect(t, &Server{Version: version, Handler: func(st *ServerStream) {
			if st.Head.Path == "/after" {
				return
			}
			_, _ = io.Copy(io.Discard, st.Body)
			<-st.Over()
			close(over)
		}}, Settings{})
		torn := errors.New("torn")
		request := get("/")
		request.Body = io.MultiReader(noise(1, 100_000), failing{torn})
		if _, err := p.client.RoundTrip(deadline(t), request, quiet{}); !errors.Is(err, torn) {
			t.Errorf("got %v", err)
		}
		waitFor(t, over, "the server's stream to be reset")
		checkAlive(t, p.client)
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

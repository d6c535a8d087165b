package testkit

import (
	"errors"
	"io"
	"net"
	"time"
)

// A Stuck is a connection on which the test decides when a Write returns and when the peer's end is seen: in whichever order.
type Stuck struct {
	Wrote chan []byte   // each write, when it has begun
	Let   chan error    // what it returns, and when
	Ended chan struct{} // to be closed: the peer has ended the connection
	quit  chan struct{}
}

// NewStuck makes one that goes with the test.
func NewStuck(cleanup func(func())) *Stuck {
	s := &Stuck{Wrote: make(chan []byte, 100), Let: make(chan error, 100), Ended: make(chan struct{}), quit: make(chan struct{})}
	cleanup(func() { close(s.quit) })
	return s
}

func (s *Stuck) Read([]byte) (int, error) {
	select {
	case <-s.Ended:
	case <-s.quit:
	}
	return 0, io.EOF
}

func (s *Stuck) Write(p []byte) (int, error) {
	s.Wrote <- append([]byte(nil), p...)
	select {
	case err := <-s.Let:
		if err != nil {
			return 0, err
		}
		return len(p), nil
	case <-s.quit:
		return 0, errors.New("the test is over")
	}
}

// The rest of net.Conn does nothing.
func (s *Stuck) Close() error                     { return nil }
func (s *Stuck) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *Stuck) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *Stuck) SetDeadline(time.Time) error      { return nil }
func (s *Stuck) SetReadDeadline(time.Time) error  { return nil }
func (s *Stuck) SetWriteDeadline(time.Time) error { return nil }

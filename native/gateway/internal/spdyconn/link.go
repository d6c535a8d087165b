package spdyconn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"lanelab/gateway/internal/spdy"
)

const (
	readBytes = 64 << 10
	// writeBytes is about how much goes to the kernel at once: what becomes urgent meanwhile waits for it.
	writeBytes = 16 << 10
	// closePatience is how long the end of a connection waits for a peer that does not read, to tell it GOAWAY.
	closePatience = 100 * time.Millisecond
)

// owner is whose connection a link is: Client or ServerConn. Its methods are called with the link's lock held.
type owner interface {
	handle(spdy.Event)
	opened(stream uint32)  // its SYN_STREAM or SYN_REPLY was handed to the kernel, or may have been
	drained(stream uint32) // all that was queued for it was handed to the kernel
	busy() int             // exchanges under way
	unread() int           // bytes received that nobody has read yet
	changed()              // anything may have happened to the session
	ended(err error)
}

// link drives a session over a connection.
type link struct {
	conn    net.Conn
	owner   owner
	paused  int // unread bytes from which nothing more is read; 0: windows see to that
	reading *sync.Cond
	wake    chan struct{} // there is something to send, or an end to be made
	done    chan struct{}

	mutex   sync.Mutex
	session *spdy.Session
	ending  bool  // what is queued is sent still, then the connection is closed
	closed  bool  // it is
	cause   error // of the end; nil where it is orderly
}

func newLink(conn net.Conn, owner owner, session *spdy.Session, settings Settings) *link {
	l := &link{conn: conn, owner: owner, session: session, wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.reading = sync.NewCond(&l.mutex)
	if session.Version() == spdy.V2 {
		l.paused = settings.SessionWindow
	}
	return l
}

func (l *link) start() {
	go l.read()
	go l.write()
	l.stir()
}

// stir wakes the writer.
func (l *link) stir() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// do runs something on the session and sends what comes of it.
func (l *link) do(act func()) {
	l.mutex.Lock()
	act()
	l.owner.changed()
	l.stirIfPending()
	l.mutex.Unlock()
}

// stirIfPending wakes the writer where it has something to do: waking it for nothing costs more than asking.
func (l *link) stirIfPending() {
	if l.ending || l.session.Pending() {
		l.stir()
	}
}

func (l *link) read() {
	buffer := make([]byte, readBytes)
	for {
		count, err := l.conn.Read(buffer)
		l.mutex.Lock()
		if count > 0 && !l.closed {
			events, failure := l.session.Receive(buffer[:count])
			for _, event := range events {
				l.owner.handle(event)
			}
			if failure != nil {
				l.end(failure)
				err = failure
			}
		}
		if err != nil {
			l.endOfReading(err)
		}
		l.owner.changed()
		l.stirIfPending()
		for l.paused > 0 && l.owner.unread() > l.paused && !l.closed {
			l.reading.Wait()
		}
		stop := err != nil || l.closed
		l.mutex.Unlock()
		if stop {
			return
		}
	}
}

// endOfReading makes an end when nothing more can come: an orderly one where nothing was to come.
func (l *link) endOfReading(err error) {
	if l.ending {
		return
	}
	if errors.Is(err, io.EOF) && l.owner.busy() == 0 {
		l.end(nil)
		return
	}
	l.end(fmt.Errorf("spdyconn: the peer ended the connection with %d exchanges under way: %w", l.owner.busy(), err))
}

// end begins the connection's end: the writer finishes it. With the lock held.
func (l *link) end(cause error) {
	if l.ending {
		return
	}
	l.ending, l.cause = true, cause
	status := spdy.GoAwayOK
	l.session.GoAway(status)
	// A write that is under way must not hold up the end.
	_ = l.conn.SetWriteDeadline(time.Now().Add(closePatience))
	l.stir()
}

func (l *link) write() {
	buffer := make([]byte, 0, 2*writeBytes)
	for range l.wake {
		for {
			l.mutex.Lock()
			produced := l.session.Produce(buffer[:0], writeBytes)
			ending := l.ending
			l.mutex.Unlock()
			if len(produced.Bytes) == 0 {
				if ending {
					l.finish()
					return
				}
				break
			}
			_, err := l.conn.Write(produced.Bytes)
			l.wrote(produced, err)
			if err != nil {
				l.finish()
				return
			}
			if cap(produced.Bytes) <= 8*writeBytes {
				buffer = produced.Bytes // grown, and worth keeping
			}
		}
	}
}

// wrote tells the owner what the kernel has, or begins the end.
func (l *link) wrote(produced spdy.Produced, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, id := range produced.Opened {
		l.owner.opened(id) // after an error too: the kernel may have it
	}
	if err != nil {
		if !l.ending && !errors.Is(err, os.ErrDeadlineExceeded) {
			l.end(fmt.Errorf("spdyconn: writing to the peer: %w", err))
		}
		return
	}
	for _, id := range produced.Drained {
		l.owner.drained(id)
	}
	l.owner.changed()
}

// finish closes the connection.
func (l *link) finish() {
	_ = l.conn.Close() // the end was made already: how the kernel likes it changes nothing
	l.mutex.Lock()
	l.closed = true
	l.session.Close()
	l.owner.ended(l.cause)
	l.owner.changed()
	l.reading.Broadcast()
	l.mutex.Unlock()
	close(l.done)
}

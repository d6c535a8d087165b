package pool

import (
	"errors"
	"io"
	"sync"
)

// kicking is a body after whose end the pool looks for requests that wait.
type kicking struct {
	io.ReadCloser
	pool *Pool
}

func (k *kicking) Close() error {
	err := k.ReadCloser.Close()
	k.pool.kick()
	return err
}

// errOver is what an attempt gets of a request's body when the request goes another way.
var errOver = errors.New("the request is sent elsewhere")

// mostKept of a request's body, so that it can be sent again. A browser has all of it; what comes through here is not held for long.
const mostKept = 256 << 10

// A source is a request's body, which each attempt reads from its beginning.
type source struct {
	reader io.Reader

	mu      sync.Mutex
	changed sync.Cond
	kept    []byte
	gone    bool // it was too much to be kept: the attempt that reads it is the last
	reading bool
	err     error // what the reader said at last
}

func newSource(reader io.Reader) *source {
	s := &source{reader: reader}
	s.changed.L = &s.mu
	return s
}

// upload is a source as one attempt reads it. An attempt that was given up gets nothing any more.
type upload struct {
	*source
	attempt *attempt
	at      int
}

func (u *upload) Read(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for {
		switch {
		case u.attempt.isOver():
			return 0, errOver
		case u.at < len(u.kept):
			n := copy(p, u.kept[u.at:])
			u.at += n
			return n, nil
		case u.err != nil:
			return 0, u.err
		case u.reading:
			u.changed.Wait() // an attempt that was given up still reads: what it gets is for all
		default:
			if n, err := u.readMore(p); n > 0 && u.gone {
				return n, err
			}
		}
	}
}

// readMore reads from the browser, without the lock: into p at first, so that what is too much to be kept is there.
func (u *upload) readMore(p []byte) (int, error) {
	u.reading = true
	u.mu.Unlock()
	n, err := u.reader.Read(p)
	u.mu.Lock()
	u.reading, u.err = false, err
	if n > 0 && len(u.kept) >= mostKept && !u.attempt.isOver() {
		u.gone, u.kept, u.at = true, nil, 0
	}
	if !u.gone {
		u.kept = append(u.kept, p[:n]...)
	}
	u.changed.Broadcast()
	return n, err
}

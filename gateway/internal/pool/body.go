package pool

import (
	"errors"
	"io"
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

// upload is a request's body as one attempt reads it. An attempt that was given up gets nothing: what it took would be missing in the next one.
type upload struct {
	io.Reader
	attempt *attempt
}

func (u *upload) Read(p []byte) (int, error) {
	u.attempt.mu.Lock()
	over := u.attempt.over
	u.attempt.read = !over
	u.attempt.mu.Unlock()
	if over {
		return 0, errOver
	}
	return u.Reader.Read(p)
}

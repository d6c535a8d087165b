package spdyconn

import (
	"errors"
	"fmt"
	"io"
)

const uploadBytes = 64 << 10

// upload sends the request's body as fast as the wire takes it. There are two buffers: one is filled while the other is being sent.
func (x *clientExchange) upload(from io.Reader) {
	var buffers [2][]byte
	for turn := 0; ; turn++ {
		buffer := &buffers[turn%2]
		if *buffer == nil {
			*buffer = make([]byte, uploadBytes)
		}
		count, err := readSome(from, *buffer)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			x.cancel(fmt.Errorf("the request's body could not be read: %w", err))
			return
		}
		if turn > 0 && !x.waitUntilDrained() {
			return
		}
		x.client.do(func() { err = x.client.session.Write(x.id, (*buffer)[:count], last) })
		if err != nil || last {
			return // the stream ended meanwhile, or the body has
		}
	}
}

// readSome reads what there is, at least one byte.
func readSome(from io.Reader, buffer []byte) (int, error) {
	for {
		count, err := from.Read(buffer)
		if count > 0 || err != nil {
			return count, err
		}
	}
}

func (x *clientExchange) waitUntilDrained() bool {
	select {
	case <-x.drained:
		return true
	case <-x.over:
		return false
	}
}

// uploadDrained is called with the link's lock held, when all that was written was handed to the kernel.
func (x *clientExchange) uploadDrained() {
	select {
	case x.drained <- struct{}{}:
	default:
	}
	x.forgetIfOver()
}

package h3

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/quicvarint"

	"lanelab/gateway/internal/exchange"
)

// A call is one exchange.
type call struct {
	client   *Client
	ctx      context.Context
	request  *exchange.Request
	notes    exchange.Notes
	inFlight int // with this one, when it was begun

	stream *quic.Stream // nil: the server takes no more at once, or nothing of it was sent
	in     *bufio.Reader
	unhook func() bool
	heard  bool // a byte of the answer came
	ended  sync.Once
}

// send writes the request. With the client's lock, so that requests are on the wire in the order in which they were begun.
func (k *call) send(stream *quic.Stream) error {
	head, bytes, err := k.client.encode(k.request)
	if err == nil {
		_, err = stream.Write(head)
	}
	if err != nil {
		stream.CancelRead(codeCancelled)
		stream.CancelWrite(codeCancelled)
		return err
	}
	stream.Close()
	k.stream, k.in = stream, bufio.NewReader(stream)
	k.notes.Sent(uint32(stream.StreamID()), bytes, len(head), k.inFlight)
	k.unhook = context.AfterFunc(k.ctx, k.cancel)
	return nil
}

// encode makes the frame with a request's head, and counts its fields as `name: value\r\n` each. With the lock.
func (c *Client) encode(request *exchange.Request) (head []byte, bytes int, err error) {
	defer c.encoder.Close()
	defer c.block.Reset()
	fields := []exchange.Field{ // in Chromium's order
		{Name: ":method", Value: request.Method}, {Name: ":authority", Value: request.Authority},
		{Name: ":scheme", Value: request.Scheme}, {Name: ":path", Value: request.Path},
	}
	for _, field := range append(fields, request.Fields...) {
		bytes += len(field.Name) + len(field.Value) + 4
		if err := c.encoder.WriteField(qpack.HeaderField{Name: field.Name, Value: field.Value}); err != nil {
			return nil, 0, err
		}
	}
	head = quicvarint.Append(quicvarint.Append(nil, frameHeaders), uint64(c.block.Len()))
	return append(head, c.block.Bytes()...), bytes, nil
}

func (k *call) cancel() {
	k.stream.CancelRead(codeCancelled)
	k.stream.CancelWrite(codeCancelled)
}

// wait returns when the head of the answer has come.
func (k *call) wait(err error) (*exchange.Response, error) {
	if err == nil && k.stream == nil {
		err = k.sendLater()
	}
	var response *exchange.Response
	if err == nil {
		response, err = k.answer()
	}
	if err != nil {
		err = k.failed(err)
		k.end()
		return nil, err
	}
	return response, nil
}

// sendLater waits until the server takes another stream.
func (k *call) sendLater() error {
	stream, err := k.client.conn.OpenStreamSync(k.ctx)
	if err != nil {
		return err
	}
	k.client.mu.Lock()
	defer k.client.mu.Unlock()
	return k.send(stream)
}

// answer reads up to the final head.
func (k *call) answer() (*exchange.Response, error) {
	for range exchange.MostInterim + 1 {
		f, err := k.next()
		if err != nil {
			return nil, cutShort(err)
		}
		if f.kind != frameHeaders {
			return nil, k.outOfPlace(f)
		}
		head, err := k.head(f)
		if err != nil {
			return nil, err
		}
		if head.status >= 200 {
			k.notes.FirstByte(head.bytes, int(f.wire))
			return &exchange.Response{Status: head.status, Fields: head.fields, Body: &body{call: k, wanted: head.size}}, nil
		}
		if k.request.Informed != nil {
			k.request.Informed(head.status, head.fields)
		}
	}
	return nil, exchange.ErrTooManyInterim
}

func (k *call) next() (frame, error) {
	f, err := nextFrame(k.in)
	k.heard = k.heard || err == nil
	if errors.Is(err, errOutOfPlace) {
		return f, k.outOfPlace(f)
	}
	return f, err
}

// outOfPlace ends the connection: who sends such a frame speaks something else.
func (k *call) outOfPlace(f frame) error {
	err := fmt.Errorf("%w: type %d within an answer", errOutOfPlace, f.kind)
	k.client.breakOff(codeUnexpectedFrame, err.Error())
	return err
}

// An answerHead is what a HEADERS frame says.
type answerHead struct {
	status int
	fields []exchange.Field
	bytes  int   // as `name: value\r\n` each
	size   int64 // of the body; -1: it does not say
}

func (k *call) head(f frame) (*answerHead, error) {
	block, err := k.block(f)
	if err != nil {
		return nil, err
	}
	return parseHead(block)
}

func (k *call) block(f frame) ([]byte, error) {
	if f.size > mostHeaderBytes {
		return nil, fmt.Errorf("a head of %d bytes, more than %d", f.size, mostHeaderBytes)
	}
	block := make([]byte, f.size)
	_, err := io.ReadFull(k.in, block)
	return block, cutShort(err)
}

// parseHead decodes the head of an answer, and looks for what must not be in one (RFC 9114, section 4.2 and 4.3).
func parseHead(block []byte) (*answerHead, error) {
	head := &answerHead{size: -1}
	decode := qpack.NewDecoder().Decode(block)
	for {
		field, err := decode()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("a head that cannot be decoded: %w", err)
		}
		head.bytes += len(field.Name) + len(field.Value) + 4
		if err := head.take(field); err != nil {
			return nil, err
		}
	}
	if head.status == 0 {
		return nil, errors.New("an answer without :status")
	}
	return head, nil
}

var ofConnections = []string{"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"}

func (h *answerHead) take(field qpack.HeaderField) error {
	switch {
	case field.Name == ":status" && h.status == 0 && len(h.fields) == 0:
		status, err := strconv.Atoi(field.Value)
		if err != nil || len(field.Value) != 3 || status < 100 || status == 101 {
			return fmt.Errorf("an answer with :status %q", field.Value)
		}
		h.status = status
		return nil
	case field.Name == "" || strings.HasPrefix(field.Name, ":") || field.Name != strings.ToLower(field.Name) || slices.Contains(ofConnections, field.Name):
		return fmt.Errorf("%q has no place in an answer by HTTP/3", field.Name)
	case field.Name == "content-length":
		size, err := strconv.ParseInt(field.Value, 10, 64)
		if err != nil || size < 0 || (h.size >= 0 && h.size != size) {
			return fmt.Errorf("an answer with content-length %q", field.Value)
		}
		h.size = size
	}
	h.fields = append(h.fields, exchange.Field{Name: field.Name, Value: field.Value})
	return nil
}

// end is when nothing more comes of it, whole or not.
func (k *call) end() {
	k.ended.Do(func() {
		if k.stream != nil {
			k.unhook()
			k.stream.CancelRead(codeCancelled) // of a stream that has ended nothing is told
		}
		k.client.over()
	})
}

// failed tells whether the server may have acted on the request.
func (k *call) failed(err error) error {
	var reset *quic.StreamError
	switch {
	case k.ctx.Err() != nil:
		return k.ctx.Err()
	case k.stream == nil:
		return fmt.Errorf("%w: %w", exchange.ErrNotSent, err)
	case errors.As(err, &reset) && reset.Remote && reset.ErrorCode == codeRejected:
		return fmt.Errorf("%w: %w", exchange.ErrRefused, err)
	case !k.heard && endsConnection(err):
		return fmt.Errorf("%w: %w", exchange.ErrNotProcessed, err)
	}
	return err
}

// endsConnection tells whether a stream failed with its connection. One that was silent for too long may have been asked, and be at work.
func endsConnection(err error) bool {
	var (
		application *quic.ApplicationError
		transport   *quic.TransportError
		stateless   *quic.StatelessResetError
	)
	return errors.As(err, &application) || errors.As(err, &transport) || errors.As(err, &stateless)
}

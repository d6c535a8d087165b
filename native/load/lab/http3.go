package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"lanelab/gateway/internal/exchange"
	h3conn "lanelab/gateway/internal/h3"
)

var clientOfHTTP3 = &http3.Transport{DisableCompression: true}

// overQUIC is a connection with a UDP socket of its own. Its handshake is one, of QUIC and TLS: k6 is told of it as connecting.
func (c *connector) overQUIC(ctx context.Context, host string) (carrier, error) {
	config := c.tls.Clone()
	config.ServerName = host
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart("udp", c.address)
	}
	began := time.Now()
	conn, err := c.dialQUIC(ctx, config)
	if trace != nil && trace.ConnectDone != nil {
		trace.ConnectDone("udp", c.address, err)
	}
	if err != nil {
		return nil, cause(ctx, err)
	}
	c.recorder.connected(time.Since(began))
	if err := h3conn.Require(conn); err != nil {
		return nil, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return &quicConn{conn: conn, client: clientOfHTTP3.NewClientConn(conn), tls: conn.ConnectionState().TLS}, nil
}

func (c *connector) dialQUIC(ctx context.Context, config *tls.Config) (*quic.Conn, error) {
	remote, err := net.ResolveUDPAddr("udp", c.address)
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4zero})
	if err != nil {
		return nil, err
	}
	return h3conn.Dial(ctx, socket, remote, config, c.settings.timeout())
}

// quicConn is the carrier of HTTP/3.
type quicConn struct {
	conn    *quic.Conn
	client  *http3.ClientConn
	tls     tls.ConnectionState
	leaving atomic.Bool // a request could not begin: the server takes no more, or the connection has ended
}

// roundTrip implements carrier. It waits for room where the server allows no more streams at once.
func (q *quicConn) roundTrip(request *http.Request, _ *httptrace.ClientTrace) (*http.Response, error) {
	var begun, heard atomic.Bool
	watched := &httptrace.ClientTrace{
		WroteHeaders:         func() { begun.Store(true) },
		GotFirstResponseByte: func() { heard.Store(true) },
	}
	asked := request.WithContext(httptrace.WithClientTrace(request.Context(), watched))
	if request.Body == http.NoBody {
		asked.Body = nil
	} else if request.Body != nil && request.GetBody != nil { // it may be sent again
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		asked.Body = body
	}
	response, err := q.client.RoundTrip(asked)
	if err != nil {
		return nil, q.failed(request.Context(), err, begun.Load(), heard.Load())
	}
	response.Request = request
	return response, nil
}

// failed tells whether the server may have acted on a request.
func (q *quicConn) failed(ctx context.Context, err error, begun, heard bool) error {
	var told *http3.Error
	var silent *quic.IdleTimeoutError
	ended := context.Cause(q.conn.Context())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !begun:
		q.leaving.Store(true)
		return fmt.Errorf("%w: %w", exchange.ErrNotSent, err)
	case errors.As(err, &told) && told.ErrorCode == http3.ErrCodeRequestRejected:
		return fmt.Errorf("%w: %w", exchange.ErrRefused, err)
	case !heard && ended != nil && !errors.As(ended, &silent):
		return fmt.Errorf("%w: %w", exchange.ErrNotProcessed, err)
	}
	return err
}

func (q *quicConn) over() bool            { return q.leaving.Load() || q.conn.Context().Err() != nil }
func (q *quicConn) done() <-chan struct{} { return q.conn.Context().Done() }
func (q *quicConn) close() {
	_ = q.conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
}
func (q *quicConn) seen() net.Conn                { return ends{conn: q.conn} }
func (q *quicConn) secured() *tls.ConnectionState { return &q.tls }

// ends are all that k6 asks of a connection.
type ends struct {
	net.Conn
	conn *quic.Conn
}

func (e ends) LocalAddr() net.Addr  { return e.conn.LocalAddr() }
func (e ends) RemoteAddr() net.Addr { return e.conn.RemoteAddr() }

// kindOfQUIC tells why a request over QUIC failed; "": for no reason of QUIC's.
func kindOfQUIC(err error) string {
	var (
		stream  *http3.Error
		ended   *quic.ApplicationError
		reset   *quic.StatelessResetError
		version *quic.VersionNegotiationError
		wire    *quic.TransportError
		cut     *quic.StreamError
	)
	switch {
	case errors.As(err, &reset):
		return kindReset
	case errors.As(err, &wire) && wire.ErrorCode.IsCryptoError():
		return kindTLS
	case errors.As(err, &wire) && wire.ErrorCode == quic.ConnectionRefused:
		return kindRefused
	case errors.As(err, &stream) && stream.ErrorCode == http3.ErrCodeNoError,
		errors.As(err, &ended) && ended.ErrorCode == quic.ApplicationErrorCode(http3.ErrCodeNoError),
		errors.As(err, &wire) && wire.ErrorCode == quic.NoError:
		return kindClosed
	case errors.As(err, &stream), errors.As(err, &ended), errors.As(err, &wire), errors.As(err, &cut), errors.As(err, &version):
		return kindProtocol
	}
	return ""
}

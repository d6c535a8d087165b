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
)

// What Chromium allows servers to send ahead, and how long a connection may be silent there.
const (
	quicStreamWindow     = 6 << 20
	quicConnectionWindow = 15 << 20
	quicSilence          = 30 * time.Second
)

var clientOfHTTP3 = &http3.Transport{DisableCompression: true}

// quicConfig: no early data (Dial sends none), and no packets that nobody asked for.
func (s *Settings) quicConfig() *quic.Config {
	return &quic.Config{
		Versions: []quic.Version{quic.Version1}, HandshakeIdleTimeout: s.timeout(), MaxIdleTimeout: quicSilence, MaxIncomingStreams: -1,
		InitialStreamReceiveWindow: quicStreamWindow, MaxStreamReceiveWindow: quicStreamWindow,
		InitialConnectionReceiveWindow: quicConnectionWindow, MaxConnectionReceiveWindow: quicConnectionWindow,
	}
}

// overQUIC is a connection with a UDP socket of its own. Its handshake is one, of QUIC and TLS: k6 is told of it as connecting.
func (c *connector) overQUIC(ctx context.Context, host string) (carrier, error) {
	config := c.tls.Clone()
	config.ServerName = host
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.ConnectStart != nil {
		trace.ConnectStart("udp", c.address)
	}
	began := time.Now()
	conn, err := quic.DialAddr(ctx, c.address, config, c.settings.quicConfig())
	if trace != nil && trace.ConnectDone != nil {
		trace.ConnectDone("udp", c.address, err)
	}
	if err != nil {
		return nil, cause(ctx, err)
	}
	c.recorder.connected(time.Since(began))
	state := conn.ConnectionState()
	if state.TLS.NegotiatedProtocol != h3 || state.Used0RTT {
		closeQUIC(conn)
		return nil, fmt.Errorf("%w: asked for %s by ALPN without early data, it chose %q (early: %v)", errProtocol, h3, state.TLS.NegotiatedProtocol, state.Used0RTT)
	}
	return &quicConn{conn: conn, client: clientOfHTTP3.NewClientConn(conn), tls: state.TLS}, nil
}

func closeQUIC(conn *quic.Conn) {
	_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
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

func (q *quicConn) over() bool                    { return q.leaving.Load() || q.conn.Context().Err() != nil }
func (q *quicConn) done() <-chan struct{}         { return q.conn.Context().Done() }
func (q *quicConn) close()                        { closeQUIC(q.conn) }
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

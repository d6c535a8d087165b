package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
)

// Kinds of errors. A status from 400 on is "status 404".
const (
	kindTimeout  = "timeout"
	kindBody     = "body"     // it came to an end, and is not as long as it should be
	kindRefused  = "refused"  // nobody listens; QUIC: the server takes no connection
	kindReset    = "reset"    // by TCP, or QUIC without state
	kindClosed   = "closed"   // the connection ended before the answer did
	kindName     = "name"     // it has no address
	kindTLS      = "tls"      // no handshake
	kindProtocol = "protocol" // something was said that is not in it, or another protocol was chosen
	kindGoAway   = "goaway"   // the server takes no more, again and again
	kindPorts    = "ports"    // this machine has none left
	kindFiles    = "files"    // likewise
	kindOther    = "other"
)

var errProtocol = errors.New("the server speaks another protocol")

var errnos = map[syscall.Errno]string{
	syscall.ECONNREFUSED: kindRefused, syscall.ECONNRESET: kindReset, syscall.EPIPE: kindReset, syscall.ETIMEDOUT: kindTimeout,
	syscall.EADDRNOTAVAIL: kindPorts, syscall.EMFILE: kindFiles, syscall.ENFILE: kindFiles,
}

// kindOf tells why a request failed.
func kindOf(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) && errnos[errno] != "" {
		return errnos[errno]
	}
	var timed net.Error
	var name *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timed) && timed.Timeout():
		return kindTimeout
	case errors.As(err, &name):
		return kindName
	case isTLS(err):
		return kindTLS
	case errors.Is(err, errProtocol) || isProtocol(err):
		return kindProtocol
	case errors.Is(err, exchange.ErrRefused):
		return kindGoAway
	case kindOfQUIC(err) != "":
		return kindOfQUIC(err)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, exchange.ErrNotProcessed):
		return kindClosed
	}
	return kindOther
}

func isTLS(err error) bool {
	var (
		alert   tls.AlertError
		record  tls.RecordHeaderError
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		said    *net.OpError
	)
	if errors.As(err, &said) && (said.Op == "remote error" || said.Op == "local error") {
		return true // an alert, as crypto/tls tells of it
	}
	return errors.As(err, &alert) || errors.As(err, &record) || errors.As(err, &verify) || errors.As(err, &unknown)
}

func isProtocol(err error) bool {
	var session *spdy.SessionError
	var stream *spdy.StreamError
	return errors.As(err, &session) || errors.As(err, &stream)
}

// A wrongBody is one that is not as long as the object is.
type wrongBody struct{ got, want int64 }

func (e *wrongBody) Error() string {
	return fmt.Sprintf("the body has %d bytes, not %d", e.got, e.want)
}

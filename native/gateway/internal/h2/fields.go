package h2

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"

	"lanelab/gateway/internal/exchange"
)

// A head's parts. The framer has checked names, values and the order of pseudo-header fields; what else breaks the rules of RFC 9113,
// section 8, must not reach the other side either, where it may mean something.
type head struct {
	method, scheme, authority, path, status string
	fields                                  []exchange.Field
}

func parseHead(all []exchange.Field) (*head, error) {
	h := &head{}
	pseudo := map[string]*string{
		":method": &h.method, ":scheme": &h.scheme, ":authority": &h.authority, ":path": &h.path, ":status": &h.status,
	}
	for i, field := range all {
		place, known := pseudo[field.Name]
		if !known {
			h.fields = all[i:]
			break
		}
		*place = field.Value
	}
	return h, checkFields(h.fields)
}

// checkFields: what belongs to connections has no place in HTTP/2, and a pseudo-header field none among others, nor in trailers.
func checkFields(fields []exchange.Field) error {
	for _, field := range fields {
		switch field.Name {
		case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
			return fmt.Errorf("%q has no place in HTTP/2", field.Name)
		case "te":
			if field.Value != "trailers" {
				return errors.New("te must be `trailers` in HTTP/2")
			}
		}
		if strings.HasPrefix(field.Name, ":") {
			return fmt.Errorf("%q is unknown, or out of place", field.Name)
		}
	}
	return nil
}

func (h *head) checkRequest() error {
	switch {
	case h.method == "" || h.scheme == "" || h.path == "" || h.status != "":
		return errors.New("a request needs :method, :scheme and :path")
	case !httpguts.ValidHeaderFieldName(h.method):
		return fmt.Errorf("%q is no method", h.method)
	case h.path[0] != '/' && !(h.path == "*" && h.method == "OPTIONS"):
		return fmt.Errorf("%q is no path", h.path)
	case strings.ContainsFunc(h.path, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("a path with blanks")
	}
	return nil
}

// checkResponse returns the status.
func (h *head) checkResponse() (int, error) {
	if len(h.status) != 3 || h.method != "" || h.path != "" {
		return 0, fmt.Errorf("a response with :status %q", h.status)
	}
	status := 0
	for _, digit := range []byte(h.status) {
		if digit < '0' || digit > '9' {
			return 0, fmt.Errorf("a response with :status %q", h.status)
		}
		status = status*10 + int(digit-'0')
	}
	if status < 100 {
		return 0, fmt.Errorf("a response with :status %q", h.status)
	}
	return status, nil
}

package h2

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"

	"lanelab/gateway/internal/exchange"
)

// A head's parts, after the rules of RFC 9113, section 8. What breaks them must not reach the other side: in another protocol a line break
// in a value would be another field.
type head struct {
	method, scheme, authority, path, status string
	fields                                  []exchange.Field
}

func parseHead(all []exchange.Field) (*head, error) {
	h := &head{}
	pseudo := map[string]*string{
		":method": &h.method, ":scheme": &h.scheme, ":authority": &h.authority, ":path": &h.path, ":status": &h.status,
	}
	count := 0
	for i, field := range all {
		if !httpguts.ValidHeaderFieldValue(field.Value) {
			return nil, fmt.Errorf("the field %q has a value that cannot be one", field.Name)
		}
		if !strings.HasPrefix(field.Name, ":") {
			if err := checkField(field); err != nil {
				return nil, err
			}
			continue
		}
		place, known := pseudo[field.Name]
		if !known || i != count || *place != "" {
			return nil, fmt.Errorf("%q: unknown, twice, or behind other fields", field.Name)
		}
		*place = field.Value
		count++
	}
	h.fields = all[count:]
	return h, nil
}

func checkField(field exchange.Field) error {
	if !httpguts.ValidHeaderFieldName(field.Name) || strings.ToLower(field.Name) != field.Name {
		return fmt.Errorf("%q is no name of a field", field.Name)
	}
	switch field.Name {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		return fmt.Errorf("%q has no place in HTTP/2", field.Name)
	case "te":
		if field.Value != "trailers" {
			return errors.New("te must be `trailers` in HTTP/2")
		}
	}
	return nil
}

// checkTrailers: trailers are fields without pseudo-header fields.
func checkTrailers(fields []exchange.Field) error {
	for _, field := range fields {
		if err := checkField(field); err != nil {
			return err
		}
		if !httpguts.ValidHeaderFieldValue(field.Value) {
			return fmt.Errorf("the trailer %q has a value that cannot be one", field.Name)
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

package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/http/httpguts"

	"lanelab/gateway/internal/exchange"
)

// mostHeadBytes of one head. Chromium's limit.
const mostHeadBytes = 256 << 10

// A head of an answer.
type head struct {
	minor  int // of the version
	status int
	fields []exchange.Field
	bytes  int // on the wire
	length int64
}

// framing is how an answer's body ends.
type framing int

const (
	none framing = iota
	counted
	chunked
	toTheEnd
)

var errHeadTooLarge = fmt.Errorf("a head of more than %d bytes", mostHeadBytes)

// readLine reads a line without its end. A lone LF ends one too, as every client takes it.
func readLine(reader *bufio.Reader, left *int) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		if *left -= len(part); *left < 0 {
			return nil, errHeadTooLarge
		}
		if err == nil && line == nil {
			return trimEnd(part), nil
		}
		line = append(line, part...)
		if err == nil {
			return trimEnd(line), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
}

func readHead(reader *bufio.Reader) (*head, error) {
	left := mostHeadBytes
	line, err := readLine(reader, &left)
	if err != nil {
		return nil, err
	}
	h := &head{}
	if err := h.parseStatus(string(line)); err != nil {
		return nil, err
	}
	h.fields, err = readFields(reader, &left)
	h.bytes = mostHeadBytes - left
	return h, err
}

func (h *head) parseStatus(line string) error {
	wrong := fmt.Errorf("%.100q is no status line of HTTP/1", line)
	if len(line) < 12 || !strings.HasPrefix(line, "HTTP/1.") || line[8] != ' ' || (len(line) > 12 && line[12] != ' ') {
		return wrong
	}
	if h.minor = int(line[7] - '0'); h.minor < 0 || h.minor > 9 {
		return wrong
	}
	for _, digit := range []byte(line[9:12]) {
		if digit < '0' || digit > '9' {
			return wrong
		}
		h.status = h.status*10 + int(digit-'0')
	}
	if h.status < 100 {
		return wrong
	}
	return nil
}

// readFields reads fields up to the empty line: those of a head, or trailers.
func readFields(reader *bufio.Reader, left *int) ([]exchange.Field, error) {
	fields := make([]exchange.Field, 0, 16)
	for {
		line, err := readLine(reader, left)
		switch {
		case err != nil:
			return nil, err
		case len(line) == 0:
			return fields, nil
		case (line[0] == ' ' || line[0] == '\t') && len(fields) > 0:
			last := &fields[len(fields)-1] // a folded line: obsolete, still seen
			last.Value = strings.TrimSpace(last.Value + " " + strings.Trim(string(line), " \t"))
			if !httpguts.ValidHeaderFieldValue(last.Value) {
				return nil, fmt.Errorf("the field %q has a value that cannot be one", last.Name)
			}
			continue
		}
		field, err := parseField(string(line))
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
	}
}

func parseField(line string) (exchange.Field, error) {
	name, value, found := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	if !found || !httpguts.ValidHeaderFieldName(name) {
		return exchange.Field{}, fmt.Errorf("%.100q is no header field", line)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return exchange.Field{}, fmt.Errorf("the field %q has a value that cannot be one", name)
	}
	return exchange.Field{Name: strings.ToLower(name), Value: value}, nil
}

func (h *head) has(name, token string) bool {
	for _, field := range h.fields {
		if field.Name == name && httpguts.HeaderValuesContainsToken([]string{field.Value}, token) {
			return true
		}
	}
	return false
}

// keepsConnection is what the server says about the connection.
func (h *head) keepsConnection() bool {
	if h.has("connection", "close") {
		return false
	}
	return h.minor >= 1 || h.has("connection", "keep-alive")
}

// framing finds out how the body ends. Two lengths that disagree end the connection: where one answer ends and the next begins is not known.
func (h *head) framing(method string) (framing, error) {
	h.length = -1
	coded := false
	for _, field := range h.fields {
		switch field.Name {
		case "transfer-encoding":
			if !strings.EqualFold(field.Value, "chunked") && !strings.EqualFold(field.Value, "identity") {
				return none, fmt.Errorf("transfer-encoding: %q is not known", field.Value)
			}
			coded = coded || strings.EqualFold(field.Value, "chunked")
		case "content-length":
			for value := range strings.SplitSeq(field.Value, ",") {
				length, err := parseLength(strings.Trim(value, " \t"))
				if err != nil {
					return none, err
				}
				if h.length >= 0 && h.length != length {
					return none, fmt.Errorf("content-length: %d and %d at the same time", h.length, length)
				}
				h.length = length
			}
		}
	}
	switch {
	case method == "HEAD" || h.status == 204 || h.status == 304 || h.status < 200:
		return none, nil
	case coded:
		return chunked, nil
	case h.length == 0:
		return none, nil
	case h.length > 0:
		return counted, nil
	}
	return toTheEnd, nil
}

// endToEnd are the fields that are not about this connection.
func (h *head) endToEnd() []exchange.Field {
	var named []string
	for _, field := range h.fields {
		if field.Name == "connection" {
			for token := range strings.SplitSeq(strings.ToLower(field.Value), ",") {
				named = append(named, strings.TrimSpace(token))
			}
		}
	}
	kept := make([]exchange.Field, 0, len(h.fields))
	for _, field := range h.fields {
		if !hopByHop[field.Name] && !contains(named, field.Name) {
			kept = append(kept, field)
		}
	}
	return kept
}

var hopByHop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "transfer-encoding": true, "upgrade": true, "te": true,
}

func contains(names []string, name string) bool {
	for _, other := range names {
		if other == name {
			return true
		}
	}
	return false
}

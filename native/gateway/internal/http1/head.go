package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"lanelab/gateway/internal/exchange"
)

// mostHeadBytes of one head. Chromium's limit.
const mostHeadBytes = 256 << 10

// A head of an answer.
type head struct {
	minor   int // of the version
	status  int
	fields  []exchange.Field
	bytes   int   // on the wire
	length  int64 // of the body; -1: not said
	chunked bool
}

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
	parts := statusLine.FindSubmatch(line)
	if parts == nil {
		return nil, fmt.Errorf("%.100q is no status line of HTTP/1", line)
	}
	h := &head{length: -1}
	h.minor, _ = strconv.Atoi(string(parts[1]))
	h.status, _ = strconv.Atoi(string(parts[2]))
	h.fields, err = readFields(reader, &left)
	h.bytes = mostHeadBytes - left
	return h, err
}

var statusLine = regexp.MustCompile(`^HTTP/1\.([0-9]) ([1-9][0-9]{2})(?: |$)`)

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

// list is what all fields of a name say, which are lists.
func (h *head) list(name string) []string {
	var items []string
	for _, field := range h.fields {
		if field.Name == name {
			for item := range strings.SplitSeq(field.Value, ",") {
				items = append(items, strings.ToLower(strings.Trim(item, " \t")))
			}
		}
	}
	return items
}

// keepsConnection is what the server says about the connection.
func (h *head) keepsConnection() bool {
	said := h.list("connection")
	return !slices.Contains(said, "close") && (h.minor >= 1 || slices.Contains(said, "keep-alive"))
}

// frame finds out how the body ends (RFC 9112, section 6.3). Where two readers could see its end in two places there is no answer: what is measured
// must be what a browser would have got.
func (h *head) frame() error {
	switch codings := h.list("transfer-encoding"); {
	case codings == nil:
	case h.minor == 0 || len(codings) != 1 || codings[0] != "chunked":
		return fmt.Errorf("transfer-encoding: %.100q in HTTP/1.%d is not known", codings, h.minor)
	default:
		h.chunked = true // and a length is not true, or of no use
		return nil
	}
	lengths := h.list("content-length")
	for _, value := range lengths {
		length, err := strconv.ParseUint(value, 10, 63)
		if err != nil || value != lengths[0] {
			return fmt.Errorf("content-length: %.100q is not one number", lengths)
		}
		h.length = int64(length)
	}
	return nil
}

// body is what reads the answer's body; http.NoBody where it has none. lasts: the connection may go on after it.
func (h *head) body(method string, reader *bufio.Reader) (from io.Reader, lasts bool) {
	switch {
	case method == "HEAD" || h.status == 204 || h.status == 304 || h.length == 0:
		return http.NoBody, true
	case h.chunked:
		return &chunks{reader: reader}, true
	case h.length > 0:
		return &counted{reader, h.length}, true
	}
	return reader, false
}

// endToEnd are the fields that are not about this connection. The length is said once, and only where it is known.
func (h *head) endToEnd() []exchange.Field {
	named, said := h.list("connection"), h.length < 0
	kept := make([]exchange.Field, 0, len(h.fields))
	for _, field := range h.fields {
		switch {
		case hopByHop[field.Name] || slices.Contains(named, field.Name):
		case field.Name != "content-length":
			kept = append(kept, field)
		case !said:
			kept, said = append(kept, exchange.Field{Name: field.Name, Value: strconv.FormatInt(h.length, 10)}), true
		}
	}
	return kept
}

var hopByHop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "transfer-encoding": true, "upgrade": true, "te": true,
}

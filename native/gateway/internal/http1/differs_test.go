package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

// An answer as one of two readers has it.
type read struct {
	status int
	body   []byte
	fields map[string][]string
}

// byNetHTTP reads an answer as net/http does.
func byNetHTTP(method string, answer []byte) (*read, error) {
	reader := bufio.NewReader(bytes.NewReader(answer))
	for range 100 {
		response, err := http.ReadResponse(reader, &http.Request{Method: method})
		switch {
		case err != nil:
			return nil, err
		case response.StatusCode == http.StatusSwitchingProtocols:
			return nil, errors.New("another protocol")
		case response.StatusCode < 200:
			continue
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		r := &read{response.StatusCode, body, map[string][]string{}}
		for name, values := range response.Header {
			for _, value := range values { // of a folded line that is blank net/http keeps the blank
				r.fields[strings.ToLower(name)] = append(r.fields[strings.ToLower(name)], strings.TrimRight(value, " "))
			}
		}
		return r, nil
	}
	return nil, errors.New("no final answer")
}

func byUs(t *testing.T, method string, answer []byte) (*read, error) {
	c := NewClient(&deaf{reader: bytes.NewReader(answer), written: make(chan struct{})}, oneAtATime)
	defer c.Close()
	request := get("/")
	request.Method = method
	response, err := c.Start(t.Context(), request, testkit.NewNotes(t))()
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	r := &read{response.Status, body, map[string][]string{}}
	for _, field := range response.Fields {
		r.fields[field.Name] = append(r.fields[field.Name], field.Value)
	}
	return r, err
}

// netHTTPsOwn are fields that net/http takes away or adds, and those that are not passed on.
func netHTTPsOwn(name string, head *read) bool {
	named := strings.ToLower(strings.Join(head.fields["connection"], ","))
	return hopByHop[name] || name == "trailer" || name == "content-length" || name == "cache-control" || strings.Contains(named, name)
}

// FuzzOfOneMind: an answer that we and net/http both take is the same to both.
func FuzzOfOneMind(f *testing.F) {
	for _, seed := range []string{
		ok("hello"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n3;x\r\nabc\r\n0\r\nA: b\r\n\r\n", "HTTP/1.0 304 x\n\n",
		"HTTP/1.1 103 \r\nLink: a\r\n\r\nHTTP/1.1 200 \r\nConnection: close\r\n\r\nrest", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nX: c\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nX: a\r\n \r\n\r\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, answer []byte, head bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		ours, err := byUs(t, method, answer)
		theirs, theirErr := byNetHTTP(method, answer)
		if err != nil || theirErr != nil {
			if errors.Is(err, exchange.ErrNotProcessed) && len(answer) > 0 {
				t.Errorf("what was answered would be sent again: %v", err)
			}
			return
		}
		if ours.status != theirs.status || !bytes.Equal(ours.body, theirs.body) {
			t.Errorf("%d %q, net/http has %d %q", ours.status, ours.body, theirs.status, theirs.body)
		}
		for name, values := range theirs.fields {
			if !netHTTPsOwn(name, theirs) && !slices.Equal(ours.fields[name], values) {
				t.Errorf("%s: %q, net/http has %q", name, ours.fields[name], values)
			}
		}
	})
}

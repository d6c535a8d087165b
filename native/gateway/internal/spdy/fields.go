package spdy

import (
	"fmt"
	"strconv"
	"strings"
)

// What a request's and a response's parts are called: SPDY/3 put a colon before the names, and calls the url a path.
type pseudoNames struct{ method, path, version, host, scheme, status string }

func (v Version) pseudo() pseudoNames {
	if v == V2 {
		return pseudoNames{"method", "url", "version", "host", "scheme", "status"}
	}
	return pseudoNames{":method", ":path", ":version", ":host", ":scheme", ":status"}
}

// hopByHop are fields that the drafts forbid: they belong to connections.
var hopByHop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-connection": true, "transfer-encoding": true, "host": true,
}

// RequestHead is what a request's header block says.
type RequestHead struct {
	Method, Scheme, Host, Path string
	Fields                     []Field
}

// RequestFields is a request's header block. SPDY/2's url is the path alone, as Chromium sent it to origins (the draft wants a whole URL, or so).
func (v Version) RequestFields(request RequestHead) []Field {
	names := v.pseudo()
	fields := make([]Field, 0, len(request.Fields)+5)
	fields = append(fields,
		Field{Name: names.method, Value: request.Method}, Field{Name: names.path, Value: request.Path},
		Field{Name: names.version, Value: "HTTP/1.1"}, Field{Name: names.host, Value: request.Host}, Field{Name: names.scheme, Value: request.Scheme})
	return v.appendAllowed(fields, request.Fields)
}

// ResponseFields is a response's header block.
func (v Version) ResponseFields(status int, fields []Field) []Field {
	names := v.pseudo()
	all := make([]Field, 0, len(fields)+2)
	all = append(all, Field{Name: names.status, Value: strconv.Itoa(status)}, Field{Name: names.version, Value: "HTTP/1.1"})
	return v.appendAllowed(all, fields)
}

// ParsePush takes the header block of a pushed stream apart: what it answers, and the fields of its response as far as they are there.
func (v Version) ParsePush(all []Field) (request RequestHead, err error) {
	parts, _ := v.split(all)
	if v == V2 {
		scheme, rest, whole := strings.Cut(parts["url"], "://")
		slash := strings.IndexByte(rest+"/", '/')
		request = RequestHead{Scheme: scheme, Host: rest[:slash], Path: rest[slash:]}
		if !whole {
			return request, fmt.Errorf("the pushed stream's url is %q: no address", parts["url"])
		}
	} else {
		request = RequestHead{Scheme: parts[":scheme"], Host: parts[":host"], Path: parts[":path"]}
	}
	request.Method = parts[v.pseudo().method]
	if request.Method == "" {
		request.Method = "GET" // the drafts let it be left out: nothing else is pushed
	}
	if request.Scheme == "" || request.Host == "" || !strings.HasPrefix(request.Path, "/") {
		return request, fmt.Errorf("the pushed stream does not say what it answers: %q, %q, %q", request.Scheme, request.Host, request.Path)
	}
	return request, nil
}

// Answers says whether a header block has a response's status in it.
func (v Version) Answers(all []Field) bool {
	parts, _ := v.split(all)
	return parts[v.pseudo().status] != ""
}

// PushFields is the header block of a stream that is pushed: what would have been asked for, and the head of its response.
func (v Version) PushFields(request RequestHead, path string, fields []Field) []Field {
	all := v.ResponseFields(200, fields)
	if v == V2 {
		return append(all, Field{Name: "url", Value: request.Scheme + "://" + request.Host + path})
	}
	return append(all, Field{Name: ":scheme", Value: request.Scheme}, Field{Name: ":host", Value: request.Host}, Field{Name: ":path", Value: path})
}

// appendAllowed leaves out what may not be sent, and what would be mistaken for a part of the request line.
func (v Version) appendAllowed(all, fields []Field) []Field {
	for _, field := range fields {
		name := strings.ToLower(field.Name)
		if !hopByHop[name] && !v.isPseudo(name) && name != "" {
			all = append(all, field)
		}
	}
	return all
}

func (v Version) isPseudo(name string) bool {
	if v != V2 {
		return strings.HasPrefix(name, ":")
	}
	switch name {
	case "method", "url", "version", "host", "scheme", "status":
		return true
	}
	return false
}

// ParseResponse takes a response's header block apart.
func (v Version) ParseResponse(all []Field) (status int, fields []Field, err error) {
	parts, fields := v.split(all)
	text := parts[v.pseudo().status]
	digits, _, _ := strings.Cut(text, " ") // "200 OK" is allowed
	status, err = strconv.Atoi(digits)
	if err != nil || status < 200 || status > 999 { // SPDY has no interim responses: what follows a reply is its body
		return 0, nil, fmt.Errorf("the response's %s is %q: no number from 200 to 999", v.pseudo().status, text)
	}
	return status, fields, nil
}

// ParseRequest takes a request's header block apart.
func (v Version) ParseRequest(all []Field) (RequestHead, error) {
	parts, fields := v.split(all)
	names := v.pseudo()
	request := RequestHead{Method: parts[names.method], Scheme: parts[names.scheme], Host: parts[names.host], Path: parts[names.path], Fields: fields}
	for _, name := range []string{names.method, names.path, names.version, names.host, names.scheme} {
		if parts[name] == "" {
			return request, fmt.Errorf("the request has no %s", name)
		}
	}
	return request, nil
}

// WithoutPseudo leaves out of a header block what is not a field of HTTP's.
func (v Version) WithoutPseudo(all []Field) []Field {
	_, fields := v.split(all)
	return fields
}

func (v Version) split(all []Field) (parts map[string]string, fields []Field) {
	parts = make(map[string]string, 5)
	fields = make([]Field, 0, len(all))
	for _, field := range all {
		switch {
		case v.isPseudo(field.Name):
			parts[field.Name] = field.Value
		case !hopByHop[field.Name]:
			fields = append(fields, field)
		}
	}
	return parts, fields
}

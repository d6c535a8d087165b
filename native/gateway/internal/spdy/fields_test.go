package spdy

import (
	"reflect"
	"testing"
)

func TestRequestsComeBack(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		request := RequestHead{"GET", "http", "a.example:81", "/x?y", []Field{{Name: "accept", Value: "*/*"}}}
		sent := request
		sent.Fields = append([]Field{{Name: "Connection", Value: "close"}, {Name: "host", Value: "b"}, {Name: "transfer-encoding", Value: "chunked"},
			{Name: "keep-alive", Value: "1"}, {Name: "proxy-connection", Value: "close"}}, request.Fields...)
		got, err := version.ParseRequest(version.RequestFields(sent))
		if err != nil || !reflect.DeepEqual(got, request) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestNamesOnTheWire(t *testing.T) {
	request := RequestHead{Method: "GET", Scheme: "https", Host: "a", Path: "/"}
	for version, want := range map[Version][]string{
		V2:  {"method", "url", "version", "host", "scheme"},
		V3:  {":method", ":path", ":version", ":host", ":scheme"},
		V31: {":method", ":path", ":version", ":host", ":scheme"},
	} {
		for i, field := range version.RequestFields(request) {
			if field.Name != want[i] {
				t.Errorf("%s: field %d is %s, not %s", version, i, field.Name, want[i])
			}
		}
	}
}

func TestResponses(t *testing.T) {
	for value, want := range map[string]int{"200": 200, "404 Not Found": 404, "999": 999, "100": 0, "103 Early Hints": 0, "199": 0, "": 0, "OK": 0, "20": 0, "1000": 0, "-20": 0} {
		status, fields, err := V3.ParseResponse([]Field{{Name: ":status", Value: value}, {Name: ":version", Value: "HTTP/1.1"}, {Name: "a", Value: "b"}})
		if status != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %d, %v", value, status, err)
		}
		if err == nil && !reflect.DeepEqual(fields, []Field{{Name: "a", Value: "b"}}) {
			t.Errorf("%q: got %v", value, fields)
		}
	}
}

func TestRequestsThatLackAPart(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		all := version.RequestFields(RequestHead{Method: "GET", Scheme: "https", Host: "a", Path: "/"})
		for i := range all {
			part := append(append([]Field(nil), all[:i]...), all[i+1:]...)
			if _, err := version.ParseRequest(part); err == nil {
				t.Errorf("a request without %s was read", all[i].Name)
			}
		}
	})
}

func TestVersions(t *testing.T) {
	for _, version := range Versions {
		if got, err := ParseVersion(version.String()); err != nil || got != version {
			t.Errorf("%s: got %v, %v", version, got, err)
		}
	}
	if _, err := ParseVersion("spdy/4"); err == nil {
		t.Error("spdy/4 was read")
	}
}

// Chromium's urgencies are HIGHEST, MEDIUM, LOW, LOWEST, IDLE and, since 2017, THROTTLED; other programs may say what they like.
func TestPriorities(t *testing.T) {
	for urgency, want := range map[int][3]uint8{
		0: {0, 0, 0}, 1: {1, 1, 1}, 2: {2, 2, 2}, 3: {2, 3, 3}, 4: {3, 4, 4}, 5: {3, 5, 5}, 6: {3, 6, 6}, 7: {3, 7, 7}, -1: {0, 0, 0}, 9: {3, 7, 7},
	} {
		if got := [3]uint8{V2.Priority(urgency), V3.Priority(urgency), V31.Priority(urgency)}; got != want {
			t.Errorf("urgency %d: got %v, want %v", urgency, got, want)
		}
	}
}

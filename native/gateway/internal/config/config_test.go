package config

import (
	"encoding/json"
	"strings"
	"testing"
)

const good = `{"version": 1, "listen": "127.0.0.1:443", "certificate": "c", "key": "k", "log": "l", "keylog": "",
 "dns": {"mode": "instant", "hosts": {"a.example": "10.10.2.2"}},
 "wire": {"protocol": "h2", "port": 443, "tls": "1.3", "tls_resumption": false, "trust": ["lMPWIkE4qWeMYVRSM+7adKb+JpzH1i8fJYjk3GCSIZ4="],
          "keepalive": true, "pipelining": 1, "connections_per_host": 6, "coalescing": "address"}}`

// changed is the good configuration with one place changed; nil removes it.
func changed(t *testing.T, path string, value any) []byte {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal([]byte(good), &whole); err != nil {
		t.Fatal(err)
	}
	place, names := whole, strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		place = place[name].(map[string]any)
	}
	if last := names[len(names)-1]; value == nil {
		delete(place, last)
	} else {
		place[last] = value
	}
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAGoodConfigurationIsReadWhole(t *testing.T) {
	config, err := Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if config.Wire.Protocol != H2 || config.Wire.TLSResumption || config.DNS.Hosts["a.example"] != "10.10.2.2" || config.Wire.Coalescing != Address {
		t.Errorf("%+v", config)
	}
	if got := config.Wire.Authority("a.example"); got != "a.example" {
		t.Errorf("the scheme's own port is in the authority: %s", got)
	}
}

func TestWhatIsLeftOutHasItsDefault(t *testing.T) {
	text := `{"version":1,"listen":"[::1]:1","certificate":"c","key":"k","log":"l","dns":{"mode":"resolver","server":"10.0.0.1:53","hosts":["a.b"]},
	          "wire":{"protocol":"http/1.1"}}`
	config, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	wire := config.Wire
	if wire.Port != 80 || !wire.Keepalive || wire.Pipelining != 1 || wire.ConnectionsPerHost != 6 || wire.Secure() || wire.Coalescing != Origin {
		t.Errorf("%+v", wire)
	}
	if _, known := config.DNS.Hosts["a.b"]; !known {
		t.Error("the list of hosts is lost")
	}
}

func TestErrorsNameTheKey(t *testing.T) {
	for _, c := range []struct {
		path  string
		value any
		says  []string
	}{
		{"version", 2, []string{"version", "2"}},
		{"versoin", 1, []string{"versoin", `"version"`}},
		{"wire.pipelinig", 2, []string{"wire.pipelinig", `"pipelining"`}},
		{"dns.server_address", "x", []string{"dns.server_address", "hosts, mode, server"}},
		{"listen", "localhost", []string{"listen", "localhost"}},
		{"log", nil, []string{"log", "missing"}},
		{"wire.port", "80", []string{"wire.port", "whole number"}},
		{"wire.port", 70000, []string{"wire.port", "70000"}},
		{"wire.keepalive", 1, []string{"wire.keepalive", "true or false"}},
		{"wire.protocol", "spdy/4", []string{"wire.protocol", "spdy/4", "spdy/3.1"}},
		{"wire.protocol", "h3", []string{"wire.protocol", "h3", "spdy/3.1"}}, // the fetcher alone speaks it
		{"wire.tls", "1.1", []string{"wire.tls", "1.1"}},
		{"wire.trust", []string{"abc"}, []string{"wire.trust[0]", "abc"}},
		{"wire.trust", []string{}, []string{"wire.trust", "1.3"}},
		{"wire.trust", "abc", []string{"wire.trust", "list"}},
		{"wire.pipelining", 4, []string{"wire.pipelining", "http/1.1"}},
		{"wire.connections_per_host", 0, []string{"wire.connections_per_host", "0"}},
		{"wire.spdy_header_compression", 10, []string{"wire.spdy_header_compression", "10"}},
		{"wire.stream_window", 1000, []string{"wire.stream_window", "4096"}},
		{"wire.tls_key_share", "p256", []string{"wire.tls_key_share", "p-256"}},
		{"wire.coalescing", "host", []string{"wire.coalescing", "origin, address"}},
		{"dns.hosts", map[string]string{}, []string{"dns.hosts"}},
		{"dns.hosts", map[string]string{"A.example": "1.2.3.4"}, []string{"dns.hosts", "A.example", "lower case"}},
		{"dns.hosts", map[string]string{"a.example": ""}, []string{"dns.hosts", "a.example", "address"}},
		{"dns.hosts", []string{"a.example"}, []string{"dns.hosts", "a.example"}},
		{"dns.mode", "resolver", []string{"dns.hosts", "a.example"}},
		{"dns", 5, []string{"dns", "object"}},
	} {
		_, err := Parse(changed(t, c.path, c.value))
		if err == nil {
			t.Errorf("%s = %v was taken", c.path, c.value)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s = %v: %q does not say %q", c.path, c.value, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %q", c.path, err)
		}
	}
}

func TestSettingsThatContradictEachOtherAreRefused(t *testing.T) {
	for wire, says := range map[string]string{
		`{"protocol":"h2","keepalive":false}`:                      "wire.keepalive",
		`{"protocol":"http/1.1","keepalive":false,"pipelining":2}`: "wire.pipelining",
		`{"protocol":"http/1.1","coalescing":"address"}`:           "wire.coalescing",
		`{"protocol":"spdy/3","pipelining":2}`:                     "wire.pipelining",
		`{"protocol":"spdy/2","stream_window":65536}`:              "wire.stream_window",
		`{"protocol":"h2","spdy_header_compression":1}`:            "wire.spdy_header_compression",
		`{"protocol":"h2","tls_key_share":"p-256"}`:                "wire.tls_key_share",
	} {
		text := `{"version":1,"listen":"127.0.0.1:1","certificate":"c","key":"k","log":"l","dns":{"mode":"instant","hosts":{"a":"1.2.3.4"}},"wire":` + wire + `}`
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", wire, err)
		}
	}
}

func TestWhatIsNoJSONIsRefused(t *testing.T) {
	for _, text := range []string{"", "[]", "{", good + "{}", "null", `{"version":1}`} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestHostsMayHaveAWireOfTheirOwn(t *testing.T) {
	beside := []any{map[string]any{"hosts": []string{"a.example"}, "wire": map[string]any{
		"protocol": "http/1.1", "tls": "1.3", "trust": []string{"lMPWIkE4qWeMYVRSM+7adKb+JpzH1i8fJYjk3GCSIZ4="},
	}}}
	config, err := Parse(changed(t, "beside", beside))
	if err != nil {
		t.Fatal(err)
	}
	wire := config.Beside[0].Wire
	if wire.Protocol != HTTP1 || wire.Port != 443 || !wire.TLSResumption || wire.ConnectionsPerHost != 6 || config.Wire.Protocol != H2 {
		t.Errorf("%+v", wire)
	}
}

func TestErrorsOfHostsWithAWireOfTheirOwn(t *testing.T) {
	clear := `{"protocol":"http/1.1"}`
	for beside, says := range map[string]string{
		`{}`:                                     "beside: a list is wanted",
		`[{}]`:                                   "beside[0].hosts: no names",
		`[null]`:                                 "beside[0].hosts: no names",
		`[{"hosts":[],"wire":` + clear + `}]`:    "beside[0].hosts: no names",
		`[{"hosts":["c"],"wire":` + clear + `}]`: `beside[0].hosts[0]: "c" is not among dns.hosts`,
		`[{"hosts":["a"],"wire":{}}]`:            "beside[0].wire.protocol",
		`[{"hosts":["a"]}]`:                      "beside[0].wire.protocol",
		`[{"host":["a"],"wire":` + clear + `}]`:  `beside[0].host: no such key; did you mean "hosts"?`,
		`[{"hosts":["a"],"wire":{"protocl":"h2"}}]`:                                      `beside[0].wire.protocl: no such key; did you mean "protocol"?`,
		`[{"hosts":["a"],"wire":{"port":"x"}}]`:                                          "wire.port: a whole number is wanted",
		`[{"hosts":["a"],"wire":{"protocol":"spdy/3","pipelining":2}}]`:                  "beside[0].wire.pipelining: only http/1.1 has it",
		`[{"hosts":["a"],"wire":{"protocol":"h2","tls":"1.3"}}]`:                         "beside[0].wire.trust",
		`[{"hosts":["a","a"],"wire":` + clear + `}]`:                                     `beside[0].hosts[1]: "a" is in beside[0], too`,
		`[{"hosts":["a"],"wire":` + clear + `},{"hosts":["a"],"wire":` + clear + `}]`:    `beside[1].hosts[0]: "a" is in beside[0], too`,
		`[{"hosts":["a"],"wire":{"protocol":"h2","tls":"1.3","trust":["` + pin + `"]}}]`: "beside[0].wire.tls: \"1.3\", and wire.tls is \"off\"",
	} {
		text := `{"version":1,"listen":"127.0.0.1:1","certificate":"c","key":"k","log":"l",` +
			`"dns":{"mode":"instant","hosts":{"a":"1.2.3.4","b":"1.2.3.5"}},"wire":{"protocol":"h2"},"beside":` + beside + `}`
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", beside, err)
		}
	}
	reversed := `{"version":1,"listen":"127.0.0.1:1","log":"l","wire":{"protocol":"h2"},"beside":[{"hosts":["back-end"],"wire":` + clear + `}],` +
		`"reverse":{"on":true,"address":"1.2.3.4","protocol":"h2","tls":"off","keepalive_ms":1,"window":65536,"connections":1}}`
	if _, err := Parse([]byte(reversed)); err == nil || !strings.Contains(err.Error(), "beside[0]: a reverse proxy") {
		t.Errorf("%v", err)
	}
}

const pin = "lMPWIkE4qWeMYVRSM+7adKb+JpzH1i8fJYjk3GCSIZ4="

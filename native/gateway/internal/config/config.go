// Package config reads the gateway's configuration: one JSON file, strictly. What it does not know is an error that names the key.
package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Version of the configuration's format.
const Version = 1

// A Protocol on the wire.
type Protocol string

// What the wire can speak.
const (
	HTTP1  Protocol = "http/1.1"
	H2     Protocol = "h2"
	H3     Protocol = "h3" // of the fetcher alone
	SPDY2  Protocol = "spdy/2"
	SPDY3  Protocol = "spdy/3"
	SPDY31 Protocol = "spdy/3.1"
)

// Multiplexed tells whether one connection carries many exchanges at the same time.
func (p Protocol) Multiplexed() bool { return p != HTTP1 }

// SPDY tells whether it is a version of SPDY.
func (p Protocol) SPDY() bool { return p == SPDY2 || p == SPDY3 || p == SPDY31 }

// How names are looked up, and when connections are shared.
const (
	Instant  = "instant"
	Resolver = "resolver"
	Origin   = "origin"
	Address  = "address"
)

// Which requests are pipelined, and where.
const (
	Eager    = "eager"
	Firefox  = "firefox"
	Chromium = "chromium"
)

// The groups that a ClientHello offers keys of.
const (
	BrowserShare = "browser" // what Chromium offers today
	X25519       = "x25519"
	P256         = "p-256"
)

// What a server may send on a stream, and on a connection, before it is read: by itself, and as Chromium tells it today.
const (
	DraftWindow             = 64 << 10
	ChromiumWindow          = 6 << 20
	ChromiumConnection      = 15 << 20
	leastWindow, mostWindow = 4 << 10, 256 << 20
)

// ChromiumStreams is how many requests Chromium has under way on a connection, whatever the server takes.
const ChromiumStreams = 256

// What a server is told of how urgent a request is.
const (
	ChromiumPriorities = "chromium" // what Chromium tells: each urgency has its own
	FlatPriorities     = "flat"     // the same of all
	NoPriorities       = "none"     // nothing, where the protocol lets it
)

// A Config is the whole file.
type Config struct {
	Version     int       `json:"version"`
	Listen      Addresses `json:"listen"`
	Certificate string    `json:"certificate"`
	Key         string    `json:"key"`
	Log         string    `json:"log"`
	KeyLog      string    `json:"keylog"`
	DNS         DNS       `json:"dns"`
	Wire        Wire      `json:"wire"`
	Beside      []Beside  `json:"beside"`
	Reverse     Reverse   `json:"reverse"`
}

// Addresses are where it listens: each an address and a port.
type Addresses []string

// UnmarshalJSON takes "address:port" or ["address:port", …].
func (a *Addresses) UnmarshalJSON(text []byte) error {
	var one string
	if err := json.Unmarshal(text, &one); err == nil {
		*a = Addresses{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// DNS says how names become addresses. Names that are not in it are not of the site.
type DNS struct {
	Mode   string `json:"mode"`
	Server string `json:"server"`
	Hosts  Hosts  `json:"hosts"`
}

// Hosts are the site's names, each with its address where no resolver is asked.
type Hosts map[string]string

// UnmarshalJSON takes {"name": "address"} or ["name"].
func (h *Hosts) UnmarshalJSON(text []byte) error {
	*h = Hosts{}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		var names []string
		if err := json.Unmarshal(text, &names); err != nil {
			return err
		}
		for _, name := range names {
			(*h)[name] = ""
		}
		return nil
	}
	return json.Unmarshal(text, (*map[string]string)(h))
}

// Wire is what is spoken over the link.
type Wire struct {
	Protocol              Protocol `json:"protocol"`
	Port                  int      `json:"port"`
	TLS                   string   `json:"tls"`
	TLSResumption         bool     `json:"tls_resumption"`
	Trust                 []string `json:"trust"`
	Keepalive             bool     `json:"keepalive"`
	Pipelining            int      `json:"pipelining"`
	PipeliningPolicy      string   `json:"pipelining_policy"`
	ConnectionsPerHost    int      `json:"connections_per_host"`
	Coalescing            string   `json:"coalescing"`
	BackupConnections     bool     `json:"backup_connections"`
	SPDYHeaderCompression int      `json:"spdy_header_compression"`
	StreamWindow          int      `json:"stream_window"`
	ConnectionWindow      int      `json:"connection_window"`
	MaxConcurrentStreams  int      `json:"max_concurrent_streams"`
	Priorities            string   `json:"priorities"`
	Push                  bool     `json:"push"`
	TLSKeyShare           string   `json:"tls_key_share"`

	Reverse *Reverse `json:"-"` // nil: a browser is in front, and not any client
}

// Secure tells whether the wire is inside TLS.
func (w *Wire) Secure() bool { return w.TLS != "off" }

// TellsPriorities says whether the server is told of each request how urgent it is.
func (w *Wire) TellsPriorities() bool {
	return w.Priorities != FlatPriorities && w.Priorities != NoPriorities
}

// Scheme is that of the wire.
func (w *Wire) Scheme() string {
	if w.Secure() {
		return "https"
	}
	return "http"
}

// Authority is what a request for host names on the wire: the port only where it is not the scheme's own.
func (w *Wire) Authority(host string) string {
	if w.Port == w.defaultPort() {
		return host
	}
	return fmt.Sprintf("%s:%d", host, w.Port)
}

func (w *Wire) defaultPort() int {
	if w.Secure() {
		return 443
	}
	return 80
}

// setPort gives a wire without a port that of its scheme.
func (w *Wire) setPort() {
	if w.Port == 0 {
		w.Port = w.defaultPort()
	}
}

// usualWire is a wire of which nothing is said but its protocol.
func usualWire() Wire {
	return Wire{
		TLS: "off", TLSResumption: true, Keepalive: true, Pipelining: 1, ConnectionsPerHost: 6, Coalescing: Origin,
		PipeliningPolicy: Eager, SPDYHeaderCompression: 9, TLSKeyShare: BrowserShare,
		StreamWindow: ChromiumWindow, ConnectionWindow: ChromiumConnection, MaxConcurrentStreams: ChromiumStreams, Priorities: ChromiumPriorities,
	}
}

// Read reads and checks a configuration file.
func Read(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration: %w", err)
	}
	config, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

// Parse reads and checks a configuration.
func Parse(text []byte) (*Config, error) {
	config := &Config{Wire: usualWire()}
	if err := decode(text, config); err != nil {
		return nil, err
	}
	config.Wire.setPort()
	for i := range config.Beside {
		config.Beside[i].Wire.setPort()
	}
	if config.Reverse.On {
		config.Wire.Reverse = &config.Reverse
		config.DNS = DNS{Mode: Instant, Hosts: Hosts{BackEnd: config.Reverse.Address}}
	}
	return config, config.check()
}

// decode reads one JSON object, strictly.
func decode(text []byte, into any) error {
	if err := checkKeys(text, into); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(into); err != nil {
		return explain(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is more after the configuration's end; it is one JSON object")
	}
	return nil
}

func explain(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: a %s is wanted here, not a %s", wrong.Field, wanted(wrong), wrong.Value)
	}
	return fmt.Errorf("this is not JSON: %w", err)
}

func wanted(wrong *json.UnmarshalTypeError) string {
	switch wrong.Type.Kind().String() {
	case "int":
		return "whole number"
	case "bool":
		return "true or false"
	case "slice":
		return "list"
	case "struct", "map":
		return "object"
	}
	return wrong.Type.Kind().String()
}

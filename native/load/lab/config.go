// Package lab makes k6 speak as lanelab's arms do, and write down what lanelab needs: transports, a module for scripts, an output.
package lab

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// settingsVariable names the file with the settings of the load.
const settingsVariable = "LANELAB_LOAD"

// Protocols that are spoken.
const (
	http1 = "http/1.1"
	h2    = "h2"
	h3    = "h3"
)

// A Stage is a part of the trial in which the number of arrivals per second goes to Target, in a line.
type Stage struct {
	Target float64 `json:"target"`
	OverS  float64 `json:"over_s"`
}

// Settings are what lanelab asks for. All keys are there.
type Settings struct {
	Protocol        string            `json:"protocol"`
	TLS             string            `json:"tls"` // off, 1.2, 1.3
	TLSResumption   bool              `json:"tls_resumption"`
	TLSKeyShare     string            `json:"tls_key_share"`
	Authority       string            `json:"authority"` // file; "" without TLS
	Address         string            `json:"address"`
	Port            int               `json:"port"`
	Connections     int               `json:"connections"`  // HTTP/1.1: of a user to a host
	WaitForTCP      bool              `json:"wait_for_tcp"` // HTTP/1.1 in TLS: a request takes a connection before its handshake
	Fresh           bool              `json:"fresh"`        // connections end with the iteration
	StreamWindow    int               `json:"stream_window"`
	URLs            []string          `json:"urls"`
	Sizes           map[string]int64  `json:"sizes"` // of answers' bodies, by URL; what is not there is not compared
	Headers         map[string]string `json:"headers"`
	ThinkS          float64           `json:"think_s"`
	Parameters      map[string]string `json:"parameters"`
	Seed            uint64            `json:"seed"`
	WarmUpS         float64           `json:"warm_up_s"`
	DurationS       float64           `json:"duration_s"`
	RequestTimeoutS float64           `json:"request_timeout_s"`
	KeyLog          string            `json:"key_log"`  // file for the secrets of the first connections; "": nobody reads them
	Arrivals        []Stage           `json:"arrivals"` // as driver/trial/load_settings.py has them; empty with users. k6 has the rates that it plays

	roots *x509.CertPool
	keys  *keyLog                     // nil: nobody reads them
	known map[string]map[string]int64 // Sizes by host, then path: addresses are put together for no request
}

// handshakesLate says that TLS begins when a request has its connection. What was spoken is known then, and not with the answer.
func (s *Settings) handshakesLate() bool {
	return s.WaitForTCP && s.Protocol == http1 && s.TLS != "off"
}

// inScheme is the request as the arm makes it: http in clear, https in TLS, whatever the script has written. So one script serves both.
func (s *Settings) inScheme(request *http.Request) *http.Request {
	scheme := "https"
	if s.TLS == "off" {
		scheme = "http"
	}
	if request.URL.Scheme == scheme {
		return request
	}
	changed, address := *request, *request.URL
	address.Scheme = scheme
	changed.URL = &address
	return &changed
}

// size of what is at an address; false: not known.
func (s *Settings) size(address *url.URL) (int64, bool) {
	ofHost := s.known[address.Host]
	if ofHost == nil {
		return 0, false
	}
	size, there := ofHost[pathOf(address)]
	return size, there
}

func pathOf(address *url.URL) string {
	if address.RawQuery != "" || address.RawPath != "" {
		return address.RequestURI()
	}
	return address.Path
}

func (s *Settings) sort() error {
	s.known = map[string]map[string]int64{}
	for text, size := range s.Sizes {
		address, err := url.Parse(text)
		if err != nil {
			return fmt.Errorf("the settings of the load have an address that is none: %w", err)
		}
		if s.known[address.Host] == nil {
			s.known[address.Host] = map[string]int64{}
		}
		s.known[address.Host][pathOf(address)] = size
	}
	return nil
}

func (s *Settings) warmUp() time.Duration   { return seconds(s.WarmUpS) }
func (s *Settings) duration() time.Duration { return seconds(s.DurationS) }
func (s *Settings) timeout() time.Duration  { return seconds(s.RequestTimeoutS) }

func seconds(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }

// settings reads the file once for the process.
var settings = sync.OnceValues(func() (*Settings, error) {
	name := os.Getenv(settingsVariable)
	if name == "" {
		return nil, errors.New(settingsVariable + " does not say where the settings of the load are")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the settings of the load: %w", err)
	}
	defer file.Close()
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	s := &Settings{}
	if err := decoder.Decode(s); err != nil {
		return nil, fmt.Errorf("the settings of the load in %s: %w", name, err)
	}
	return s, s.check()
})

func (s *Settings) check() error {
	switch s.Protocol {
	case http1, h2, h3, "spdy/2", "spdy/3", "spdy/3.1":
	default:
		return fmt.Errorf("no transport speaks %q", s.Protocol)
	}
	if s.Connections < 1 || s.RequestTimeoutS <= 0 || s.Address == "" || s.Port < 1 || s.Port > 65535 {
		return fmt.Errorf("the settings of the load are not whole: %+v", *s)
	}
	if s.Protocol == h3 && s.TLS != "1.3" {
		return fmt.Errorf("HTTP/3 has TLS 1.3 in it, and not %q", s.TLS)
	}
	if err := s.sort(); err != nil || s.TLS == "off" {
		return err
	}
	if s.KeyLog != "" {
		s.keys = &keyLog{name: s.KeyLog}
	}
	if s.TLS != "1.2" && s.TLS != "1.3" {
		return fmt.Errorf("there is no TLS %q", s.TLS)
	}
	text, err := os.ReadFile(s.Authority)
	if err != nil {
		return fmt.Errorf("the authority that is to be trusted: %w", err)
	}
	s.roots = x509.NewCertPool()
	if !s.roots.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s holds no certificate", s.Authority)
	}
	return nil
}

// groups are what a ClientHello offers, as in the gateway's dialer.
var groups = map[string][]tls.CurveID{
	"browser": {tls.X25519MLKEM768, tls.X25519, tls.CurveP256, tls.CurveP384},
	"x25519":  {tls.X25519, tls.CurveP256, tls.CurveP384},
	"p-256":   {tls.CurveP256, tls.CurveP384},
}

// tlsConfig is for one user: nobody else's sessions are resumed.
func (s *Settings) tlsConfig(own *tls.Config) *tls.Config {
	config := &tls.Config{}
	if own != nil {
		config = own.Clone()
	}
	version := uint16(tls.VersionTLS12)
	if s.TLS == "1.3" {
		version = tls.VersionTLS13
	}
	config.MinVersion, config.MaxVersion = version, version
	config.RootCAs, config.InsecureSkipVerify = s.roots, false
	config.NextProtos, config.CurvePreferences = []string{s.Protocol}, groups[s.TLSKeyShare]
	config.SessionTicketsDisabled, config.ClientSessionCache = !s.TLSResumption, nil
	if s.TLSResumption {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(16)
	}
	if s.keys != nil {
		config.KeyLogWriter = s.keys
	}
	return config
}

package config

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"strings"
)

// check tells of the first thing in a configuration that cannot be.
func (c *Config) check() error {
	if c.Version != Version {
		return fmt.Errorf("version: %d is not known; this gateway reads version %d", c.Version, Version)
	}
	if err := c.Reverse.check(&c.Wire); err != nil {
		return err
	}
	inClear := c.Reverse.On && !c.Reverse.Secure()
	for _, needed := range []struct{ key, value string }{
		{"certificate", c.Certificate}, {"key", c.Key}, {"log", c.Log},
	} {
		if needed.value == "" && !(inClear && (needed.key == "certificate" || needed.key == "key")) {
			return fmt.Errorf("%s: missing", needed.key)
		}
	}
	if len(c.Listen) == 0 {
		return fmt.Errorf("listen: missing")
	}
	for _, address := range c.Listen {
		if _, err := netip.ParseAddrPort(address); err != nil {
			return fmt.Errorf("listen: %q is no address and port, as 127.0.0.1:443", address)
		}
	}
	if err := c.DNS.check(); err != nil {
		return err
	}
	if err := c.Wire.check(OfGateway...); err != nil {
		return err
	}
	return c.checkBeside()
}

func (d *DNS) check() error {
	if err := oneOf("dns.mode", d.Mode, Instant, Resolver); err != nil {
		return err
	}
	if len(d.Hosts) == 0 {
		return fmt.Errorf("dns.hosts: no names, so no request could be answered")
	}
	names := make([]string, 0, len(d.Hosts))
	for name := range d.Hosts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, "/: ") {
			return fmt.Errorf("dns.hosts: %q is no host name in lower case", name)
		}
		if _, err := netip.ParseAddr(d.Hosts[name]); (err != nil) == (d.Mode == Instant) {
			return fmt.Errorf("dns.hosts: %q has the address %q; with dns.mode %q names have %s", name, d.Hosts[name], d.Mode,
				map[bool]string{true: "an address each", false: "none: it is a list"}[d.Mode == Instant])
		}
	}
	if _, err := netip.ParseAddrPort(d.Server); (err != nil) == (d.Mode == Resolver) {
		return fmt.Errorf("dns.server: %q; an address and port with dns.mode \"resolver\", and only then", d.Server)
	}
	return nil
}

// OfGateway are the protocols that the gateway speaks.
var OfGateway = []string{string(HTTP1), string(H2), string(SPDY2), string(SPDY3), string(SPDY31)}

// check a wire that may speak one of these.
func (w *Wire) check(spoken ...string) error {
	err := oneOf("wire.protocol", string(w.Protocol), spoken...)
	if err == nil {
		err = oneOf("wire.tls", w.TLS, "off", "1.2", "1.3")
	}
	if err == nil {
		err = oneOf("wire.coalescing", w.Coalescing, Origin, Address)
	}
	if err == nil {
		err = oneOf("wire.pipelining_policy", w.PipeliningPolicy, Eager, Firefox, Chromium)
	}
	if err == nil {
		err = oneOf("wire.tls_key_share", w.TLSKeyShare, BrowserShare, X25519, P256)
	}
	if err == nil {
		err = oneOf("wire.priorities", w.Priorities, ChromiumPriorities, FlatPriorities, NoPriorities)
	}
	if err != nil {
		return err
	}
	for _, number := range []struct {
		key                string
		value, least, most int
	}{
		{"wire.port", w.Port, 1, 65535}, {"wire.pipelining", w.Pipelining, 1, 100}, {"wire.connections_per_host", w.ConnectionsPerHost, 1, 256},
		{"wire.stream_window", w.StreamWindow, leastWindow, mostWindow}, {"wire.connection_window", w.ConnectionWindow, DraftWindow, mostWindow},
		{"wire.max_concurrent_streams", w.MaxConcurrentStreams, 1, 1000},
	} {
		if number.value < number.least || number.value > number.most {
			return fmt.Errorf("%s: %d is not from %d to %d", number.key, number.value, number.least, number.most)
		}
	}
	if w.SPDYHeaderCompression < 0 || w.SPDYHeaderCompression > 9 {
		return fmt.Errorf("wire.spdy_header_compression: %d is not from 0 to 9", w.SPDYHeaderCompression)
	}
	for i, pin := range w.Trust {
		if hash, err := base64.StdEncoding.DecodeString(pin); err != nil || len(hash) != 32 {
			return fmt.Errorf("wire.trust[%d]: %q is no base64 of a SHA-256", i, pin)
		}
	}
	return w.checkTogether()
}

// checkTogether looks for settings that cannot be together: one that had no effect would be measured as if it had.
func (w *Wire) checkTogether() error {
	if w.Secure() && len(w.Trust) == 0 {
		return fmt.Errorf("wire.trust: with wire.tls %q it must name the server's key, or every connection would be refused", w.TLS)
	}
	if w.PipeliningPolicy != Eager && w.Pipelining == 1 {
		return fmt.Errorf("wire.pipelining_policy: %q needs wire.pipelining above 1", w.PipeliningPolicy)
	}
	if w.PipeliningPolicy == Chromium && w.Secure() {
		return fmt.Errorf("wire.pipelining_policy: %q goes with wire.tls \"off\" only, as in that browser", Chromium)
	}
	if w.SPDYHeaderCompression != 9 && !w.Protocol.SPDY() {
		return fmt.Errorf("wire.spdy_header_compression: only SPDY has it; with %s leave it out", w.Protocol)
	}
	if err := w.checkStreams(); err != nil {
		return err
	}
	if err := w.checkQUIC(); err != nil {
		return err
	}
	if w.TLSKeyShare != BrowserShare && !w.Secure() {
		return fmt.Errorf("wire.tls_key_share: %q needs TLS", w.TLSKeyShare)
	}
	if w.Protocol.Multiplexed() {
		if w.Pipelining != 1 {
			return fmt.Errorf("wire.pipelining: only http/1.1 has it; with %s it must be 1", w.Protocol)
		}
		if !w.Keepalive {
			return fmt.Errorf("wire.keepalive: false only goes with http/1.1; %s keeps its connections", w.Protocol)
		}
		return nil
	}
	if w.Pipelining != 1 && !w.Keepalive {
		return fmt.Errorf("wire.pipelining: %d needs wire.keepalive true", w.Pipelining)
	}
	if w.Coalescing != Origin {
		return fmt.Errorf("wire.coalescing: %q only goes with protocols that multiplex; http/1.1 has connections per host", w.Coalescing)
	}
	return nil
}

// checkQUIC looks at what HTTP/3 cannot have.
func (w *Wire) checkQUIC() error {
	switch {
	case w.Protocol != H3:
		return nil
	case w.TLS != "1.3":
		return fmt.Errorf("wire.tls: %s has TLS 1.3 in it, and not %q", H3, w.TLS)
	case w.BackupConnections:
		return fmt.Errorf("wire.backup_connections: these are for connections over TCP whose SYN is lost; with %s leave it out", H3)
	}
	return nil
}

// checkStreams looks at what only some protocols that multiplex have.
func (w *Wire) checkStreams() error {
	for _, setting := range []struct {
		key  string
		set  bool
		with []Protocol
	}{
		{"wire.stream_window", w.StreamWindow != ChromiumWindow, []Protocol{H2, SPDY3, SPDY31}},
		{"wire.connection_window", w.ConnectionWindow != ChromiumConnection, []Protocol{H2, SPDY31}},
		{"wire.max_concurrent_streams", w.MaxConcurrentStreams != ChromiumStreams, []Protocol{H2, SPDY2, SPDY3, SPDY31}},
		{"wire.priorities", w.Priorities == FlatPriorities, []Protocol{H2, SPDY2, SPDY3, SPDY31}},
		{"wire.priorities: none", w.Priorities == NoPriorities, []Protocol{H2}},
		{"wire.push", w.Push, []Protocol{H2, SPDY3, SPDY31}},
	} {
		if setting.set && !slices.Contains(setting.with, w.Protocol) {
			return fmt.Errorf("%s: %s has no such thing; leave it out", setting.key, w.Protocol)
		}
		if setting.set && w.Reverse != nil {
			return fmt.Errorf("%s: a reverse proxy has its own; leave it out", setting.key)
		}
	}
	return nil
}

func oneOf(key, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is not one of %s", key, value, strings.Join(known, ", "))
}

package config

import (
	"fmt"
	"net/netip"
)

// BackEnd is what the server behind a reverse proxy is called within.
const BackEnd = "back-end"

// Reverse makes a proxy in front of one server of the gateway: any client may come, for any name, and all goes to one address. What is spoken
// there is the wire's.
type Reverse struct {
	On            bool     `json:"on"`
	Address       string   `json:"address"`        // of the server behind
	Protocol      Protocol `json:"protocol"`       // towards clients: http/1.1 or h2, and with h2 http/1.1 too
	TLS           string   `json:"tls"`            // towards clients
	TLSResumption bool     `json:"tls_resumption"` // likewise
	Keepalive     bool     `json:"keepalive"`      // of HTTP/1.1 towards clients
	KeepaliveMs   int      `json:"keepalive_ms"`
	Window        int      `json:"window"`      // what the server behind may send on a stream before the client has taken it
	Connections   int      `json:"connections"` // over which requests are spread, where one carries many
}

// Secure tells whether clients speak TLS.
func (r *Reverse) Secure() bool { return r.TLS != "off" }

func (r *Reverse) check(wire *Wire) error {
	if !r.On {
		if *r != (Reverse{}) {
			return fmt.Errorf("reverse.on: without it the rest of reverse means nothing")
		}
		return nil
	}
	if _, err := netip.ParseAddr(r.Address); err != nil {
		return fmt.Errorf("reverse.address: %q is no address", r.Address)
	}
	if err := oneOf("reverse.protocol", string(r.Protocol), string(HTTP1), string(H2)); err != nil {
		return err
	}
	if err := oneOf("reverse.tls", r.TLS, "off", "1.2", "1.3"); err != nil {
		return err
	}
	if r.KeepaliveMs < 1 {
		return fmt.Errorf("reverse.keepalive_ms: %d is not above 0", r.KeepaliveMs)
	}
	if r.Window < DraftWindow || r.Window > ChromiumWindow {
		return fmt.Errorf("reverse.window: %d is not from %d to %d", r.Window, DraftWindow, ChromiumWindow)
	}
	if r.Connections < 1 || r.Connections > 256 {
		return fmt.Errorf("reverse.connections: %d is not from 1 to 256", r.Connections)
	}
	if wire.Secure() {
		return fmt.Errorf("wire.tls: a reverse proxy speaks in clear to the server behind it")
	}
	return nil
}

package config

import (
	"encoding/json"
	"fmt"
)

// Beside is what is spoken with some of the hosts in place of the usual wire.
type Beside struct {
	Hosts []string `json:"hosts"`
	Wire  Wire     `json:"wire"`
}

// UnmarshalJSON gives what is left out its default, as in the usual wire.
func (b *Beside) UnmarshalJSON(text []byte) error {
	type plain Beside
	one := plain{Wire: usualWire()}
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	*b = Beside(one)
	return nil
}

// Asked is what the log's first line says of the wire: what is spoken as a rule, and beside that.
type Asked struct {
	Wire
	Beside []Beside `json:"beside,omitempty"`
}

// Asked is what the configuration asks of the wire.
func (c *Config) Asked() Asked { return Asked{c.Wire, c.Beside} }

// checkBeside looks whether each host has one wire, and all wires one scheme, which addresses in answers have.
func (c *Config) checkBeside() error {
	whose := map[string]int{}
	for i := range c.Beside {
		beside, key := &c.Beside[i], fmt.Sprintf("beside[%d]", i)
		if c.Reverse.On {
			return fmt.Errorf("%s: a reverse proxy has one server behind it; leave it out", key)
		}
		if len(beside.Hosts) == 0 {
			return fmt.Errorf("%s.hosts: no names, so nothing would be spoken so", key)
		}
		for j, host := range beside.Hosts {
			if _, known := c.DNS.Hosts[host]; !known {
				return fmt.Errorf("%s.hosts[%d]: %q is not among dns.hosts", key, j, host)
			}
			if other, twice := whose[host]; twice {
				return fmt.Errorf("%s.hosts[%d]: %q is in beside[%d], too", key, j, host, other)
			}
			whose[host] = i
		}
		if err := beside.Wire.check(OfGateway...); err != nil {
			return fmt.Errorf("%s.%w", key, err)
		}
		if beside.Wire.Secure() != c.Wire.Secure() {
			return fmt.Errorf("%s.wire.tls: %q, and wire.tls is %q: all hosts have one scheme", key, beside.Wire.TLS, c.Wire.TLS)
		}
	}
	return nil
}

package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A Plan is what the fetcher does: objects, and the wire over which it asks for them.
type Plan struct {
	Version        int      `json:"version"`
	Log            string   `json:"log"`
	KeyLog         string   `json:"keylog"`
	DNS            DNS      `json:"dns"`
	Wire           Wire     `json:"wire"`
	Objects        []string `json:"objects"`         // host, path and query
	AtOnce         int      `json:"at_once"`         // requests under way
	Warm           bool     `json:"warm"`            // all are fetched once before, over connections that stay
	AcceptEncoding string   `json:"accept_encoding"` // "": the field is not sent
	TimeoutMs      int      `json:"timeout_ms"`      // of all together
	Hold           bool     `json:"hold"`            // after the report connections stay open until a signal comes
}

const mostAtOnce = 1000

// ReadPlan reads and checks a plan.
func ReadPlan(path string) (*Plan, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}
	plan, err := ParsePlan(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return plan, nil
}

// ParsePlan reads and checks a plan.
func ParsePlan(text []byte) (*Plan, error) {
	plan := &Plan{Wire: usualWire(), AtOnce: 1}
	if err := decode(text, plan); err != nil {
		return nil, err
	}
	plan.Wire.setPort()
	return plan, plan.check()
}

func (p *Plan) check() error {
	switch {
	case p.Version != Version:
		return fmt.Errorf("version: %d is not known; this fetcher reads version %d", p.Version, Version)
	case p.Log == "":
		return fmt.Errorf("log: missing")
	case len(p.Objects) == 0:
		return fmt.Errorf("objects: none, so nothing would be fetched")
	case p.AtOnce < 1 || p.AtOnce > mostAtOnce:
		return fmt.Errorf("at_once: %d is not from 1 to %d", p.AtOnce, mostAtOnce)
	case p.TimeoutMs < 1:
		return fmt.Errorf("timeout_ms: %d is no time", p.TimeoutMs)
	case p.Warm && !p.Wire.Keepalive:
		return fmt.Errorf("warm: with wire.keepalive false no connection stays")
	case p.Wire.Push:
		return fmt.Errorf("wire.push: the fetcher takes what it asks for, and nothing else")
	}
	if err := p.DNS.check(); err != nil {
		return err
	}
	for i, object := range p.Objects {
		host, _, slash := strings.Cut(object, "/")
		if _, known := p.DNS.Hosts[host]; !known || !slash {
			return fmt.Errorf("objects[%d]: %q is no host of dns.hosts with a path", i, object)
		}
	}
	return p.Wire.check(append(slices.Clone(OfGateway), string(H3))...)
}

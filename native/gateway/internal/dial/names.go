package dial

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/wirelog"
)

// Names turns the site's names into addresses, each once.
type Names struct {
	dns *config.DNS
	log *wirelog.Log

	mu    sync.Mutex
	found map[string]*lookup
}

type lookup struct {
	done      chan struct{}
	addresses []netip.Addr
	err       error
}

// NewNames makes it after the configuration.
func NewNames(dns *config.DNS, log *wirelog.Log) *Names {
	return &Names{dns: dns, log: log, found: map[string]*lookup{}}
}

// Known tells whether a name is of the site.
func (n *Names) Known(host string) bool {
	_, known := n.dns.Hosts[host]
	return known
}

// Ready gives a name's addresses if they are known without waiting.
func (n *Names) Ready(host string) (addresses []netip.Addr, ready bool) {
	if n.dns.Mode == config.Instant {
		addresses, err := n.Addresses(context.Background(), host)
		return addresses, err == nil
	}
	n.mu.Lock()
	one := n.found[host]
	n.mu.Unlock()
	if one == nil {
		return nil, false
	}
	select {
	case <-one.done:
		return one.addresses, one.err == nil
	default:
		return nil, false
	}
}

// Addresses of a name of the site: at once, or looked up over the link when it is asked for first.
func (n *Names) Addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if n.dns.Mode == config.Instant {
		address, err := netip.ParseAddr(n.dns.Hosts[host])
		if err != nil {
			return nil, fmt.Errorf("%s is not a name of the site", host)
		}
		return []netip.Addr{address}, nil
	}
	n.mu.Lock()
	one := n.found[host]
	if one == nil {
		one = &lookup{done: make(chan struct{})}
		n.found[host] = one
		go n.look(host, one)
	}
	n.mu.Unlock()
	select {
	case <-one.done:
		return one.addresses, one.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *Names) look(host string, one *lookup) {
	began := n.log.Now()
	one.addresses, one.err = ask(n.dns.Server, host)
	event := wirelog.DNS{Event: "dns", Host: host, Began: began, Ended: n.log.Now(), Addresses: []string{}}
	for _, address := range one.addresses {
		event.Addresses = append(event.Addresses, address.String())
	}
	if one.err != nil {
		event.Error = wirelog.Some(one.err.Error())
		n.mu.Lock()
		delete(n.found, host) // a failure is not kept: the next request may ask again
		n.mu.Unlock()
	}
	n.log.Write(event)
	close(one.done)
}

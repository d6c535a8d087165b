package pool

import (
	"io"
	"sync"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/wirelog"
)

// Pools are those of a gateway, one for each wire. A host is in one of them: connections, TLS sessions, pushes and what is learnt are shared
// within it, and with no other.
type Pools struct {
	usual  *Pool
	beside []*Pool
	of     map[string]*Pool // host -> the one of beside that it is in; no host: the usual one
}

// NewPools makes them after the configuration. keys gets TLS keys, if it is not nil.
func NewPools(settings *config.Config, names *dial.Names, log *wirelog.Log, keys io.Writer) *Pools {
	begin := func(wire *config.Wire) *Pool { return New(wire, names, dial.New(wire, log, keys), log) }
	pools := &Pools{usual: begin(&settings.Wire), of: map[string]*Pool{}}
	for i := range settings.Beside {
		pool := begin(&settings.Beside[i].Wire)
		pools.beside = append(pools.beside, pool)
		for _, host := range settings.Beside[i].Hosts {
			pools.of[host] = pool
		}
	}
	return pools
}

// Of is the pool that a host is in.
func (p *Pools) Of(host string) *Pool {
	if pool := p.of[host]; pool != nil {
		return pool
	}
	return p.usual
}

// Usual is the pool of all hosts that have no wire of their own.
func (p *Pools) Usual() *Pool { return p.usual }

// Prepare begins a connection for a host that has none.
func (p *Pools) Prepare(host string) { p.Of(host).Prepare(host) }

// Waiting is how many requests have no connection yet.
func (p *Pools) Waiting() int {
	count := p.usual.Waiting()
	for _, pool := range p.beside {
		count += pool.Waiting()
	}
	return count
}

// Close ends all connections, those of all pools at the same time.
func (p *Pools) Close() {
	var closing sync.WaitGroup
	for _, pool := range append([]*Pool{p.usual}, p.beside...) {
		closing.Go(pool.Close)
	}
	closing.Wait()
}

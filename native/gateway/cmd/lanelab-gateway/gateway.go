package main

import (
	"fmt"
	"io"
	"os"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/front"
	"lanelab/gateway/internal/pool"
	"lanelab/gateway/internal/relay"
	"lanelab/gateway/internal/wirelog"
)

// A gateway is the parts of a running one.
type gateway struct {
	log   *wirelog.Log
	keys  *os.File
	pools *pool.Pools
	relay *relay.Relay
	front *front.Front
}

// A startError is why a gateway does not start, and the exit status for it.
type startError struct {
	err    error
	status int
}

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

func start(path string) (*gateway, *startError) {
	settings, err := config.Read(path)
	if err != nil {
		return nil, &startError{err, refused}
	}
	g := &gateway{}
	if g.log, err = wirelog.Create(settings.Log); err != nil {
		return nil, &startError{err, failed}
	}
	if settings.KeyLog != "" {
		g.keys, err = os.OpenFile(settings.KeyLog, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, &startError{fmt.Errorf("cannot make the file for TLS keys: %w", err), failed}
		}
	}
	if err := g.connect(settings); err != nil {
		return nil, &startError{err, failed}
	}
	return g, nil
}

func (g *gateway) connect(settings *config.Config) (err error) {
	g.log.Write(&wirelog.Gateway{Event: "gateway", Version: version, StartedUnixUs: g.log.Began().UnixMicro(), Wire: settings.Asked()})
	var keys io.Writer
	if g.keys != nil {
		keys = g.keys
	}
	names := dial.NewNames(&settings.DNS, g.log)
	g.pools = pool.NewPools(settings, names, g.log, keys)
	g.relay = relay.New(g.pools, names, g.log)
	if settings.Reverse.On {
		g.front, err = front.ListenForAll(settings.Listen, settings.Certificate, settings.Key, &settings.Reverse, g.relay)
		return err
	}
	g.front, err = front.Listen(settings.Listen, settings.Certificate, settings.Key, g.relay, g.pools.Prepare)
	return err
}

// runUntil serves until a signal comes, or the log cannot be written: a measurement that is not written down is none.
func (g *gateway) runUntil(stop <-chan os.Signal, errors io.Writer) int {
	status := ended
	select {
	case <-stop:
	case err := <-g.log.Broken():
		fmt.Fprintf(errors, "lanelab-gateway: %v\n", err)
		status = failed
	}
	g.relay.Close() // first: what is under way was not cancelled by the browser
	g.front.Close()
	g.pools.Close()
	if err := g.log.Close(); err != nil && status == ended {
		fmt.Fprintf(errors, "lanelab-gateway: %v\n", err)
		status = failed
	}
	if g.keys != nil {
		g.keys.Close()
	}
	return status
}

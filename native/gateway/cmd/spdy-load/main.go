// spdy-load loads a server that speaks SPDY and tells how it did, as h2load does for HTTP/2. It speaks HTTP/2 as well, so
// that servers of both can be compared by one client.
//
//	spdy-load -protocol spdy/3.1 -clients 10 -streams 20 -requests 10000 http://127.0.0.1:8080/page
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"lanelab/gateway/internal/spdy"
)

const protocolH2 = "h2"

// Statuses of the process.
const (
	statusFine    = 0
	statusFailed  = 1 // some requests failed
	statusMisused = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, arguments []string, out, complaints io.Writer) int {
	load, asJSON, err := parse(arguments, complaints)
	if err != nil {
		fmt.Fprintln(complaints, "spdy-load:", err)
		return statusMisused
	}
	result := load.run(ctx)
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", " ")
		err = encoder.Encode(result)
	} else {
		_, err = io.WriteString(out, result.text())
	}
	if err != nil {
		fmt.Fprintln(complaints, "spdy-load: writing the result:", err)
		return statusFailed
	}
	if result.Failed > 0 {
		return statusFailed
	}
	return statusFine
}

func parse(arguments []string, complaints io.Writer) (*load, bool, error) {
	flags := flag.NewFlagSet("spdy-load", flag.ContinueOnError)
	flags.SetOutput(complaints)
	protocol := flags.String("protocol", spdy.V31.String(), "spdy/2, spdy/3, spdy/3.1 or, to compare, h2")
	l := new(load)
	flags.IntVar(&l.Clients, "clients", 1, "connections")
	flags.IntVar(&l.Streams, "streams", 1, "requests under way at once on each connection")
	flags.IntVar(&l.Requests, "requests", 100, "requests in all")
	flags.Int64Var(&l.BodyBytes, "body", 0, "bytes of body that each request brings (POST)")
	flags.DurationVar(&l.timeout, "timeout", time.Minute, "after which a connection or request has failed")
	flags.StringVar(&l.connect, "connect", "", "address:port to connect to instead of what the URL names")
	flags.StringVar(&l.encoding, "accept-encoding", "", "what the header of this name says; without it there is none")
	overTLS := flags.Bool("tls", false, "inside TLS, by ALPN; the certificate is not verified. The same as an https URL")
	asJSON := flags.Bool("json", false, "write the result as JSON")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: spdy-load [options] URL...\nSeveral URLs, of one server, are asked for in turn.")
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		return nil, false, err
	}
	if flags.NArg() == 0 {
		return nil, false, errors.New("a URL is needed: see spdy-load -help")
	}
	if l.Protocol = *protocol; l.Protocol != protocolH2 {
		var err error
		if l.version, err = spdy.ParseVersion(*protocol); err != nil {
			return nil, false, err
		}
		l.Protocol = l.version.String()
	}
	return l, *asJSON, l.aim(flags.Args(), *overTLS)
}

// aim takes the URLs apart.
func (l *load) aim(texts []string, overTLS bool) error {
	if l.Clients < 1 || l.Streams < 1 || l.Requests < 1 || l.BodyBytes < 0 {
		return errors.New("clients, streams and requests must be 1 at least, and -body not negative")
	}
	for _, text := range texts {
		target, err := url.Parse(text)
		if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
			return fmt.Errorf("%q is no http or https URL", text)
		}
		if overTLS {
			target.Scheme = "https"
		}
		if l.targets = append(l.targets, target); target.Host != l.targets[0].Host || target.Scheme != l.targets[0].Scheme {
			return fmt.Errorf("%q is on another server than %q", text, texts[0])
		}
	}
	first := l.targets[0]
	l.TLS, l.URL = first.Scheme == "https", first.String()
	if l.connect == "" {
		l.connect = first.Host
		if first.Port() == "" {
			l.connect += map[bool]string{false: ":80", true: ":443"}[l.TLS]
		}
	}
	return nil
}

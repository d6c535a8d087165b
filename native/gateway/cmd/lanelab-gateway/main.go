// lanelab-gateway carries a browser's requests over an emulated link in a protocol that the browser does not speak.
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"lanelab/gateway/internal/config"
)

// version of the gateway, as its log and --version say it.
const version = "1"

// Exit statuses.
const (
	ended    = 0
	failed   = 1
	refused  = 2
	usage    = "usage: lanelab-gateway [--check] CONFIG.json | --version"
	gcFactor = 400 // a trial's garbage is small: better some megabytes more than a collection within a page load
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(arguments []string, out, errors io.Writer) int {
	if len(arguments) == 2 && arguments[0] == "--check" {
		if _, err := config.Read(arguments[1]); err != nil {
			fmt.Fprintf(errors, "lanelab-gateway: %v\n", err)
			return refused
		}
		return ended
	}
	if len(arguments) != 1 {
		fmt.Fprintln(errors, usage)
		return refused
	}
	if arguments[0] == "--version" {
		fmt.Fprintf(out, "lanelab-gateway %s\n", version)
		return ended
	}
	debug.SetGCPercent(gcFactor)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	gateway, err := start(arguments[0])
	if err != nil {
		fmt.Fprintf(errors, "lanelab-gateway: %v\n", err)
		return err.status
	}
	fmt.Fprintln(out, "ready")
	return gateway.runUntil(stop, errors)
}

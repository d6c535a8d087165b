// lanelab-fetcher asks for given objects of a site, in whatever protocol the gateway speaks and by HTTP/3, and tells when each came and what it was. No browser
// takes part: what it measures is the wire, the server and next to nothing of its own.
//
//	lanelab-fetcher PLAN.json
//
// Its report is one JSON object on a line of stdout. What was on the wire it writes to the plan's log, as the gateway does.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"lanelab/gateway/internal/config"
)

// version of the fetcher, as its report, its log and --version say it.
const version = "1"

// Exit statuses.
const (
	ended    = 0
	failed   = 1
	refused  = 2
	usage    = "usage: lanelab-fetcher PLAN.json | --version"
	gcFactor = 400 // a fetch's garbage is small: better some megabytes more than a collection within it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, arguments []string, out, complaints io.Writer) int {
	if len(arguments) != 1 {
		fmt.Fprintln(complaints, usage)
		return refused
	}
	if arguments[0] == "--version" {
		fmt.Fprintf(out, "lanelab-fetcher %s\n", version)
		return ended
	}
	plan, err := config.ReadPlan(arguments[0])
	if err != nil {
		fmt.Fprintf(complaints, "lanelab-fetcher: %v\n", err)
		return refused
	}
	debug.SetGCPercent(gcFactor)
	f, err := begin(plan)
	if err != nil {
		fmt.Fprintf(complaints, "lanelab-fetcher: %v\n", err)
		return failed
	}
	status := ended
	if err := json.NewEncoder(out).Encode(f.fetchAll(ctx)); err != nil {
		fmt.Fprintf(complaints, "lanelab-fetcher: writing the report: %v\n", err)
		status = failed
	}
	if plan.Hold {
		<-ctx.Done()
	}
	if err := f.end(); err != nil {
		fmt.Fprintf(complaints, "lanelab-fetcher: %v\n", err)
		status = failed
	}
	return status
}

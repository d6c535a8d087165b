// Command lanelab-k6 is k6 with lanelab's transports and output.
package main

import (
	"go.k6.io/k6/cmd"

	_ "lanelab/gateway/load/lab"
)

func main() { cmd.Execute() }

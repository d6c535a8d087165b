module lanelab/gateway

go 1.26.0

require (
	github.com/moby/spdystream v0.5.1
	golang.org/x/net v0.62.0
)

require golang.org/x/text v0.43.0 // indirect

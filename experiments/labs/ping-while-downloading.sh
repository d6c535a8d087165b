#!/bin/sh
# How long does a ping take while a download fills the queue? For: lanelab bed run LINK -- this script
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
head -c 4000000 /dev/zero >"$folder/big"
node server python3 -m http.server 80 --directory "$folder" >"$folder/log" 2>&1 &
node client sh -c 'until curl -s -o /dev/null http://server/; do sleep 0.1; done'
node client ping -c 3 -i 0.3 server | grep time= | sed 's/^/idle: /'
node client curl -s -o /dev/null -w 'download: %{time_total} s\n' http://server/big &
download=$!
sleep 0.3
node client ping -c 10 -i 0.5 server | grep time= | sed 's/^/busy: /'
wait "$download"

#!/bin/sh
# Wait, then keep all processors busy for a while: busy.sh WAIT_S BUSY_S
set -eu
sleep "$1"
for processor in $(seq "$(nproc)"); do
    timeout "$2" sh -c 'while :; do :; done' &
done
wait

#!/bin/sh
# Wait, then give the processors other work for a while: busy.sh WAIT_S BUSY_S
# Four programs for each processor, as when a backup or a build begins.
set -eu
sleep "$1"
for _ in $(seq $((4 * $(nproc)))); do
    timeout "$2" sh -c 'while :; do :; done' &
done
wait

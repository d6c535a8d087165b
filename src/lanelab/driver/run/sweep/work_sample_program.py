"""The fixed work itself, as a program of its own: it needs the standard library alone, so that it is there at once.

It asks for one line with a number of seconds, works that long, answers with one line of JSON, the milliseconds of each
piece, and asks again. It ends with its input.

A piece is what a page load on a bed is made of: computing (a digest, and Python itself), memory traffic beyond what a
processor's own caches hold, and messages between two processes through pipes, as a browser's processes and the
router's kernel exchange them.
"""

import hashlib
import json
import os
import sys
import time

DIGESTED = bytes(range(256)) * 4096  # 1 MiB
COPIED = bytearray(b"x") * (16 << 20)  # written, so that it is memory of its own
COPY = bytearray(16 << 20)
COUNTED = 20_000
MESSAGES = 500


def piece(there: int, back: int) -> None:
    """A message goes `there` and comes `back`."""
    hashlib.sha256(DIGESTED).digest()
    total = 0
    for number in range(COUNTED):
        total += number & 7
    COPY[:] = COPIED
    for _ in range(MESSAGES):
        os.write(there, b"x")
        os.read(back, 1)


def echo(read: int, write: int) -> None:
    while message := os.read(read, 1):
        os.write(write, message)


def work(seconds: float, there: int, back: int) -> list[float]:
    """Do at least one piece: a short time on a busy machine gives a figure, too."""
    until = time.monotonic() + seconds
    times: list[float] = []
    while not times or time.monotonic() < until:
        began = time.perf_counter()
        piece(there, back)
        times.append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    """Do the work. The argument is the processors, with commas between them. The other process has to inherit them."""
    os.sched_setaffinity(0, map(int, sys.argv[1].split(",")))
    (read, there), (back, write) = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(there)
        os.close(back)
        echo(read, write)
        os._exit(0)
    os.close(read)
    os.close(write)
    piece(there, back)  # the first one finds nothing in memory
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(work(float(line), there, back)), flush=True)


if __name__ == "__main__":
    main()

"""A bulk transfer over a link, as a program of a user's would measure it.

    transfer.py send PORT SECONDS         the server: sends for so long to whoever connects
    transfer.py receive HOST PORT SINCE   the client: prints [[seconds since SINCE, bytes so far], …] as JSON

SINCE: a moment of the machine's clock (`date +%s.%N`). Standard library only: it runs on a node.
"""

import contextlib
import json
import socket
import sys
import time

BLOCK = bytes(1 << 14)


def send(port: str, seconds: str) -> None:
    with socket.create_server(("", int(port))) as server:
        connection, _ = server.accept()
        until = time.monotonic() + float(seconds)
        with connection, contextlib.suppress(OSError):
            while time.monotonic() < until:
                connection.send(BLOCK)


def receive(host: str, port: str, since: str) -> None:
    while True:
        with contextlib.suppress(ConnectionRefusedError):
            connection = socket.create_connection((host, int(port)))
            break
        time.sleep(0.02)  # this file runs by itself on a node: none of the kit is there
    points, total = [], 0
    with connection:
        while data := connection.recv(1 << 16):
            total += len(data)
            points.append((round(time.time() - float(since), 4), total))
    print(json.dumps(points))


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "send":
        send(*arguments)
    else:
        receive(*arguments)

"""Runs in the client node, by itself: lets the bed process reach ports of the node's loopback.

Chromium's DevTools listen on 127.0.0.1 of the node and nowhere else. This listens on the node's management address and
says on which port; whoever connects first writes the password and the port it wants: "PASSWORD PORT\\n".
"""

import contextlib
import socket
import sys
import threading


def main() -> None:
    address = sys.argv[1]
    password = sys.stdin.readline().strip()
    listener = socket.create_server((address, 0))
    print(listener.getsockname()[1], flush=True)
    # Our life is the caller's: a closed stdin ends us.
    threading.Thread(target=accept, args=(listener, password), daemon=True).start()
    sys.stdin.read()


def accept(listener: socket.socket, password: str) -> None:
    while True:
        line, _ = listener.accept()
        threading.Thread(target=serve, args=(line, password), daemon=True).start()


def serve(line: socket.socket, password: str) -> None:
    with contextlib.suppress(OSError, ValueError), line:
        wanted = b""
        while not wanted.endswith(b"\n") and len(wanted) < 200:
            byte = line.recv(1)
            if not byte:
                return
            wanted += byte
        given, port = wanted.decode().split()
        if given != password:
            return
        with socket.create_connection(("127.0.0.1", int(port))) as other:
            for end in (line, other):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=copy, args=(line, other), daemon=True).start()
            copy(other, line)


def copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main()

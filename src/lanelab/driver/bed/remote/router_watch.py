"""Tells which queueing disciplines of the router were changed meanwhile: its kernel announces each change.

A program of its own, in the router, for as long as a bed makes page loads. It sleeps in between: what the kernel
announces waits in its socket. It answers each line on its standard input with a line of JSON:

    begin    forget what was announced so far: {}
    end      what was announced since: {"changes": [[device, kind], …]}

It ends when its input ends. Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket

from lanelab.driver.bed.remote.tc_netlink import KIND, TC, attributes, messages

GROUP_TC = 1 << 3
ANNOUNCED = range(36, 44)  # RTM_NEWQDISC to RTM_DELTCLASS; those that ask for them are never announced
BUFFER = 1 << 20


class Announcements:
    """Announcements of the kernel about traffic control."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self._socket.bind((0, GROUP_TC))
        self._socket.setblocking(False)

    def forget(self) -> None:
        while True:
            try:
                self._socket.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:  # more than there was room for
                    raise

    def since(self) -> list[list[str]]:
        """Device and kind of each change; one that was announced and lost has neither."""
        changes_since: list[list[str]] = []
        while True:
            try:
                data = self._socket.recv(1 << 16)
            except BlockingIOError:
                return changes_since
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                changes_since.append(["", ""])
                continue
            changes_since += [change for change in changes(data) if change not in changes_since]


def changes(data: bytes) -> list[list[str]]:
    """Return the changes in the messages of one datagram."""
    changes_read = []
    for kind, _, body in messages(data):
        if kind in ANNOUNCED:
            _, _, _, device, _, _, _ = TC.unpack_from(body)
            named = dict(attributes(body[TC.size :])).get(KIND, b"")
            name = str(device)
            with contextlib.suppress(OSError):
                name = socket.if_indextoname(device)
            changes_read.append([name, named.rstrip(b"\0").decode()])
    return changes_read


def main() -> None:
    announcements = Announcements()
    while True:
        data = os.read(0, 4096)
        if not data:
            return
        for word in data.decode().split():
            if word == "begin":
                announcements.forget()
                say({})
            else:
                say({"changes": announcements.since()})


def say(data: dict[str, list[list[str]]]) -> None:
    print(json.dumps(data), flush=True)

"""Tells what a host is set to: its device's offloads, its kernel, what its connections use, and which files that it
answers from were written to.

    settings_reader.py DEVICE NETWORK PORT [NAME …]

A program of its own on the client and the server, for as long as a bed makes page loads: to start programs after each
load would take longer than all that they tell. NETWORK is the link's; connections of PORT are left out. Each NAME is a
file below /proc/sys. It answers each line on its standard input, which is a folder that is answered from or empty, with
a line of JSON: see `main`. It ends when its input ends. Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import array
import fcntl
import ipaddress
import json
import os
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.bed.remote.connections import (
    ESTABLISHED,
    FAMILIES,
    RECEIVE,
    SOCK_DIAG,
    TIMEOUT_S,
    ask,
)
from lanelab.driver.bed.remote.tc_netlink import DONE, ERROR, attributes, messages

STAGED = ".staged"  # what the name of the file ends with whose time is that at which a folder was whole
SIOCETHTOOL = 0x8946
GET_STRINGS, GET_SET_INFO, GET_FEATURES = 0x1B, 0x37, 0x3A
FEATURES, NAME_BYTES = 4, 32  # the set of strings that names them, and the room for each
CONTROL = 4  # INET_DIAG_CONG
IDENTITY = struct.Struct("=B3x2s2s16s16s")  # family, ports and addresses of inet_diag_msg
DIAG_BYTES = 72
OWN_NAMES = {"tx-generic-segmentation": "generic-segmentation-offload", "rx-gro": "generic-receive-offload",
             "rx-lro": "large-receive-offload"}  # fmt: skip


class Device:
    """Asks the kernel what an interface does with packets on its own, as `ethtool -k` does."""

    def __init__(self, name: str) -> None:
        self._name = name.encode()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._names = self._feature_names()

    def features(self) -> list[str]:
        """Return those that are on, by ethtool's names for those that have had one for longer."""
        blocks = len(self._names) // 32 + bool(len(self._names) % 32)
        data = self._ask(struct.pack("=II", GET_FEATURES, blocks) + bytes(16 * blocks))
        active = [struct.unpack_from("=I", data, 8 + 16 * block + 8)[0] for block in range(blocks)]
        on = [name for number, name in enumerate(self._names) if active[number // 32] >> number % 32 & 1]
        return sorted({_name(each) for each in on if each})

    def _feature_names(self) -> list[str]:
        info = self._ask(struct.pack("=IIQI", GET_SET_INFO, 0, 1 << FEATURES, 0))
        count = struct.unpack_from("=I", info, 16)[0]
        data = self._ask(struct.pack("=III", GET_STRINGS, FEATURES, count) + bytes(NAME_BYTES * count))
        names = (data[12 + NAME_BYTES * number :][:NAME_BYTES] for number in range(count))
        return [name.split(b"\0")[0].decode() for name in names]

    def _ask(self, question: bytes) -> bytes:
        data = array.array("B", question)
        fcntl.ioctl(self._socket, SIOCETHTOOL, struct.pack("@16sP16x", self._name, data.buffer_info()[0]))
        return data.tobytes()


def _name(kernels: str) -> str:
    if kernels.startswith("tx-tcp") and kernels.endswith("-segmentation"):
        return "tcp-segmentation-offload"
    return OWN_NAMES.get(kernels, kernels)


def controls(network: ipaddress.IPv4Network, without: int) -> list[str]:
    """Return the congestion control of each established connection within a network, but for those of a port."""
    names = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as diagnosis:
        diagnosis.settimeout(TIMEOUT_S)
        for family in FAMILIES:
            ask(diagnosis, family, (ESTABLISHED,), 1 << CONTROL - 1)
            for message in _answers(diagnosis):
                of, port, other, source, target = IDENTITY.unpack_from(message)
                ports = (int.from_bytes(port, "big"), int.from_bytes(other, "big"))
                if without not in ports and all(_address(of, each) in network for each in (source, target)):
                    name = dict(attributes(message[DIAG_BYTES:])).get(CONTROL, b"")
                    names.append(name.rstrip(b"\0").decode())
    return names


def _address(family: int, data: bytes) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    if family == socket.AF_INET:
        return ipaddress.IPv4Address(data[:4])
    address = ipaddress.IPv6Address(data)
    return address.ipv4_mapped or address


def _answers(diagnosis: socket.socket) -> Iterator[bytes]:
    """Yield the answers to what was asked last, without their headers."""
    while True:
        for kind, _, body in messages(diagnosis.recv(RECEIVE)):
            if kind == DONE:
                return
            if kind == ERROR:
                raise OSError("the kernel does not tell of its connections")
            yield body


def kernel(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that this kernel has."""
    for name in names:
        try:
            lines = Path("/proc/sys", name).read_text().splitlines()
        except OSError:
            continue
        yield name, " ".join(lines[0].split()) if lines else ""


def written_to(folder: str) -> list[str]:
    """Return what has been written to since the folder was whole. The kernel sets the time of a file's last change
    (ctime) by itself, also where a file with an older time takes the place of another. That of a folder changes with
    the names in it."""
    if not folder:
        return []
    try:
        whole_ns = Path(folder + STAGED).stat().st_mtime_ns
    except OSError:
        return ["all of it"]
    return sorted(os.path.relpath(path, folder) for path in _within(folder) if os.lstat(path).st_ctime_ns > whole_ns)


def _within(folder: str) -> Iterator[str]:
    """Yield the folder and all that is below it."""
    yield folder
    for at, folders, files in os.walk(folder):
        yield from (at + "/" + name for name in folders + files)


def main() -> None:
    device, network, port, *names = sys.argv[1:]
    interface, of_link = Device(device), ipaddress.IPv4Network(network)
    for line in sys.stdin:
        answer = {
            "controls": controls(of_link, int(port)),
            "features": interface.features(),
            "kernel": dict(kernel(names)),
            "written_to": written_to(line.rstrip("\n")),
        }
        print(json.dumps(answer), flush=True)

"""Commands that every substrate runs on its nodes, or beside them in the namespace of the bed itself."""

import subprocess
from collections.abc import Iterable, Sequence

from lanelab.driver.base.errors import MissingProgram, NodeError
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote.enclosure import BED_STATE
from lanelab.driver.bed.remote.namespaces import MS_BIND

OFFLOADS = ("tx", "gso", "tso", "gro")
# A program for the node, where it may mount: it binds a copy in memory, which the node alone sees, over the file. A
# dangling link (as /etc/resolv.conf is where /run is hidden) gets a file to point at; nothing is made outside /run.
COVER = """
import ctypes, os, sys
path, state, bind = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = os.path.realpath(path)
if not os.path.exists(path) and path.startswith("/run/"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "a").close()
copy = os.path.join(state, path.strip("/").replace("/", "-"))
covered = os.path.exists(copy)
with open(copy, "wb") as file:
    file.write(sys.stdin.buffer.read())
if not covered:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(copy.encode(), path.encode(), None, ctypes.c_ulong(bind), None) != 0:
        number = ctypes.get_errno()
        os.unlink(copy)
        sys.exit(f"{path}: {os.strerror(number)}")
"""


def program(name: str) -> str:
    """Return the path of a program that the bed itself needs."""
    path = find(name)
    if path is None:
        raise MissingProgram(f"the program '{name}' is not installed", "Run: ./lanelab doctor")
    return str(path)


def run_ip(lines: Iterable[str], *, node: Node | None = None, inherited: Iterable[int] = ()) -> None:
    """Run `ip` lines, all in one call; in the bed's own namespace unless a node is named."""
    _run(["ip", "-batch", "-"], node, stdin="\n".join(lines) + "\n", inherited=inherited)


def disable_offloads(device: str, node: Node | None = None) -> None:
    """Make packets what they would be on a wire: none larger than the MTU, every checksum filled in."""
    _run(["ethtool", "-K", device, *(word for name in OFFLOADS for word in (name, "off"))], node)


def cut_late(device: str, node: Node) -> None:
    """Let TCP hand over segments of up to 64 KiB, which nothing cuts on a cable within a machine. Joining what arrives
    would only cost time there."""
    wanted = {"tx": "on", "gso": "on", "tso": "on", "gro": "off"}
    _run(["ethtool", "-K", device, *(word for pair in wanted.items() for word in pair)], node)


def disable_ipv6(node: Node) -> None:
    """Keep router solicitations and the like out of captures. Where a container forbids it they stay."""
    node.run(set_kernel("net/ipv6/conf/all/disable_ipv6", "1"), check=False)


def set_kernel(setting: str, value: str) -> list[str]:
    """Return a command that sets a kernel setting. Not `sysctl`: its package brings a start-up script along."""
    return ["sh", "-c", 'printf %s "$1" > "/proc/sys/$2"', "sh", value, setting]


def _run(argv: Sequence[str], node: Node | None, *, stdin: str = "", inherited: Iterable[int] = ()) -> None:
    if node:
        node.run(argv, stdin=stdin.encode())
        return
    done = subprocess.run(
        [program(argv[0]), *argv[1:]], input=stdin.encode(), capture_output=True, pass_fds=tuple(inherited), check=False
    )
    if done.returncode != 0:
        raise NodeError(f"in the bed, '{' '.join(argv)}' failed: {done.stderr.decode(errors='replace').strip()}")


def cover(node: Node, path: str, text: str) -> None:
    """Let a node that is a mount namespace read this text from a file of its machine, which stays as it is."""
    node.run([*node.python, "-c", COVER, path, BED_STATE, str(MS_BIND)], stdin=text.encode())

"""Boots the UML router's kernel: on this machine, or as a program of its own on a machine that ssh reaches.

    uml_boot.py SETTINGS    boots it with packet sockets on the interfaces that SETTINGS names, connects stdin, stdout
                            and the agent inside, and on SIGUSR1 prints on stderr how many packets the sockets had
                            to drop since last asked. It ends the kernel when stdin ends, and ends when the kernel does.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MODULES_ROOT = Path("/usr/lib/uml/modules")
MODULES = (
    "sch_netem", "sch_tbf", "sch_fq_codel", "sch_cake", "sch_ingress", "ifb", "act_mirred", "cls_matchall", "veth"
)  # fmt: skip
MEMORY = "512M"  # taken only as it is used
INPUT_BYTES = 16 << 20
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23
PACKET_STATISTICS = 6
ETH_P_ALL = 3
BOOT_TIMEOUT_S = 60


def packet_socket(device: str) -> socket.socket:
    """What the kernel takes as one of its interfaces."""
    cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    cable.bind((device, ETH_P_ALL))
    cable.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    # As much as this machine allows: what arrives while the kernel is kept from its processor waits here, or is lost.
    cable.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, INPUT_BYTES)
    cable.setblocking(False)
    return cable


def dropped(cables: Sequence[socket.socket]) -> int:
    """Packets that found no room since this was last asked."""
    lost = 0
    for cable in cables:
        _, count = struct.unpack("II", cable.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        lost += count
    return lost


def watch_connection(line: socket.socket) -> None:
    """Send at once; and notice within seconds when the other kernel no longer answers at all."""
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 5), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3)):
        line.setsockopt(socket.IPPROTO_TCP, option, value)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 20_000)


def modules_folder() -> Path:
    """Of the kernel that was installed last."""
    return max(MODULES_ROOT.glob("*/modules.dep"), key=lambda path: path.stat().st_mtime).parent


def command(kernel: str, state: Path, cables: Sequence[socket.socket], python: str) -> list[str]:
    """The kernel's command line. It knows no quoting: nothing on it may have a space, as a checkout's path may; so its
    first process, the settings and this Python are reached through `state`."""
    inside = state / "router"
    (inside / "python").symlink_to(Path(python).resolve())
    interfaces = [f"vec{number}:transport=fd,fd={cable.fileno()},vec=0" for number, cable in enumerate(cables)]
    return [
        kernel,
        *(f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "devtmpfs.mount=1"),
        *("con=null", "con0=null,fd:1", "ssl=null", f"uml_dir={state}/uml"),
        *interfaces,
        f"init={inside}/python",
        "--",
        *("-I", "-S", f"{inside}/uml_init.py", f"{inside}/settings.json"),
    ]


def start(
    argv: Sequence[str], state: Path, log: Path, cables: Sequence[socket.socket], path: str
) -> subprocess.Popen[bytes]:
    """Boot it; its console goes to `log`."""
    (state / "uml").mkdir()
    # What tells this bed's processes from others', wherever they get to.
    marker = {"LANELAB_BED": os.environ["LANELAB_BED"]} if "LANELAB_BED" in os.environ else {}
    with log.open("wb") as console:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            env={"TMPDIR": str(state), "HOME": str(state), "PATH": path, **marker},
            pass_fds=[cable.fileno() for cable in cables],
            start_new_session=True,
        )


def main() -> None:
    settings: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    state = Path(settings["state"])
    cables = [packet_socket(device) for device in settings["devices"]]
    signal.signal(signal.SIGUSR1, lambda *_: print(dropped(cables[:-1]), file=sys.stderr, flush=True))
    with socket.create_server((settings["address"], 0)) as listener:
        inside = {**settings["inside"], "bed": listener.getsockname(), "modules_folder": str(modules_folder())}
        (state / "router" / "settings.json").write_text(json.dumps({**inside, "modules": MODULES}))
        argv = command(settings["kernel"], state, cables, sys.executable)
        kernel = start(argv, state, state / "console.log", cables, os.environ["PATH"])
        try:
            listener.settimeout(BOOT_TIMEOUT_S)
            line = _await_agent(listener, kernel)
            watch_connection(line)
            _relay(line)
        finally:
            if kernel.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(kernel.pid, signal.SIGKILL)
            kernel.wait()


def _await_agent(listener: socket.socket, kernel: subprocess.Popen[bytes]) -> socket.socket:
    listener.settimeout(0.2)
    for _ in range(BOOT_TIMEOUT_S * 5):
        try:
            return listener.accept()[0]
        except TimeoutError:
            if kernel.poll() is not None:
                raise SystemExit("the kernel ended while it booted") from None
        except OSError as error:  # before Python 3.10 a time-out is an error of its own
            if not isinstance(error, socket.timeout):
                raise
    raise SystemExit(f"the kernel did not boot within {BOOT_TIMEOUT_S} s")


def _relay(line: socket.socket) -> None:
    """Between the agent and stdin and stdout, until either ends."""
    while True:
        ready, _, _ = select.select([line.fileno(), 0], [], [])
        for source in ready:
            data = os.read(source, 65536)
            if not data:
                return
            if source == 0:
                line.sendall(data)
            else:
                while data:
                    data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()

"""Boots the UML router's kernel: on this machine, or as a program of its own on a machine that ssh reaches.

    uml_boot.py SETTINGS    boots it with packet sockets on the interfaces that SETTINGS names, connects stdin, stdout
                            and the agent inside, and on SIGUSR1 prints on stderr how many packets the sockets had
                            to drop since last asked. It ends the kernel when stdin ends, and ends when the kernel does.
    uml_boot.py -- ARGV     becomes that program, which sees the old registers of others only: see `plain_registers`

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
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
from typing import TypedDict

MODULES_ROOT = Path("/usr/lib/uml/modules")
MODULES = (
    "sch_netem", "sch_tbf", "sch_htb", "sch_codel", "sch_fq_codel", "sch_cake", "sch_pie", "sch_red",
    "sch_prio", "sch_ingress", "ifb", "act_mirred", "cls_matchall", "cls_u32", "veth"
)  # fmt: skip
MEMORY = "512M"  # taken only as it is used
# What a kernel does at its start and a router has no use for takes longer than all the rest: it measures ways to add up
# disks, makes 256 terminals of the old kind, tries all ciphers, measures its processor for drivers that wait for
# hardware.
LEFT_OUT = (
    "initcall_blacklist=raid6_select_algo,calibrate_xor_blocks,init_zswap,init_jfs_fs",
    "pty.legacy_count=0",
    "cryptomgr.notests",
    "lpj=8000000",
)
INPUT_BYTES = 16 << 20
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23
PACKET_STATISTICS = 6
ETH_P_ALL = 3
BOOT_TIMEOUT_S = 60
CPU_INFO = Path("/proc/cpuinfo")
# Where the kernel carries only the old registers (`plain_registers`), AVX is lost at every page fault. So what nearly
# all programs go through must not use them there: libc, OpenSSL, Go.
WITHOUT_AVX = (
    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-AVX_Fast_Unaligned_Load,-AVX512F,-AVX512VL,-AVX512BW",
    "OPENSSL_ia32cap=~0x1000000000000000:0",
    "GODEBUG=cpu.all=off",
)


def packet_socket(device: str) -> socket.socket:
    """Return what the kernel takes as one of its interfaces."""
    cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    cable.bind((device, ETH_P_ALL))
    cable.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    # As much as this machine allows: what arrives while the kernel is kept from its processor waits here, or is lost.
    cable.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, INPUT_BYTES)
    cable.setblocking(False)
    return cable


def dropped(cables: Sequence[socket.socket]) -> int:
    """Return packets that found no room since this was last asked."""
    lost = 0
    for cable in cables:
        _, count = struct.unpack("II", cable.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        lost += count
    return lost


def watch_connection(connection: socket.socket) -> None:
    """Send at once; and notice within seconds when the other kernel no longer answers at all."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 5), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3)):
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 20_000)


def modules_folder() -> Path:
    """Return the folder of the kernel that was installed last."""
    return max(MODULES_ROOT.glob("*/modules.dep"), key=lambda path: path.stat().st_mtime).parent


def command(kernel: str, state: Path, cables: Sequence[socket.socket], python: str) -> list[str]:
    """Return the kernel's command line. It knows no quoting: nothing on it may have a space, as a checkout's path may;
    so its first process, the settings and this Python are reached through `state`."""
    inside = state / "router"
    (inside / "python").symlink_to(Path(python).resolve())
    interfaces = [f"vec{number}:transport=fd,fd={cable.fileno()},vec=0" for number, cable in enumerate(cables)]
    return [
        kernel,
        *(f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "devtmpfs.mount=1"),
        *LEFT_OUT,
        *("con=null", "con0=null,fd:1", "ssl=null", f"uml_dir={state}/uml"),
        *interfaces,
        *(WITHOUT_AVX if has_large_registers() else ()),  # what the kernel does not know it gives to its first process
        f"init={inside}/python",
        "--",
        *("-I", "-S", "-B", f"{inside}/lanelab/driver/bed/remote/uml_init.py", f"{inside}/settings.json"),
    ]


def start(
    argv: Sequence[str], state: Path, log: Path, cables: Sequence[socket.socket], path: str
) -> subprocess.Popen[bytes]:
    """Boot it; its console goes to `log`."""
    (state / "uml").mkdir()
    if has_large_registers():
        argv = [sys.executable, "-I", "-S", __file__, "--", *argv]
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


def has_large_registers() -> bool:
    """Return whether this machine's registers, with AMX's 8 KiB among them, are more than UML's kernel has room for."""
    return " amx_tile" in CPU_INFO.read_text()


def plain_registers() -> None:
    """Let this process, and what it becomes, see no registers beyond x87 and SSE where it traces another one.

    UML's kernels before 6.13 set a traced process's registers from a buffer of fixed size. A machine with AMX takes all
    of them or none, so the first process inside is killed. A kernel that is told at the start that there are none but
    the old ones (EINVAL) uses those. What says so is a filter of system calls, which takes no privilege:

        ptrace(PTRACE_GETREGSET or PTRACE_SETREGSET, any process, NT_X86_XSTATE, …)   ->   EINVAL
    """
    load, equal, give = 0x20, 0x15, 0x06  # of the classic BPF: a word of the call; jump by (if so, if not); the verdict
    architecture, number, request, kind = 4, 0, 16, 32  # where in the call
    allow, fail = 0x7FFF0000, 0x00050000
    lines = (
        (load, 0, 0, architecture), (equal, 0, 7, 0xC000003E),
        (load, 0, 0, number), (equal, 0, 5, 101),
        (load, 0, 0, request), (equal, 1, 0, 0x4204), (equal, 0, 2, 0x4205),
        (load, 0, 0, kind), (equal, 1, 0, 0x202),
        (give, 0, 0, allow), (give, 0, 0, fail | errno.EINVAL),
    )  # fmt: skip
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    wanted = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    for option, value, pointer in ((no_new_privileges, 1, None), (seccomp, by_filter, wanted)):
        if libc.prctl(option, ctypes.c_ulong(value), pointer, None, None):
            raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls, which UML needs with AMX")


class Inside(TypedDict):
    """The network of the kernel's own."""

    ip_lines: list[str]


class Settings(TypedDict):
    """The file that this program reads."""

    state: str  # a folder
    kernel: str  # the program
    devices: list[str]
    address: str  # where the agent inside comes to
    inside: Inside


def main() -> None:
    if sys.argv[1] == "--":
        plain_registers()
        os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606 - it becomes that program
    settings: Settings = json.loads(Path(sys.argv[1]).read_text())
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
            connection = _await_agent(listener, kernel)
            watch_connection(connection)
            _relay(connection)
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


def _relay(connection: socket.socket) -> None:
    """Relay between the agent and stdin and stdout, until either ends."""
    while True:
        ready, _, _ = select.select([connection.fileno(), 0], [], [])
        for source in ready:
            data = os.read(source, 65536)
            if not data:
                return
            if source == 0:
                connection.sendall(data)
            else:
                while data:
                    data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()

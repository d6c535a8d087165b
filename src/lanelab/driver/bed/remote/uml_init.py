"""The first process of the UML router: makes the kernel usable, then becomes the agent.

The kernel starts it as `python3 -I -S uml_init.py SETTINGS`; the root file system is the host's own, seen through
hostfs, so nothing here may write outside /run, which is the router's own memory. SETTINGS is a JSON file with the
modules to load, the `ip` lines to run, and where the bed process waits for the agent's connection.
Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from lanelab.driver.base.system_path import SYSTEM_PATH
from lanelab.driver.bed.remote.agent import Agent

FINIT_MODULE_X86_64 = 313
RB_POWER_OFF = 0x4321FEDC
libc = ctypes.CDLL(None, use_errno=True)


def mount(kind: str, target: str) -> None:
    if libc.mount(kind.encode(), target.encode(), kind.encode(), 0, None) != 0:
        raise OSError(ctypes.get_errno(), f"cannot mount {kind} on {target}")


def load_modules(folder: Path, wanted: list[str]) -> None:
    """Load kernel modules and what they need, dependencies first, as modules.dep lists them."""
    needs: dict[str, list[str]] = {}
    paths: dict[str, str] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        name = Path(path).name.split(".")[0]
        paths[name] = path
        needs[name] = [Path(other).name.split(".")[0] for other in rest.split()]
    loaded: set[str] = set()

    def load(name: str) -> None:
        if name in loaded or name not in paths:  # not in modules.dep: built into the kernel, or tc will say
            return
        loaded.add(name)
        for other in needs[name]:
            load(other)
        fd = os.open(folder / paths[name], os.O_RDONLY)
        try:
            if libc.syscall(FINIT_MODULE_X86_64, fd, b"", 0) != 0:
                print(f"lanelab: module {name} not loaded: {os.strerror(ctypes.get_errno())}", flush=True)
        finally:
            os.close(fd)

    for name in wanted:
        load(name)


def configure(lines: list[str]) -> None:
    argv = ["ip", "-batch", "-"]
    done = subprocess.run(argv, input="\n".join(lines), text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise OSError(f"lanelab: the router's 'ip -batch' failed: {done.stderr}")


def main() -> None:
    os.environ.update(PATH=SYSTEM_PATH, HOME="/run", TERM="dumb")
    settings = json.loads(Path(sys.argv[1]).read_text())  # in a /run that is about to be hidden
    mount("proc", "/proc")
    mount("tmpfs", "/run")
    mount("sysfs", "/sys")
    Path("/dev/pts").mkdir(exist_ok=True)
    mount("devpts", "/dev/pts")  # terminals
    socket.sethostname("router")
    load_modules(Path(settings["modules_folder"]), settings["modules"])
    configure(settings["ip_lines"])
    os.chdir("/")
    connection = socket.create_connection(settings["bed"])
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    Agent(connection.fileno(), connection.fileno()).serve()


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 - a first process that ends panics the kernel; the console log tells why
        traceback.print_exc()
    sys.stdout.flush()
    os.sync()
    libc.reboot(RB_POWER_OFF)

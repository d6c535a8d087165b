"""The first process of the UML router: makes the kernel usable, then becomes the agent on the serial line.

The kernel starts it as `python3 -I -S uml_init.py MODULES_DIR MODULE...`; the root file system is the host's own,
seen through hostfs, so nothing here may write outside /run, which is the router's own memory.
Standard library only.
"""

from __future__ import annotations

import ctypes
import os
import sys
import traceback
import tty
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agent import Agent  # type: ignore[import-not-found] # noqa: E402 - found beside this file, where -I hides it

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


def main() -> None:
    modules, wanted = Path(sys.argv[1]), sys.argv[2:]
    os.environ.update(PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME="/run", TERM="dumb")
    mount("proc", "/proc")
    mount("tmpfs", "/run")
    mount("sysfs", "/sys")
    load_modules(modules, wanted)
    line = os.open("/dev/ttyS0", os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line)
    Agent(line, line).serve()


if __name__ == "__main__":
    try:
        main()
    except BaseException:  # noqa: BLE001 - a first process that ends panics the kernel; the console log tells why
        traceback.print_exc()
    sys.stdout.flush()
    os.sync()
    libc.reboot(RB_POWER_OFF)

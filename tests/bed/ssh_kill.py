"""Kills parts of a bed on this machine, by SIGKILL and at once: keeper, guard. Runs there, by itself."""

import os
import signal
import sys
import time
from pathlib import Path


def ours() -> dict[int, int]:
    """Every process of lanelab's on this machine -> its parent."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"base64.b64decode(sys.stdin" in (folder / "cmdline").read_bytes():
                found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def main() -> None:
    until = time.monotonic() + 60
    while not kill(sys.argv[1:]):  # those of a bed before may be about to end
        assert time.monotonic() < until, ours()
        time.sleep(0.1)  # this file runs by itself on a machine: none of the kit is there


def kill(names: list[str]) -> bool:
    """All of them, or none where it is not clear who is who."""
    parents = ours()
    # The guard has lost its parent; the keeper's is a shell that has the same words on its command line, or sshd.
    guards = [pid for pid, parent in parents.items() if parent == 1]
    children = set(parents.values())
    keepers = [pid for pid, parent in parents.items() if parent != 1 and pid in children and is_python(pid)]
    victims = {"guard": guards, "keeper": [pid for pid in keepers if not is_python(parents[pid])]}
    if any(len(victims[name]) != 1 for name in names):
        return False
    for name in names:
        os.kill(victims[name][0], signal.SIGKILL)
    return True


def is_python(pid: int) -> bool:
    return "python" in Path(f"/proc/{pid}/exe").readlink().name


main()

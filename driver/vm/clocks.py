"""The machines' clocks.

A virtual one begins at a full second, runs as its processor gets to run, and stands still while the machine below
sleeps; certificates that are made here and used there then are not valid yet. No way to a time server is taken for
granted, so lanelab sets them whenever it is about to use the machines.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from driver.errors import VmError
from driver.vm import vagrant

# The time is said when the other side is ready to hear it: to begin a process takes an emulated machine a second.
SETTER = (
    "import sys, time\n"
    "print('ready', flush=True)\n"
    "time.clock_settime(time.CLOCK_REALTIME, float(sys.stdin.readline()))\n"
    "print('set', flush=True)\n"
)
ANSWER_S = 120.0


def set_all(names: Sequence[str], ssh_config: Path) -> None:
    """Set the clocks of these machines to this one's."""
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda name: _set(name, ssh_config), names))


def _set(name: str, ssh_config: Path) -> None:
    argv = ["ssh", "-F", str(ssh_config), "-o", "BatchMode=yes", "-o", f"ConnectTimeout={ANSWER_S:.0f}", name]
    with subprocess.Popen(
        [*argv, shlex.join(["sudo", "-n", "/usr/bin/python3", "-I", "-c", SETTER])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=vagrant.environment(),
    ) as process:  # fmt: skip
        try:
            if process.stdin and process.stdout and process.stdout.readline() == "ready\n":
                process.stdin.write(f"{time.time()}\n")
                process.stdin.flush()
            said, complaint = process.communicate(timeout=ANSWER_S)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            process.kill()
            said, complaint = "", "no answer"
    if "set" not in said:
        what = f"the clock of {name} could not be set: {complaint.strip() or 'no answer'}"
        raise VmError(what, "Look at: lanelab vm status")

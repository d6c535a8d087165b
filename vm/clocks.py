"""The machines' clocks.

A virtual one begins at a full second, runs as its processor gets to run, and stands still while the machine below
sleeps; certificates that are made here and used there then are not valid yet. No way to a time server is taken for
granted, so lanelab sets them before it makes a bed of the machines. Not while another bed uses one: a step would be in
that bed's captures and logs. Nor where a clock is right: a step that nobody needs is one too many.
"""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from driver.timeouts import scaled
from model.errors import HostAway
from vm import vagrant

BEDS_LOCKS = "/run/lanelab-hosts/*.lock"  # a bed holds one for each interface over there that it uses
ENOUGH_S = 0.3  # a bed refuses machines that are a second off
# The time is said when the other side is ready to hear it: to begin a process takes an emulated machine a second.
# A bed's lock is looked for and not tried: one that is about to begin would find it taken.
SETTER = f"""
import glob, os, sys, time

def in_use():
    locks = (words for words in map(str.split, open("/proc/locks")) if words[1::2][:2] == ["FLOCK", "WRITE"])
    held = {{words[5].rpartition(":")[2] for words in locks}}
    return any(str(os.stat(path).st_ino) in held for path in glob.glob({BEDS_LOCKS!r}))

print("ready", flush=True)
line = sys.stdin.readline()
if line:
    now = float(line)
    if abs(time.time() - now) > {ENOUGH_S} and not in_use():
        time.clock_settime(time.CLOCK_REALTIME, now)
    print("done", flush=True)
"""
ANSWER_S = 30.0  # patience multiplies it
# A machine that has stopped in the middle of it (paused, or this one slept) says nothing, and does not hang up either.
LIVELY = ("BatchMode=yes", "ServerAliveInterval=5", "ServerAliveCountMax=6", "LogLevel=ERROR")
REMEDY = "Look at: lanelab vm status"


def set_all(names: Sequence[str], ssh_config: Path) -> None:
    """See to it that the clocks of these machines are this one's. HostAway where one does not answer."""
    limit_s = scaled(ANSWER_S)
    with contextlib.ExitStack() as ending:
        begun = {name: ending.enter_context(_begun(name, ssh_config, limit_s)) for name in names}
        # One after the other: all have begun, and the time is read when it is said.
        for name, process in begun.items():
            _set(name, process, limit_s)


def _command(name: str, ssh_config: Path, limit_s: float) -> list[str]:
    options = (*LIVELY, f"ConnectTimeout={limit_s:.0f}")
    words = [word for option in options for word in ("-o", option)]
    setter = shlex.join(["sudo", "-n", "/usr/bin/python3", "-I", "-c", SETTER])
    return ["ssh", "-F", str(ssh_config), *words, name, setter]


@contextlib.contextmanager
def _begun(name: str, ssh_config: Path, limit_s: float) -> Iterator[subprocess.Popen[str]]:
    """The setter over there. It is killed when its time is up, and when we are interrupted."""
    with subprocess.Popen(
        _command(name, ssh_config, limit_s),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=vagrant.environment(),
    ) as process:  # fmt: skip
        alarm = threading.Timer(limit_s, process.kill)
        alarm.daemon = True
        alarm.start()
        try:
            yield process
        finally:
            alarm.cancel()
            process.kill()


def _set(name: str, process: subprocess.Popen[str], limit_s: float) -> None:
    if not process.stdin or not process.stdout:
        raise RuntimeError("the setter has no pipes")
    if any(line == "ready\n" for line in process.stdout):  # whatever a shell prints at login
        with contextlib.suppress(BrokenPipeError):  # it has ended; why, it says itself
            process.stdin.write(f"{time.time()}\n")
            process.stdin.flush()
    said, complaint = process.communicate()
    if "done" not in said:
        why = complaint.strip() or f"no answer within {limit_s:.0f} s"
        raise HostAway(f"the clock of {name} could not be set: {why}", REMEDY)

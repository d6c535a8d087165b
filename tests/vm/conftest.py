"""Real virtual machines: brought up once, used by each test in turn, removed. Only with `./lanelab test --vm`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.bed.vagrant import host
from tools.test import VM_VARIABLE

TIMES = pytest.StashKey[list[tuple[str, float]]]()
PATIENCE_S = 3600.0


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """They change what runs on this machine, and take long: not part of `./lanelab test`."""
    return True if collection_path.suffix == ".py" and not os.environ.get(VM_VARIABLE) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/vm/" in str(item.path):
            item.add_marker(pytest.mark.timeout(PATIENCE_S))


def of_this_machine() -> dict[str, object]:
    """All that a libvirtd of lanelab's own might change here."""
    written = [
        Path("/etc/libvirt"),
        Path("/var/lib/libvirt"),
        *Path("/run").glob("libvirt*"),
        *Path("/run").glob("lanelab-libvirtd"),
    ]
    files = [file for place in written for file in [place, *place.rglob("*")]]
    return {
        "files": {str(file): file.stat().st_mtime_ns for file in files},
        "settings": host.settings(),
        "firewalls": {program: firewall(program) for program in host.FIREWALLS},
        "interfaces": sorted(each.name for each in Path("/sys/class/net").iterdir()),
    }


def firewall(program: str) -> list[str]:
    """Chains and rules, without what they have counted. Tables without any are left out: looking makes them."""
    said = subprocess.run([f"{program}-save"], capture_output=True, text=True, check=False).stdout
    plain = ("#", "*", "COMMIT")
    lines = [line.split(" [")[0] for line in said.splitlines() if not line.startswith(plain)]
    return sorted(line for line in lines if not re.fullmatch(r":[A-Z]+ ACCEPT", line))


class Vms:
    """`lanelab` as a user types it, in the build folder of this checkout, where the box is. Every command is timed."""

    def __init__(self, times: list[tuple[str, float]]) -> None:
        self.times = times
        self.before: dict[str, object] = {}  # this machine, before they were brought up

    def lanelab(self, *words: str, status: Sequence[int] = (0,)) -> str:
        """Its stdout; what it says besides goes to the terminal, for who waits."""
        begun = time.monotonic()
        argv = [sys.executable, "-P", "-m", "lanelab.driver.cli", *words]
        # A session of its own: Ctrl-C is ours, and lanelab gets it once. More would break Vagrant off in the middle.
        with subprocess.Popen(argv, cwd=PROJECT, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
            try:
                said, _ = process.communicate()
            except BaseException:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise
        self.times.append((f"lanelab {' '.join(words)}", time.monotonic() - begun))
        assert process.returncode in status, f"{words} ended with status {process.returncode}:\n{said[-2000:]}"
        return said

    def run(self, machine: str, *command: str) -> str:
        """A command in a machine; its stdout."""
        return self.lanelab("vm", "ssh", machine, "--", *command)


@pytest.fixture(scope="session")
def vms(request: pytest.FixtureRequest) -> Iterator[Vms]:
    """The machines, up."""
    machines = Vms(request.config.stash.setdefault(TIMES, []))
    said = json.loads(machines.lanelab("vm", "status", "--json"))
    if {machine["state"] for machine in said["machines"]} != {"not_created"}:
        pytest.exit("there are virtual machines already, perhaps in use. Remove them first: ./lanelab vm destroy", 2)
    try:
        machines.before = of_this_machine()
        machines.lanelab("vm", "up")
        yield machines
    finally:
        machines.lanelab("vm", "destroy")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How long each command took."""
    for command, seconds in config.stash.get(TIMES, []):
        terminalreporter.write_line(f"{seconds:7.1f} s  {command.splitlines()[0]}")

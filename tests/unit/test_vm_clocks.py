"""The machines' clocks, without machines: a stand-in for ssh runs the setter here, with a clock that is nobody's."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model.errors import BedError, HostAway
from model.paths import PROJECT
from vm import clocks, vagrant

# As sudo it is given a Python program, and runs it in this Python with another clock; what is set is written down.
SUDO = """#!{python}
import sys, time
ahead = float(open("{folder}/ahead").read())
real = time.time
time.time = lambda: real() + ahead
time.clock_settime = lambda clock, now: open("{folder}/set", "a").write("%f %f\\n" % (now, real()))
exec(sys.argv[sys.argv.index("-c") + 1])
"""
SSH = """#!/bin/sh
for words in "$@"; do :; done
echo "you have mail"
exec sh -c "$words"
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the stand-ins; `ahead` is how far its clock is, `set` what it was set to."""
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    monkeypatch.delenv("LANELAB_PATIENCE", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    write(tmp_path / "sudo", SUDO.format(python=sys.executable, folder=tmp_path))
    write(tmp_path / "ssh", SSH)
    (tmp_path / "ahead").write_text("-3600")
    return tmp_path


def write(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def times_set(machine: Path) -> list[str]:
    return (machine / "set").read_text().splitlines() if (machine / "set").exists() else []


def test_clocks_that_are_off_are_set_to_this_ones(machine: Path) -> None:
    clocks.set_all(vagrant.MACHINES, machine / "ssh-config")
    found = [[float(word) for word in line.split()] for line in times_set(machine)]
    assert len(found) == 3
    assert all(0 <= now - told < 1 for told, now in found)


def test_a_clock_that_is_right_is_left_alone(machine: Path) -> None:
    (machine / "ahead").write_text("0")
    clocks.set_all(vagrant.MACHINES, machine / "ssh-config")
    assert times_set(machine) == []


def test_the_clock_of_a_machine_that_a_bed_uses_is_left_alone(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step would be in the time stamps of that bed's captures."""
    monkeypatch.setattr(clocks, "SETTER", clocks.SETTER.replace(clocks.BEDS_LOCKS, f"{machine}/*.lock"))
    with (machine / "eth1.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        clocks.set_all(["client"], machine / "ssh-config")
        assert times_set(machine) == []
    clocks.set_all(["client"], machine / "ssh-config")
    assert len(times_set(machine)) == 1


def test_the_locks_are_where_beds_have_them() -> None:
    text = "\n".join(path.read_text() for path in (PROJECT / "driver" / "bed" / "remote").glob("*.py"))
    folder, name = clocks.BEDS_LOCKS.split("*")
    assert f'Path("{folder.rstrip("/")}")' in text
    assert f'"{name}"' in text
    assert "fcntl.flock" in text


@pytest.mark.parametrize(
    ("ssh", "why"),
    [
        ("echo 'Connection refused' >&2; exit 255", "Connection refused"),
        ("echo ready; exec sleep 60", "no answer within 1 s"),  # paused after the login
        ("exec sleep 60", "no answer within 1 s"),  # or before
    ],
)
def test_a_machine_that_does_not_answer_is_told_in_time_and_costs_a_run_one_bed(
    machine: Path, monkeypatch: pytest.MonkeyPatch, ssh: str, why: str
) -> None:
    monkeypatch.setattr(clocks, "ANSWER_S", 1.0)
    write(machine / "ssh", f"#!/bin/sh\n{ssh}\n")
    began = time.monotonic()
    with pytest.raises(HostAway, match=rf"the clock of client could not be set: {why}.*lanelab vm status"):
        clocks.set_all(vagrant.MACHINES, machine / "ssh-config")
    assert time.monotonic() - began < 10
    assert issubclass(HostAway, BedError)


def test_an_interrupt_does_not_wait_for_machines_that_are_silent(machine: Path) -> None:
    write(machine / "ssh", f"#!/bin/sh\necho $$ >>{machine}/begun\nexec sleep 60\n")
    program = f"from vm import clocks; clocks.set_all(['client', 'server'], {str(machine / 'config')!r})"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=PROJECT, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "."}
    ) as process:
        until = time.monotonic() + 30
        while not (machine / "begun").exists() or len((machine / "begun").read_text().split()) < 2:
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.wait(10)
    for pid in (machine / "begun").read_text().split():
        assert not Path("/proc", pid).exists()


def test_what_stops_answering_in_the_middle_is_noticed() -> None:
    """TCP alone would wait for hours."""
    argv = clocks._command("client", Path("config"), 30)
    assert "ServerAliveInterval=5" in argv
    assert "ConnectTimeout=30" in argv


def test_longer_time_limits_of_emulated_machines_count(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    monkeypatch.setenv("LANELAB_PATIENCE", "6")
    monkeypatch.setattr(clocks, "_set", lambda _name, _process, limit_s: limits.append(limit_s))
    clocks.set_all(["client"], machine / "ssh-config")
    assert limits == [6 * clocks.ANSWER_S]

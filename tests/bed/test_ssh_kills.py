"""Whatever dies, and in whatever order: the machines are as before, and the run goes on."""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs import needs
from tests.kit.wait import wait_until

from .ssh_lab import MACHINES
from .ssh_machines import Machines, why_not

LACKING = [program.name for program in needs.missing(needs.programs(*needs.PAGE_LOAD))]
pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")
needs_pages = pytest.mark.skipif(bool(LACKING), reason=f"no page can be loaded here: {', '.join(LACKING)} missing")

KILL = Path(__file__).with_name("ssh_kill.py")
RESTORED_WITHIN_S = 30
TRIALS_LACK = 3  # the status of a run that has gone on to its end, with too few trials: a busy machine's links are late
EXPERIMENT = """\
description: a few loads
sites: [dummy]
links: {rtt: 200ms} # of which a busy machine does not make another
defaults: {start: fresh-context}
arms:
  h2: {protocol: h2, tls: "1.3"}
trials: 2
retries: 10 # a busy machine's captures lack packets
seed: 5
"""

SETTING = """
import json, os, subprocess, sys
from pathlib import Path
from lanelab.driver.bed.ssh import connection as ssh_line
from lanelab.driver.bed.ssh.hosts import Hosts
from lanelab.driver.base.errors import HostAway
def line_to(name):
    host = getattr(Hosts.from_json(json.load(sys.stdin)), name)
    made = ssh_line.SshConnection(name, host, Path(sys.argv[1], "said"), os.getpid())
    made.open()
    return made
"""
VANISHING = """
ssh_line.QUESTION_WITHIN_S = 5
line = line_to("client")  # open until this program ends
line.ask("clock")
subprocess.run("ip link set dev m-client down".split(), check=True)
"""
LATE = """
cables = [{"on": on, "name": on, "mac": "02:00:00:00:00:0" + on[-1]} for on in ("eth2", "eth1")][::-1]
try:
    order = {"name": "late", "cables": cables, "cpus": [], "marker": "", "silence_s": 20.0}
    line_to("router").become_agent(order)
except HostAway as error:
    print(error.what, "passes")
"""


@pytest.fixture(scope="module")
def before(machines: Machines) -> dict[str, Any]:
    return {name: machines.snapshot(name) for name in MACHINES}


class Controller:
    """`lanelab` beside the machines."""

    def __init__(self, machines: Machines, folder: Path, *words: str) -> None:
        argv = machines.inside(sys.executable, "-P", "-m", "lanelab.driver.cli", *words)
        environment = {**machines.environment, "LANELAB_BUILD": str(folder / "build"), "LANELAB_NO_INSTALL": "1"}
        self.process = subprocess.Popen(
            argv, env=environment, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        assert self.process.stdout
        self._errors: list[bytes] = []
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr
        self._errors += self.process.stderr

    @property
    def errors(self) -> str:
        return b"".join(self._errors).decode()

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().decode()

    def until(self, event: str) -> dict[str, Any]:
        """Read what `run --json` tells until that."""
        while line := self.line():
            told: dict[str, Any] = json.loads(line)
            if told["event"] == event:
                return told
        self.end()
        raise AssertionError(f"it ended without '{event}': {self.errors}")

    def kill(self) -> None:
        """lanelab itself: the child of what has entered the machines' surroundings for it."""
        pid = self.process.pid
        os.kill(int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]), signal.SIGKILL)

    def end(self) -> int:
        assert self.process.stdout
        self.process.stdout.read()
        self._listener.join()
        return self.process.wait()


def held(machines: Machines, folder: Path) -> Controller:
    """A bed that is up, and stays up for as long as nothing is killed."""
    bed = ("--substrate", "ssh", "--inventory", str(machines.inventory()))
    made = Controller(machines, folder, "bed", "exec", "client", *bed, "--", "sh", "-c", "echo up; sleep 100")
    assert made.line() == "up\n", (made.end(), made.errors)
    return made


def kill_on(machines: Machines, name: str, *parts: str) -> None:
    machines.run(machines.on(name, sys.executable, str(KILL), *parts))


def test_a_bed_changes_nothing_of_the_machines_own_but_offloads(
    machines: Machines, before: dict[str, Any], tmp_path: Path
) -> None:
    bed = held(machines, tmp_path)
    now = {name: machines.snapshot(name) for name in MACHINES}
    kill_on(machines, "router", "guard")  # there the keeper is alone with it
    bed.kill()
    assert machines.restored(before, RESTORED_WITHIN_S) == {}
    assert bed.end() != 0
    for name in MACHINES:
        changed = {key for key in now[name] if now[name][key] != before[name][key]}
        assert "offloads" in changed, "else these tests could not tell that they were put back"
        # devices: an interface with a macvlan on it may be promiscuous; files: the note of what the offloads were
        assert changed <= {"offloads", "processes", "namespaces", "devices", "files"}


def test_when_keepers_and_guards_are_killed_whoever_is_left_restores(
    machines: Machines, before: dict[str, Any], tmp_path: Path
) -> None:
    first = held(machines, tmp_path)
    kill_on(machines, "server", "guard", "keeper")
    assert first.end() != 0
    assert "server" in first.errors
    left = machines.restored(before, 3)
    assert set(left) >= {"server: offloads", "server: files"}, "nobody was left to restore them"
    second = held(machines, tmp_path)
    kill_on(machines, "client", "keeper")
    assert second.end() != 0
    assert "client" in second.errors
    assert machines.restored(before, RESTORED_WITHIN_S) == {}


def test_when_the_controller_is_silent_its_machine_is_as_before_while_it_still_is(
    machines: Machines, before: dict[str, Any], tmp_path: Path
) -> None:
    """No word comes through that the connection is over: only the keeper's patience ends."""
    bed = held(machines, tmp_path)
    assert changes(machines, before, "client") >= {"offloads", "files", "namespaces"}
    machines.run(machines.inside("ip", "link", "set", "dev", "m-client", "down"))
    kept = {"offloads", "files", "namespaces", "qdiscs"}
    try:
        assert bed.end() != 0
        assert "client" in bed.errors
        wait_until(lambda: not changes(machines, before, "client") & kept, RESTORED_WITHIN_S)
    finally:
        machines.run(machines.inside("ip", "link", "set", "dev", "m-client", "up"))
    assert machines.restored(before, RESTORED_WITHIN_S) == {}


def changes(machines: Machines, before: dict[str, Any], name: str) -> set[str]:
    now = machines.snapshot(name)
    return {key for key in now if now[key] != before[name][key]}


def test_a_machine_that_never_becomes_a_node_is_left_by_itself(machines: Machines, before: dict[str, Any]) -> None:
    """The controller vanishes without a word before its bed is up."""
    beside(machines, VANISHING)
    try:
        assert python_on(machines, "client")
        wait_until(lambda: not python_on(machines, "client"), RESTORED_WITHIN_S)
    finally:
        machines.run(machines.inside("ip", "link", "set", "dev", "m-client", "up"))
    assert machines.restored(before, RESTORED_WITHIN_S) == {}


def python_on(machines: Machines, name: str) -> list[str]:
    return [words for words in machines.snapshot(name)["processes"] if "b64decode" in words]


def test_a_bed_that_comes_too_late_changes_nothing_of_the_one_that_is_up(
    machines: Machines, before: dict[str, Any], tmp_path: Path
) -> None:
    """Both have looked and found the machines free."""
    bed = held(machines, tmp_path)
    quiet = {name: machines.snapshot(name)["offloads"] for name in MACHINES}
    told = beside(machines, LATE)
    assert told == "router1 (router): another bed uses eth1 passes"
    for name in MACHINES:
        now = machines.snapshot(name)
        assert now["offloads"] == quiet[name] != before[name]["offloads"]
        assert any(path.endswith(".json") for path in now["files"]), "the note of how they were"
    bed.kill()
    bed.end()
    assert machines.restored(before, RESTORED_WITHIN_S) == {}


def beside(machines: Machines, program: str) -> str:
    """What a program of the controller's says."""
    argv = machines.inside(sys.executable, "-P", "-c", SETTING + program, str(machines.folder))
    hosts = json.dumps(machines.hosts().to_json())
    done = subprocess.run(
        argv, env=machines.environment, cwd=PROJECT, input=hosts, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_pages
def test_a_run_that_is_killed_leaves_nothing_and_goes_on(
    machines: Machines, before: dict[str, Any], tmp_path: Path
) -> None:
    experiment, out = tmp_path / "experiment.yaml", tmp_path / "run"
    experiment.write_text(EXPERIMENT)
    bed = ("--substrate", "ssh", "--inventory", str(machines.inventory()))
    run = Controller(machines, tmp_path, "run", str(experiment), "--out", str(out), "--json", *bed)
    run.until("trial-started")
    run.kill()
    run.end()
    assert machines.restored(before, RESTORED_WITHIN_S) == {}
    again = Controller(machines, tmp_path, "run", "--resume", str(out), "--json")
    lost = move_in_mid_trial(machines, again)
    assert "client" in lost["what"]
    status = again.end()
    assert status in (0, TRIALS_LACK), again.errors
    require_whole(out, trials=2 if status == 0 else 1)
    assert machines.restored(before, RESTORED_WITHIN_S) == {}


def move_in_mid_trial(machines: Machines, run: Controller) -> dict[str, Any]:
    """The controller gets another address, as a laptop does: no word of the old connection's end ever comes through.
    Beds can be made at once, but for the one that is still there."""
    run.until("trial-started")
    for words in ("add 10.99.1.9/24", "del 10.99.1.1/24", "replace 10.99.1.9/24"):
        machines.run(machines.inside("ip", "addr", *words.split(), "dev", "m-client"))
    began = time.monotonic()
    lost = run.until("bed-lost")
    assert time.monotonic() - began < RESTORED_WITHIN_S
    return lost


def require_whole(folder: Path, trials: int) -> None:
    """The trial that was cut failed with its reason, at least so many others count, and all of each came back."""
    database = sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)
    try:
        reasons = [reason for (reason,) in database.execute("SELECT reason FROM failures")]
        counted = database.execute("SELECT trial, record FROM trials WHERE status = 'ok'").fetchall()
        (session,) = database.execute("SELECT provenance FROM sessions ORDER BY rowid DESC LIMIT 1").fetchone()
    finally:
        database.close()
    assert reasons.count("bed-lost") == 1
    assert len(counted) >= trials
    for trial, text in counted:
        record, files = json.loads(text), folder / "trials" / f"{trial:06d}"
        evidence = record["evidence"]
        assert evidence["browser"]["facts"]["sandbox"] is True
        packets = gzip.decompress((files / "client.pcapng.gz").read_bytes())
        assert evidence["capture"]["client"]["captured"] == evidence["packets"]["client"]["packets"] > 100
        assert b"CLIENT_TRAFFIC_SECRET_0" in packets
        assert len(evidence["server"]["requests"]) >= 24
        assert {"access.log.gz", "httpd.conf", "page.har.gz"} <= set(record["artifacts"])
    assert (folder / "report.html").stat().st_size > 10_000
    assert json.loads(session)["bed_options"]["substrate"] == "ssh"

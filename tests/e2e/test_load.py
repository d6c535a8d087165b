"""A server under users: whole runs with k6, and every way in which such a trial ends before its time."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces
from tests.kit.wait import wait_until
from tools.bench.leftovers import Part, carriers_of

from .runs import ACCEPT_LINKS, Played, play, resume, share_programs

# k6 is built when it is first wanted, which takes more than a minute.
pytestmark = [needs_namespaces, pytest.mark.long]

USERS = 4
EXPERIMENT = f"""\
workload: {{kind: load, script: page, users: {USERS}, duration: 5s, think: 200ms}}
sites: icons-50
links: {{rtt: 20ms}}
defaults: {{mpm: worker, keepalive_requests: 100000}}
arms: {{HTTP: {{}}, HTTPS: {{tls: "1.3"}}, SPDY: {{protocol: spdy/3.1}}, h2: {{protocol: h2, tls: "1.3"}}}}
trials: 1
retries: 0
seed: 4
"""
LASTING = """\
workload: {kind: load, script: page, users: {from: 1, to: 20, over: 60s}, think: 500ms}
sites: icons-50
links: {rtt: 20ms}
arms: {HTTP: {mpm: worker}}
trials: 1
retries: 0
seed: 4
"""
CONNECTIONS = 6  # of each user of HTTP
ESTABLISHED = "01"  # in the kernel's table
OF_THE_GENERATOR = {"users", "pages_per_s", "requests_per_s", "page_ms", "generator_cpu"}
LIMITED = {"generator-limited"}  # what a busy machine does to a load, which has all of its numbers then
OF_THE_SERVER = {"workers_busy", "server_cpu", "server_memory_bytes", "connections"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("load")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, EXPERIMENT)


@pytest.mark.parametrize(("arm", "connections"), [("HTTP", 6), ("HTTPS", 6), ("SPDY", 1), ("h2", 1)])
def test_each_user_has_the_connections_of_a_browser(played: Played, arm: str, connections: int) -> None:
    assert played.reasons(arm) <= LIMITED, played.reasons(arm)
    (measures,) = played.measures(arm, of_all=True)
    assert measures["connections_opened"] == USERS * connections
    assert measures["failed_pages"] == measures["failed_requests"] == 0
    assert measures["requests_per_s"] == pytest.approx(51 * measures["pages_per_s"], rel=0.5)


def test_each_trial_has_its_course_over_time(played: Played) -> None:
    for arm in ("HTTP", "SPDY"):
        assert played.series(arm).keys() >= OF_THE_GENERATOR | OF_THE_SERVER
        assert max(played.series(arm)["users"]) == USERS


def test_a_user_of_http_holds_six_workers_and_one_of_spdy_one(played: Played) -> None:
    for arm, workers in (("HTTP", 6), ("SPDY", 1)):
        assert max(played.series(arm)["workers_busy"]) == USERS * workers


def test_what_was_spoken_was_seen_on_the_wire(played: Played) -> None:
    (evidence,) = played.evidence("SPDY")
    assert evidence["wire"]["spoken_up"] == {"spdy/3": USERS}
    assert evidence["generator"]["protocol"] == "spdy/3.1"


def begin(lanelab: LanelabCommand, folder: Path) -> subprocess.Popen[bytes]:
    file = folder / "experiment.yaml"
    file.write_text(LASTING)
    return lanelab.start("run", str(file), "--out", str(folder / "run"), "--json", ACCEPT_LINKS)


def await_third_user(lanelab: LanelabCommand, run: subprocess.Popen[bytes]) -> None:
    """Who comes six seconds into the ramp."""
    assert run.stdout
    assert any(json.loads(line)["event"] == "trial-started" for line in run.stdout)
    wait_until(lambda: connections(lanelab) > 2 * CONNECTIONS)


def connections(lanelab: LanelabCommand) -> int:
    """That are open at the server."""
    with contextlib.suppress(OSError):  # a process of it has ended
        for server in processes(lanelab, "apache2"):
            table = Path(f"/proc/{server.pid}/net/tcp").read_text().splitlines()[1:]
            return sum(line.split()[3] == ESTABLISHED for line in table)
    return 0


def processes(lanelab: LanelabCommand, name: str) -> list[Part]:
    """Of this run's bed, that the kernel calls so."""
    (bed,) = (lanelab.build / "beds").iterdir()
    return [part for part in carriers_of(bed.name) if part.name == name]


def kill_all(lanelab: LanelabCommand, name: str) -> None:
    found = processes(lanelab, name)
    assert found, name
    for part in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(part.pid, signal.SIGKILL)


@pytest.fixture
def lasting(tmp_path: Path) -> LanelabCommand:
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    return lanelab


@pytest.mark.parametrize(("name", "reason"), [("apache2", "server-failed"), ("lanelab-k6", "generator-failed")])
def test_what_dies_in_the_middle_leaves_its_course_until_then(
    lasting: LanelabCommand, tmp_path: Path, name: str, reason: str
) -> None:
    run = begin(lasting, tmp_path)
    await_third_user(lasting, run)
    kill_all(lasting, name)
    run.communicate()
    played = Played(tmp_path / "run", None)  # type: ignore[arg-type]
    assert run.returncode == 3
    assert played.reasons("HTTP") == {reason}
    assert len(played.series("HTTP")["users"]) >= 3


def test_ctrl_c_ends_a_ramp_and_the_run_goes_on_later(lasting: LanelabCommand, tmp_path: Path) -> None:
    run = begin(lasting, tmp_path)
    await_third_user(lasting, run)
    run.send_signal(signal.SIGINT)
    began = time.monotonic()
    said = run.communicate()[1].decode()
    assert run.returncode == 130
    assert "--resume" in said
    assert "Traceback" not in said
    assert time.monotonic() - began < 50  # and not at the end of the ramp
    played = Played(tmp_path / "run", None)  # type: ignore[arg-type]
    assert played.reasons("HTTP") == {"stopped"}
    assert len(played.series("HTTP")["users"]) >= 3
    again = resume(lasting, tmp_path / "run")
    assert len(again.statuses("HTTP")) > 1
    assert again.reasons("HTTP") <= {"stopped", *LIMITED}

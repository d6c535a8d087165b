"""Nothing outlives a bed, whatever dies and in whatever order."""

import os
import random
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BedError
from lanelab.driver.bed import capabilities
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import Link
from lanelab.driver.run.channel.client import Bed
from tests.kit.handles import LanelabCommand
from tools.bench.leftovers import TELLTALE, Part, Watch, carriers_of, kill, parts_of

KILLS = 15
ENDED_WITHIN_S = 120.0  # on a busy machine too
LONGEST_S = 4.5  # by then the command has come to its end
SEED = 20260


@pytest.mark.parametrize("number", range(KILLS))
def test_a_random_part_killed_at_a_random_moment_takes_all_with_it(lanelab: LanelabCommand, number: int) -> None:
    """The parts: controller, launcher, init, bed process, the router's processes, a command on a node. The moments are
    spread over a bed's whole life; `lanelab bench bed` tries more of them."""
    chance = random.Random(SEED + number)
    watch = Watch()
    command = lanelab.start("bed", "exec", "client", "--rtt", "20ms", "--rate", "5mbit", "--", "sleep", "3")
    deadline = time.monotonic() + LONGEST_S * (number + chance.random()) / KILLS
    while time.monotonic() < deadline:
        watch.see(command.pid)
        time.sleep(0.02)  # to a random moment
    victim = chance.choice(watch.see(command.pid) or [Part(command.pid, "lanelab")])
    kill(victim)
    command.communicate(timeout=ENDED_WITHIN_S)
    markers = [folder.name for folder in (lanelab.build / "beds").glob("*")] or ["no bed was made"]
    # Once: later, a bed of another test may have got the numbers of this one's namespaces.
    assert [left for marker in markers for left in watch.left(marker)] == [], f"after kill -9 of {victim.name}"


def own_marker() -> str:
    """A name that no other test's bed has, of this checkout or another: by it leftovers are looked for."""
    return f"bed-{secrets.token_hex(8)}"


def parts_by_role(bed: Bed) -> dict[str, Part]:
    """The bed's own processes: each is the first child of the one before."""
    launcher, *rest = parts_of(bed.pid)
    routers = [part for part in rest if part.name.startswith("linux.uml")]
    return {"launcher": launcher, "init": rest[0], "bed process": rest[1], "router": (routers or rest)[0]}


@pytest.mark.parametrize("role", ["launcher", "init", "bed process", "router"])
def test_the_controller_is_told_when_a_part_dies(tmp_path: Path, role: str) -> None:
    watch, folder = Watch(), tmp_path / own_marker()
    folder.mkdir()
    with Bed(BedSettings(folder=folder)) as bed:
        if role == "router" and bed.info.router != "uml":
            pytest.skip("this router is no process")
        bed.set_link(Link.parse({"rtt": "20ms"}))
        watch.see(bed.pid)
        kill(parts_by_role(bed)[role])
        with pytest.raises(BedError):
            bed.set_link(Link.parse({"rtt": "30ms"}))
        with pytest.raises(BedError):
            bed.exec("router", Command(["true"]), Stdio()).wait()
    assert watch.left(folder.name) == []


def test_a_wait_ends_when_the_bed_dies(tmp_path: Path) -> None:
    with Bed(BedSettings(folder=tmp_path)) as bed:
        process = bed.exec("client", Command(["sleep", "100"]), Stdio())
        threading.Timer(0.3, kill, [parts_by_role(bed)["init"]]).start()
        with pytest.raises(BedError, match="died"):
            process.wait()


@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("SIGTERM", lambda process: process.send_signal(signal.SIGTERM)),
        ("SIGHUP", lambda process: process.send_signal(signal.SIGHUP)),
        ("terminal closed", lambda process: os.killpg(process.pid, signal.SIGHUP)),
        ("SIGKILL", lambda process: process.kill()),
        ("SIGKILL to all at once", lambda process: os.killpg(process.pid, signal.SIGKILL)),
    ],
)
def test_however_the_command_ends_nothing_is_left(
    lanelab: LanelabCommand, how: str, end: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    watch = Watch()
    process = lanelab.start("bed", "exec", "server", "--", "sh", "-c", "trap '' HUP TERM INT; echo up; sleep 60")
    assert process.stdout
    assert process.stdout.readline() == b"up\n"
    watch.see(process.pid)
    end(process)
    process.communicate(timeout=ENDED_WITHIN_S)
    (folder,) = (lanelab.build / "beds").iterdir()
    assert watch.left(folder.name) == [], how


def test_daemons_of_a_command_do_not_outlive_the_bed(lanelab: LanelabCommand) -> None:
    watch = Watch()
    script = "setsid sleep 1000 >/dev/null 2>&1 & nohup sleep 1001 >/dev/null 2>&1 & sleep 0.2"
    assert lanelab.run("bed", "exec", "client", "--", "sh", "-c", script).returncode == 0
    (folder,) = (lanelab.build / "beds").iterdir()
    assert watch.left(folder.name) == []


@pytest.mark.skipif(capabilities.kernel_router() is None, reason="this machine's kernel has netem, so it would start")
def test_beds_that_fail_to_start_leave_nothing(lanelab: LanelabCommand) -> None:
    watch = Watch()
    done = lanelab.run("bed", "exec", "client", "--router", "kernel", "--", "true")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for folder in (lanelab.build / "beds").iterdir():
        assert watch.left(folder.name) == []


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("lanelab", True),
        ("lanelab-bed", True),
        ("uml-x", True),
        ("vm_file-x", True),
        ("lanelab-libvirtd", False),
        ("lanelab-install.lock", False),
        ("lanelab-read-x", False),
        ("volume", False),
    ],
)
def test_files_that_others_make_meanwhile_are_no_leftovers(name: str, *, counts: bool) -> None:
    assert bool(TELLTALE.search(name)) == counts


def inside_namespaces(marker: str) -> subprocess.Popen[bytes]:
    """A process in a user and a network namespace of its own, which has begun."""
    sleeper = subprocess.Popen(
        ["unshare", "--user", "--net", "sh", "-c", "echo inside; exec sleep 600"],
        env={**os.environ, "LANELAB_BED": marker},
        stdout=subprocess.PIPE,
    )
    assert sleeper.stdout
    assert sleeper.stdout.readline() == b"inside\n"
    return sleeper


def end(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    sleeper.communicate()


def test_the_search_for_leftovers_finds_some() -> None:
    """It must be able to fail."""
    watch, marker = Watch(), own_marker()
    sleeper = inside_namespaces(marker)
    try:
        watch.see(sleeper.pid)
        assert [part.pid for part in carriers_of(marker)] == [sleeper.pid]
        found = watch.left(own_marker(), within_s=1)
        assert any("namespace net:" in line and str(sleeper.pid) in line for line in found), found
    finally:
        end(sleeper)


def test_namespaces_that_others_make_meanwhile_are_no_leftovers() -> None:
    """The kernel gives the numbers of namespaces that are gone to the next ones."""
    watch, marker = Watch(), own_marker()
    others: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(10):
            sleeper = inside_namespaces(marker)
            watch.see(sleeper.pid)
            end(sleeper)
            others.append(inside_namespaces(own_marker()))
        assert watch.left(marker, within_s=1) == []
    finally:
        for each in others:
            end(each)

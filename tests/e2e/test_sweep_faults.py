"""Faults of a sweep over three machines in namespaces. Whatever befalls it, no trial is lost, doubled or half there,
pairs stay on one bed, and nothing is left on any machine."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.paths import PROJECT
from tests.kit import sweep_machines
from tests.kit.sweep_checks import problems
from tests.kit.sweep_machines import Lab
from tests.kit.sweeps import LIMIT_S, NAMES, Sweep
from tests.kit.wait import wait_until
from tools.bench.leftovers import Part

pytestmark = [
    pytest.mark.skipif(bool(sweep_machines.why_not()), reason=sweep_machines.why_not()),
    pytest.mark.long,
]
ROUNDS = 6
SMALL_DISK_MIB = 1500
MEASURING = "driver/arm/browsers/har.py"


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab() as lab:
        for name in ("desk", *NAMES):
            lab.machine(name, SMALL_DISK_MIB if name == "two" else 0)
        yield lab


@pytest.fixture
def sweep(lab: Lab) -> Sweep:
    """One that has begun, with machine one at work."""
    sweep = Sweep(lab, ROUNDS)
    sweep.begin()
    sweep.lend_all()
    sweep.await_playing("one")
    return sweep


def finish_whole(sweep: Sweep, endings: tuple[str, ...] | None = ("finished",)) -> None:
    sweep.finish()
    assert problems(sweep.folder, sweep.rounds, endings) == [], sweep.said()
    assert sweep.lab.left() == [], sweep.said()


def rows(sweep: Sweep, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(sweep.folder / "run.sqlite") as database:
        return database.execute(query).fetchall()


def test_a_machine_loses_its_power_and_comes_again(sweep: Sweep) -> None:
    one = sweep.lab.machines["one"]
    one.kill()
    sweep.await_events("worker-left", name="one")
    one.boot()
    sweep.lend("one")
    finish_whole(sweep)


def kill(part: Part | None) -> None:
    assert part
    os.kill(part.pid, signal.SIGKILL)


@pytest.mark.parametrize("role", ["worker", "command"])
def test_a_worker_is_killed(sweep: Sweep, role: str) -> None:
    """Its own process, which the command starts again; or the command, which takes all with it."""
    if role == "worker":
        kill(sweep.worker_process("one"))
        sweep.await_events("worker-left", name="one")
        sweep.await_events("worker-joined", times=2, name="one")
    else:
        kill(sweep.workers["one"].parts()[0])
        sweep.workers["one"].await_end(LIMIT_S)
        sweep.await_events("worker-left", name="one")
        machine = sweep.lab.machines["one"]  # what is killed takes a moment to end
        wait_until(lambda: not machine.processes(), LIMIT_S, lambda: str(machine.processes()))
        sweep.lend("one")
    finish_whole(sweep)


def test_the_scheduler_is_killed_and_the_session_goes_on(sweep: Sweep) -> None:
    kill(sweep.scheduler_process())
    sweep.await_events("cluster-away")
    sweep.await_that(lambda: len(sweep.events("worker-joined")) > 3, "workers that join again")
    finish_whole(sweep)


def test_the_controller_is_killed_and_the_run_goes_on_with_the_workers_that_it_had(sweep: Sweep) -> None:
    sweep.await_events("portion-stored")
    kill(sweep.controller.parts()[0])
    sweep.controller.await_end(LIMIT_S)
    sweep.resume()
    sweep.await_events("worker-joined")
    finish_whole(sweep, ("killed", "finished"))


def test_all_machines_lose_their_power_at_once(sweep: Sweep) -> None:
    """The desk, too."""
    for machine in sweep.lab.machines.values():
        machine.kill()
    for machine in sweep.lab.machines.values():
        machine.boot()
    sweep.resume()
    sweep.lend_all()
    finish_whole(sweep, ("killed", "finished"))


@pytest.mark.parametrize("how", ["down", "silent"])
def test_the_network_of_a_machine_is_cut_and_mended(sweep: Sweep, how: str) -> None:
    one = sweep.lab.machines["one"]
    one.cut(how)
    sweep.await_events("worker-left", name="one")
    one.mend()
    sweep.await_that(lambda: len(sweep.events("worker-joined", "one")) > 1, "one again")
    finish_whole(sweep)


@pytest.mark.parametrize("how", ["down", "silent"])
def test_the_network_of_the_desk_is_cut_and_mended(sweep: Sweep, how: str) -> None:
    """Nobody is reached, for so long that everybody notices."""
    sweep.desk.cut(how)
    sweep.await_that(lambda: len(sweep.events("worker-left")) >= 3, "all workers left")
    sweep.desk.mend()
    finish_whole(sweep)


def test_a_cut_that_nobody_notices_costs_nothing(sweep: Sweep) -> None:
    one = sweep.lab.machines["one"]
    one.cut("silent")
    one.mend()
    finish_whole(sweep)
    assert rows(sweep, "SELECT count(*) FROM trials WHERE status = 'failed'") == [(0,)]


def test_a_disk_that_is_full_takes_no_more_work_until_there_is_room(sweep: Sweep) -> None:
    two = sweep.lab.machines["two"]
    sweep.await_playing("two")
    two.fill()
    sweep.await_that(
        lambda: bool(sweep.events("portion-undone", "two") or sweep.events("worker-refused", "two")), "two's trouble"
    )
    assert "Traceback" not in sweep.workers["two"].said()
    two.make_room()
    finish_whole(sweep)


@pytest.mark.parametrize("ahead_s", [3600.0, -3600.0])
def test_a_clock_is_an_hour_off(lab: Lab, ahead_s: float) -> None:
    sweep = Sweep(lab, ROUNDS)
    lab.machines["three"].set_clock(ahead_s)
    sweep.begin()
    sweep.lend("three")
    sweep.await_playing("three")
    sweep.lend("one")
    sweep.lend("two")
    finish_whole(sweep)
    query = "SELECT round(json_extract(facts, '$.clock_ahead_s') / 600) FROM machines WHERE name = 'three'"
    assert rows(sweep, query) == [(ahead_s / 600,)]


def test_a_machine_with_other_measuring_code_is_named(lab: Lab, tmp_path: Path) -> None:
    copy = copy_of_the_tree(tmp_path / "other")
    (copy / MEASURING).write_text((PROJECT / MEASURING).read_text() + "\nCHANGED = True\n")
    sweep = Sweep(lab, ROUNDS)
    lab.machines["three"].project = copy
    sweep.begin()
    sweep.lend("one")
    sweep.await_playing("one")
    sweep.lend("three")
    sweep.await_that(
        lambda: bool(sweep.events("machine-differs", "three") or sweep.events("worker-refused", "three")),
        "a word of it",
    )
    sweep.lend("two")
    finish_whole(sweep)


def copy_of_the_tree(to: Path) -> Path:
    """Files that are the same are links; one that is to be changed is removed first."""

    def link(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:
            shutil.copy(source, target)

    def left_out(folder: str, _names: list[str]) -> list[str]:
        return ["build", ".git"] if Path(folder) == PROJECT else []

    shutil.copytree(PROJECT, to, symlinks=True, copy_function=link, ignore=left_out)
    (to / MEASURING).unlink()
    return to

"""A run over several real beds: what changes with the bed, killing it while beds change, and two runs compared."""

import json
import time
from pathlib import Path

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.wait import left_after
from tools.bench.leftovers import GRACE_S, carriers_of

from .runs import ACCEPT_LINKS, Played, play, resume
from .test_resume import await_trials

ONE = "sites: [dummy]\nlinks: {rtt: 10ms}\narms: {one: {start: fresh-context}}\n"
TWO = "sites: [dummy]\nlinks: {rtt: 10ms}\narms: {http: {keepalive: off}, h2: {protocol: h2, tls: 1.3}}\n"


def beds_of(played: Played) -> list[tuple[int, int]]:
    """(round, bed) of the trials that count."""
    return sorted(played.rows("SELECT round, bed FROM trials WHERE status = 'ok'"))


def left_of(lanelab: LanelabCommand, beds: set[str]) -> list[str]:
    """Processes that carry the name of a bed, a moment after its end."""
    names = beds | {bed.name for bed in (lanelab.build / "beds").iterdir()}
    return left_after(lambda: [f"{part.pid} {part.name}" for name in names for part in carriers_of(name)], GRACE_S)


def test_each_block_of_rounds_gets_a_fresh_bed(lanelab: LanelabCommand, tmp_path: Path) -> None:
    played = play(lanelab, tmp_path, f"{ONE}trials: 2\n", "--beds", "2")
    assert played.done.returncode == 0, played.done.stderr
    assert beds_of(played) == [(1, 1), (2, 2)]
    assert played.rows("SELECT DISTINCT bed FROM self_tests ORDER BY bed") == [(1,), (2,)]
    ((text,),) = played.rows("SELECT provenance FROM sessions")
    provenance = json.loads(text)
    assert (provenance["bed"]["bed"], provenance["bed 2"]["bed"]) == (1, 2)
    assert provenance["bed"]["began_utc"] < provenance["bed 2"]["began_utc"]
    shown = lanelab.run("show", str(played.folder), "--json")
    assert json.loads(shown.stdout)["between_beds"]["beds"] == 2
    assert left_of(lanelab, set()) == []


@pytest.mark.long
@pytest.mark.parametrize("after_s", [0.0, 0.3, 0.8, 1.5, 2.5])
def test_a_run_that_is_killed_while_beds_change_leaves_nothing_and_goes_on(
    lanelab: LanelabCommand, tmp_path: Path, after_s: float
) -> None:
    """From the end of the first bed to the self-tests of the second."""
    file = tmp_path / "experiment.yaml"
    file.write_text(f"{ONE}trials: 3\nbeds: 3\n")
    run = lanelab.start("run", str(file), "--out", str(tmp_path / "run"), "--json", ACCEPT_LINKS)
    await_trials(run, 1)
    beds = {bed.name for bed in (lanelab.build / "beds").iterdir()}
    time.sleep(after_s)  # the moment that is tried
    run.kill()
    run.communicate()
    assert left_of(lanelab, beds) == []
    played = resume(lanelab, tmp_path / "run")
    assert played.done.returncode == 0, played.done.stderr
    rounds, numbers = zip(*beds_of(played), strict=True)
    assert rounds == (1, 2, 3)
    assert len(set(numbers)) == 3
    assert list(numbers) == sorted(numbers)


@pytest.mark.long
def test_two_runs_of_an_experiment_are_compared(lanelab: LanelabCommand, tmp_path: Path) -> None:
    """Whether they agree is up to the machine; of all that is noted the seed differs."""
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        played = play(lanelab, tmp_path / name, f"{TWO}trials: 4\n")
        assert played.done.returncode == 0, played.done.stderr
        folders.append(str(played.folder))
    compared = lanelab.run("compare", *folders, "--check", "--json")
    everything = json.loads(compared.stdout)
    assert compared.returncode == {"agree": 0, "differ": 4, "not told": 3}[everything["verdict"]], compared.stderr
    told = everything["compared"][0]
    assert len(told["cells"]) == 2
    assert len(told["changes"]) == 1
    assert "seed" in {one["name"] for one in told["conditions"]} <= {"seed", "lanelab commit"}  # somebody may commit
    shown = lanelab.run("compare", *folders)
    assert "h2 against http" in shown.stdout
    assert "Absolute page load times differ by" in shown.stdout

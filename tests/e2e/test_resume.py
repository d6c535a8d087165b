"""Runs that are stopped, killed, or in each other's way: what was finished stays, once."""

import json
import signal
import sqlite3
import subprocess
from pathlib import Path

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces, on_changed_machine

from .runs import ACCEPT_LINKS, Played, resume

# A link without a rate: nothing here depends on it, and measuring one on a busy machine takes its time.
EXPERIMENT = """\
sites: [dummy]
links: {rtt: 40ms}
defaults: {start: fresh-context}
arms: {http: {}, h2: {protocol: h2, tls: "1.3"}}
trials: 2
seed: 11
"""


def begin(lanelab: LanelabCommand, folder: Path) -> subprocess.Popen[bytes]:
    file = folder / "experiment.yaml"
    file.write_text(EXPERIMENT)
    return lanelab.start("run", str(file), "--out", str(folder / "run"), "--json", ACCEPT_LINKS)


def await_trials(run: subprocess.Popen[bytes], count: int) -> set[int]:
    """The numbers of the first trials that are told as stored."""
    told: set[int] = set()
    assert run.stdout
    for line in run.stdout:
        event = json.loads(line)
        if event["event"] == "trial":
            told.add(event["trial"])
        if len(told) == count:
            break
    return told


def await_event(run: subprocess.Popen[bytes], kind: str) -> None:
    """Until the next of its kind is told."""
    assert run.stdout
    assert any(json.loads(line)["event"] == kind for line in run.stdout), f"it ended without {kind!r}"


def whole(folder: Path) -> bool:
    """Every cell has its trial in every round, once; every folder is known and every artifact there."""
    database = sqlite3.connect(folder / "run.sqlite")
    ok = database.execute("SELECT cell, round FROM trials WHERE status = 'ok'").fetchall()
    trials = {f"{trial:06d}" for (trial,) in database.execute("SELECT trial FROM trials")}
    files = {
        (folder / "trials" / f"{trial:06d}" / name, size)
        for trial, name, size in database.execute("SELECT trial, name, bytes FROM artifacts")
    }
    return (
        all(path.stat().st_size == size for path, size in files)
        and sorted(ok) == [(cell, number) for cell in (1, 2) for number in (1, 2)]
        and {path.name for path in (folder / "trials").iterdir()} == trials
        and not (folder / "unfinished").exists()
    )


def test_a_run_that_was_killed_goes_on_where_it_was(lanelab: LanelabCommand, tmp_path: Path) -> None:
    """Somewhere in the middle of a trial; `lanelab bench kills` kills at 30 other moments. It is not shared before."""
    run = begin(lanelab, tmp_path)
    told = await_trials(run, 1)
    run.send_signal(signal.SIGSTOP)  # or it ends first, where the other takes long to start
    other = resume(lanelab, tmp_path / "run")
    assert other.done.returncode == 1
    assert "another lanelab" in other.done.stderr
    run.send_signal(signal.SIGCONT)
    told |= await_trials(run, 1)
    await_event(run, "trial-started")
    run.kill()
    run.communicate()
    played = resume(lanelab, tmp_path / "run")
    assert played.done.returncode == 0, played.done.stderr
    assert told <= {trial for (trial,) in played.rows("SELECT trial FROM trials")}
    assert whole(tmp_path / "run")
    assert played.rows("SELECT ending FROM sessions ORDER BY session") == [("killed",), ("finished",)]


def test_ctrl_c_finishes_the_trial_and_says_how_to_go_on(lanelab: LanelabCommand, tmp_path: Path) -> None:
    """Which is with the same experiment alone, until nothing is left to do."""
    run = begin(lanelab, tmp_path)
    await_trials(run, 1)
    run.send_signal(signal.SIGINT)
    said = run.communicate()[1].decode()
    assert run.returncode == 130
    assert f"--resume {tmp_path / 'run'}" in said
    assert "Traceback" not in said
    played = Played(tmp_path / "run", None)  # type: ignore[arg-type]
    assert played.rows("SELECT ending FROM sessions") == [("stopped",)]

    file = tmp_path / "run" / "experiment.yaml"
    text = file.read_text()
    file.write_text(text.replace("trials: 2", "trials: 4"))
    changed = resume(lanelab, tmp_path / "run").done
    assert changed.returncode == 1
    assert "not the experiment that this run began with" in changed.stderr

    file.write_text(text)
    assert resume(lanelab, tmp_path / "run").done.returncode == 0
    assert whole(tmp_path / "run")
    before = played.rows("SELECT trial, name, value FROM measures ORDER BY trial, name")
    again = resume(lanelab, tmp_path / "run")
    assert again.done.returncode == 0, again.done.stderr
    assert again.rows("SELECT trial, name, value FROM measures ORDER BY trial, name") == before


def test_ctrl_c_twice_stops_at_once(lanelab: LanelabCommand, tmp_path: Path) -> None:
    run = begin(lanelab, tmp_path)
    await_trials(run, 1)
    await_event(run, "trial-started")
    run.send_signal(signal.SIGINT)
    await_event(run, "stopping")  # two signals at once are one
    run.send_signal(signal.SIGINT)
    said = run.communicate()[1].decode()
    assert run.returncode == 130
    assert "Traceback" not in said
    assert resume(lanelab, tmp_path / "run").done.returncode == 0
    assert whole(tmp_path / "run")


@needs_namespaces
def test_a_full_disk_stops_the_run_with_what_is_stored_intact(lanelab: LanelabCommand, tmp_path: Path) -> None:
    """On a small disk of its own: room for a few trials, and no more."""
    file, disk = tmp_path / "experiment.yaml", tmp_path / "disk"
    file.write_text(EXPERIMENT.replace("trials: 2", "trials: 9"))
    disk.mkdir()
    kept = tmp_path / "kept"
    script = """
        disk=$1 kept=$2 status=0
        shift 2
        mount -t tmpfs -o size=56m lanelab "$disk"
        "$@" || status=$?
        cp -r "$disk/run" "$kept"
        exit "$status"
    """
    words = ("run", str(file), "--out", str(disk / "run"), ACCEPT_LINKS)
    argv = on_changed_machine(script, disk, kept, *lanelab.argv(*words))
    done = subprocess.run(argv, capture_output=True, text=True, env=lanelab.environment, check=False)
    assert done.returncode == 1, done.stderr
    assert "is full" in done.stderr
    assert "--resume" in done.stderr
    database = sqlite3.connect(kept / "run.sqlite")
    trials = {f"{trial:06d}" for (trial,) in database.execute("SELECT trial FROM trials")}
    assert trials
    assert {path.name for path in (kept / "trials").iterdir()} == trials
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

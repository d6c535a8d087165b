"""Runs from plain Python: a task that is cancelled in mid-trial, Ctrl-C, and a listener that fails. Nothing is left of
them, and each can go on."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.handles import LanelabCommand

from .runs import Played, resume
from .test_beds import left_of
from .test_resume import EXPERIMENT, await_event, await_trials, whole

HEAD = """\
import asyncio, json, sys
import lanelab

file, out = sys.argv[1:]
experiment, bed = lanelab.Experiment.from_yaml(file), lanelab.BedOptions(accept_links=True)

def show(event):
    print(json.dumps(event.to_json()), flush=True)
"""
CANCELS = """
async def cancel_in_mid_trial():
    stored, begun = asyncio.Event(), asyncio.Event()

    def listen(event):
        show(event)
        if event.kind == "trial":
            stored.set()
        if event.kind == "trial-started" and stored.is_set():
            begun.set()

    running = asyncio.create_task(experiment.run_async(listen, out=out, bed=bed))
    await begun.wait()
    for _ in range({times}):
        running.cancel()
        await asyncio.sleep(0)
    await running

asyncio.run(cancel_in_mid_trial())
"""
IN_A_LOOP = "asyncio.run(experiment.run_async(show, out=out, bed=bed))\n"
BLOCKS = "experiment.run(show, out=out, bed=bed)\n"
FAILS = """
stored = []

def listen(event):
    show(event)
    if event.kind == "trial":
        stored.append(event)
    if event.kind == "trial-started" and stored:
        raise ValueError("the listener's own mistake")

experiment.run(listen, out=out, bed=bed)
"""


def begin(lanelab: LanelabCommand, folder: Path, program: str) -> subprocess.Popen[bytes]:
    """Start a program that runs an experiment. It is told of what Python tells developers alone: tasks whose errors
    nobody has seen, files that nobody has closed."""
    file = folder / "experiment.yaml"
    file.write_text(EXPERIMENT)
    argv = [sys.executable, "-P", "-X", "dev", "-c", HEAD + program, str(file), str(folder / "run")]
    return subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=lanelab.environment, start_new_session=True
    )


def endings(folder: Path) -> list[str]:
    return [ending for (ending,) in Played(folder, None).rows("SELECT ending FROM sessions")]  # type: ignore[arg-type]


def goes_on(lanelab: LanelabCommand, folder: Path) -> bool:
    """Nothing is left of what was ended; what goes on has every trial, once."""
    assert left_of(lanelab, set()) == []
    done = resume(lanelab, folder).done
    assert done.returncode == 0, done.stderr
    return whole(folder)


@pytest.mark.parametrize("times", [1, 3])
def test_a_task_that_is_cancelled_ends_after_its_trial(lanelab: LanelabCommand, tmp_path: Path, times: int) -> None:
    """However often it is cancelled: till then the run uses its folder."""
    run = begin(lanelab, tmp_path, CANCELS.format(times=times))
    said, complained = (text.decode() for text in run.communicate())
    assert complained.rstrip().endswith("CancelledError")
    assert "never retrieved" not in complained
    assert said.count('"event": "trial"') == 2
    assert '"event": "session-ended"' in said.splitlines()[-1]
    assert endings(tmp_path / "run") == ["stopped"]
    assert goes_on(lanelab, tmp_path / "run")


@pytest.mark.parametrize(("program", "error"), [(IN_A_LOOP, "KeyboardInterrupt"), (BLOCKS, "Interrupted: stopped; ")])
def test_ctrl_c(lanelab: LanelabCommand, tmp_path: Path, program: str, error: str) -> None:
    run = begin(lanelab, tmp_path, program)
    await_trials(run, 1)
    await_event(run, "trial-started")
    run.send_signal(signal.SIGINT)
    complained = run.communicate()[1].decode()
    assert error in complained.rstrip().splitlines()[-1]
    assert "never retrieved" not in complained
    assert endings(tmp_path / "run") == ["stopped"]
    assert goes_on(lanelab, tmp_path / "run")


def test_a_listener_that_fails_ends_the_run(lanelab: LanelabCommand, tmp_path: Path) -> None:
    run = begin(lanelab, tmp_path, FAILS)
    complained = run.communicate()[1].decode()
    assert complained.rstrip().endswith("ValueError: the listener's own mistake")
    assert endings(tmp_path / "run") == ["failed"]
    assert goes_on(lanelab, tmp_path / "run")

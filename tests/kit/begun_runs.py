"""Runs that are begun from the page, by a program in the place of ours (played_run.py)."""

import os
import shutil
import signal
from pathlib import Path

import lanelab
from tests.kit.changed_run import change
from tests.kit.pages import Answer, Visitor
from tests.kit.wait import wait_until

SMALL = "sites: dummy\nlinks: {rtt: 20ms, rate: 10mbit}\narms: {HTTP: {}}\ntrials: 2\n"
CODE = SMALL.replace("HTTP: {}", "HTTP: {server_directives: [Timeout 5]}")


def begin(visitor: Visitor, experiment: str = "experiments/small.yaml", trials: str = "", seed: str = "") -> Answer:
    return visitor.post("/begin/", {"experiment": experiment, "trials": trials, "seed": seed})


def waited_for(visitor: Visitor, begins: Answer) -> str:
    """Return the address of a run that was begun or goes on, when it is there."""
    assert begins.status == 303, begins.text
    path = begins.headers["location"].removeprefix("../..").removeprefix("..")
    wait_until(lambda: visitor.ask(path).status == 303, 20)
    return visitor.ask(path).headers["location"].removeprefix("../..")


def begun(visitor: Visitor, place: Path) -> Path:
    """Begin a run, and wait until it is there."""
    return place / "runs" / waited_for(visitor, begin(visitor)).split("/")[2]


def log_of(place: Path, run: Path) -> str:
    """Return what the program of a run has said."""
    return (place / "build" / "begun" / f"{run.name}.log").read_text()


def writer(run: Path) -> int:
    """Return the process that has the run's lock."""
    inode = (run / "in-use").stat().st_ino
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return next(int(words[4]) for words in lines if words[5].endswith(f":{inode}"))


def stop_process(run: Path) -> None:
    os.kill(writer(run), signal.SIGTERM)


def sample(folder: Path, state: str = "") -> Path:
    """Make a copy of the sample run, as it would be in another state where one is named."""
    shutil.copytree(lanelab.sample_run().folder, folder)
    if state:
        change(folder, "UPDATE meta SET value = ? WHERE key = 'state'", state)
    return folder

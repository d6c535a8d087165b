"""Runs that were begun from the page are stopped and gone on with there, whatever becomes of the server."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lanelab.driver.api import run_apart
from lanelab.driver.api.run_now import live_events
from lanelab.driver.page import now_view
from lanelab.driver.page.bench import Bench
from lanelab.driver.run.events import RunBegun, Stopping
from lanelab.driver.run.study.study import STUDY_RUN_FILE
from tests.kit.begun_runs import begin, begun, log_of, sample, stop_process, waited_for, writer
from tests.kit.changed_run import change
from tests.kit.pages import Visitor, served
from tests.kit.wait import wait_until

BED = "import sys, time\nfor line in sys.stdin: pass\ntime.sleep(0.5)"  # it ends a while after nobody can ask any more
SERVER = """
import sys, time
from pathlib import Path
from lanelab.driver.api import run_apart
run_apart.PROGRAM, runs, build = tuple(sys.argv[3:]), Path(sys.argv[1]), Path(sys.argv[2])
run_apart.build_folder, run_apart.other_beds_here = lambda: build, lambda: 0
apart = run_apart.begin_apart(Path("experiments/small.yaml"), runs, ())
print(apart.process.pid, flush=True)
time.sleep(600)
"""

# --- it is stopped


def test_it_is_stopped_once_and_at_once_only_after_that(owner: Visitor, place: Path) -> None:
    run = begun(owner, place)
    stop = f"/runs/{run.name}/stop"
    for _ in range(3):  # who presses twice has one wish
        assert owner.post(stop, {"how": now_view.AFTER_THIS_TRIAL}).status == 200
    wait_until(lambda: "interrupted" in log_of(place, run), 10)
    assert log_of(place, run).count("interrupted") == 1
    assert "at once" in owner.post(stop, {"how": now_view.AT_ONCE}).text
    wait_until(lambda: log_of(place, run).count("interrupted") == 2, 10)
    assert owner.post(stop, {"how": "kill"}).status == 400
    assert owner.post(stop, {}).status == 400


def test_a_run_that_says_that_it_stops_is_not_asked_again(owner: Visitor, place: Path) -> None:
    run = begun(owner, place)
    live_events(run).parent.mkdir()
    told = (RunBegun(str(run), 1, 8, 0, 2, "page_load"), Stopping())
    live_events(run).write_text("".join(f"{json.dumps(event.to_json())}\n" for event in told))
    wait_until(lambda: "Stop at once" in owner.ask(f"/runs/{run.name}/").text, 10)
    owner.post(f"/runs/{run.name}/stop", {"how": now_view.AFTER_THIS_TRIAL})
    time.sleep(0.3)
    assert "interrupted" not in log_of(place, run)


def test_a_run_without_a_writer_cannot_be_stopped(owner: Visitor, place: Path) -> None:
    (sample(place / "runs" / "sample") / "in-use").touch()
    answer = owner.post("/runs/sample/stop", {"how": "trial"})
    assert answer.status == 409
    assert "nobody on this machine writes" in answer.text


# --- it goes on


def test_a_run_that_was_stopped_goes_on(owner: Visitor, place: Path) -> None:
    run = begun(owner, place)
    stop_process(run)
    wait_until(lambda: "Go on with this run" in owner.ask(f"/runs/{run.name}/").text, 20)
    answer = owner.post(f"/runs/{run.name}/resume", {})
    assert answer.status == 303, answer.text
    wait_until(lambda: f"--resume={run}" in log_of(place, run), 10)
    assert os.sched_getscheduler(writer(run)) == os.SCHED_OTHER
    waited_for(owner, answer)


@pytest.mark.parametrize("goes_on", [False, True])
def test_the_bench_gives_up_its_bed_before_a_run_is_begun_or_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    sample(place / "runs" / "sample", "stopped")
    beds: list[subprocess.Popen[str]] = []

    def begin_process() -> "subprocess.Popen[str]":
        words, pipe = [sys.executable, "-c", BED], subprocess.PIPE
        beds.append(subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True))
        return beds[-1]

    monkeypatch.setattr("lanelab.driver.page.bench.begin_process", begin_process)
    monkeypatch.setattr(run_apart, "other_beds_here", lambda: sum(bed.poll() is None for bed in beds))
    with served(place / "runs") as visitor:
        visitor.enter(visitor.access.owner)
        assert visitor.post("/bench/", {"site": "ten-kilobytes", "arm": "quickstart: HTTP"}).status == 303
        answer = visitor.post("/runs/sample/resume", {}) if goes_on else begin(visitor)
    assert answer.status == 303, answer.text


@pytest.mark.parametrize(
    ("name", "state", "words"),
    [("sample", "finished", "It has come to its end."), ("sample", "running", "It goes on already."),
     ("study/sample", "stopped", "It is a figure of a study"), ("study/sample", "finished", "It has come to its end.")],
)  # fmt: skip
def test_a_form_without_a_button_makes_no_run_go_on(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, state: str, words: str
) -> None:
    folder, freed = sample(place / "runs" / name, state), list[str]()
    if folder.parent.name == "study":
        (folder.parent / STUDY_RUN_FILE).write_text("{}")
    monkeypatch.setattr(Bench, "close", lambda _: freed.append("the bed"))
    with served(place / "runs") as visitor, (folder / "in-use").open("a") as lock:
        if state == "running":
            fcntl.flock(lock, fcntl.LOCK_EX)
        visitor.enter(visitor.access.owner)
        page = f"/runs/{name.replace('/', '~')}/"
        assert "Go on with this run" not in visitor.ask(page).text
        answer = visitor.post(f"{page}resume", {})
        assert not freed, "the bench has kept its bed"
    assert answer.status == 409
    assert words in answer.text
    assert not (place / "build").exists(), "nothing was begun"


def test_a_run_whose_name_has_a_tilde_goes_on(owner: Visitor, place: Path) -> None:
    sample(place / "runs" / "sam~ple", "stopped")
    assert "Go on with this run" in owner.ask("/runs/sam~~ple/").text
    assert owner.post("/runs/sam~~ple/resume", {}).status == 303


def test_a_run_on_other_machines_goes_on_in_a_terminal(owner: Visitor, place: Path) -> None:
    folder = sample(place / "runs" / "sample", "stopped")
    bed = json.dumps({"router": "auto", "pinned": {}, "substrate": "ssh", "inventory": "hosts.yml"})
    change(folder, "UPDATE meta SET value = ? WHERE key = 'bed'", bed)
    answer = owner.post("/runs/sample/resume", {})
    assert answer.status == 400
    assert "lanelab run --resume" in answer.text


# --- whatever becomes of the server


def test_a_server_that_is_killed_ends_no_run(owner: Visitor, place: Path) -> None:
    words = [sys.executable, "-c", SERVER, str(place / "runs"), str(place / "build"), *run_apart.PROGRAM]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stdout
    number = int(server.stdout.readline())
    server.stdout.close()
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()
    try:
        assert os.getsid(number) == number, "a session of its own: no terminal's end reaches it"
        wait_until(lambda: any((place / "runs").glob("*/in-use")), 20)
        assert begin(owner).status == 409, "the machine is still taken"
        (run,) = (place / "runs").iterdir()
        wait_until(lambda: "Stop after this trial" in owner.ask(f"/runs/{run.name}/").text, 20)
        assert owner.post(f"/runs/{run.name}/stop", {"how": "trial"}).status == 200
        wait_until(lambda: "interrupted" in log_of(place, run), 10)
    finally:
        os.kill(number, signal.SIGKILL)
    wait_until(lambda: begin(owner).status == 303, 10)

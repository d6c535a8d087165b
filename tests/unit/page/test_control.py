"""Runs are begun, stopped and gone on with from the page: by whom, with what, and whatever becomes of the server."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier
from urllib.parse import urlencode

import pytest

import lanelab
from lanelab.driver.api import run_apart
from lanelab.driver.api.run_now import live_events
from lanelab.driver.page import now_view
from lanelab.driver.page.access import Role
from lanelab.driver.page.begin_view import SEED, TRIALS
from lanelab.driver.page.bench import Bench
from lanelab.driver.page.experiments import description_of, experiments
from lanelab.driver.page.german import GERMAN
from lanelab.driver.page.priority import THREADS, drawers, ordinary
from lanelab.driver.run.events import RunBegun, Stopping
from lanelab.driver.run.study.study import STUDY_RUN_FILE
from tests.kit.changed_run import changing
from tests.kit.pages import Answer, Visitor, served
from tests.kit.played_run import played_program
from tests.kit.wait import wait_until

SMALL = "sites: dummy\nlinks: {rtt: 20ms, rate: 10mbit}\narms: {HTTP: {}}\ntrials: 2\n"
CODE = SMALL.replace("HTTP: {}", "HTTP: {server_directives: [Timeout 5]}")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with runs, and a program in the place of ours; what it has begun ends with the test."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "small.yaml").write_text(SMALL)
    (tmp_path / "code.yaml").write_text(CODE)
    (tmp_path / "wrong.yaml").write_text(SMALL.replace("20ms", "20parsec"))
    (tmp_path / "inventory.yaml").write_text("all: {hosts: {}}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_apart, "PROGRAM", played_program(tmp_path))
    monkeypatch.setattr(run_apart, "build_folder", lambda: tmp_path / "build")
    monkeypatch.setattr(run_apart, "other_beds_here", lambda: 0)
    begun: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*words: object, **options: object) -> subprocess.Popen[bytes]:
        begun.append(popen(*words, **options))  # type: ignore[call-overload]
        return begun[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    yield tmp_path
    for process in begun:
        process.kill()
        process.wait()


@pytest.fixture
def owner(place: Path) -> Iterator[Visitor]:
    with served(place / "runs") as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


def post(visitor: Visitor, path: str, **fields: str) -> Answer:
    return visitor.ask(path, "POST", urlencode(fields), Sec_Fetch_Site="same-origin",
                       Content_Type="application/x-www-form-urlencoded")  # fmt: skip


def begin(visitor: Visitor, experiment: str = "experiments/small.yaml", trials: str = "", seed: str = "") -> Answer:
    return post(visitor, "/begin/", experiment=experiment, trials=trials, seed=seed)


def begun(visitor: Visitor, place: Path) -> Path:
    """Begin a run, and wait until it is there."""
    answer = begin(visitor)
    assert answer.status == 303
    path = answer.headers["location"].removeprefix("..")
    wait_until(lambda: visitor.ask(path).status == 303, 20)
    return place / "runs" / path.split("/")[2]


def test_a_run_is_begun_and_has_its_page(owner: Visitor, place: Path) -> None:
    text = owner.ask("/begin/?experiment=experiments/small.yaml").text
    assert "1 cell x 2 trials = 2 trials" in text
    answer = begin(owner, trials="3", seed="7")
    path = answer.headers["location"].removeprefix("..")
    wait_until(lambda: owner.ask(path).status == 303, 20)
    run = owner.ask(path).headers["location"].removeprefix("../..")
    assert "Stop after this trial" in owner.ask(run).text
    said = (place / "build" / "begun" / f"{path.split('/')[2]}.log").read_text()
    assert "--trials=3 --seed=7" in said
    assert f"--out={place / 'runs'}" in said
    assert said.strip().endswith(f"-- {place / 'experiments' / 'small.yaml'}")


def test_what_draws_yields_to_all_others_and_what_measures_to_none(owner: Visitor, place: Path) -> None:
    assert drawers().submit(os.sched_getscheduler, 0).result() == os.SCHED_IDLE
    assert os.sched_getscheduler(writer(begun(owner, place))) == os.SCHED_OTHER


def test_threads_for_what_others_wait_for_are_there_before_one_that_yields_asks() -> None:
    pool, together = ordinary(), Barrier(THREADS)

    def kind() -> int:
        together.wait(10)
        return os.sched_getscheduler(0)

    asked = drawers().submit(lambda: [pool.submit(kind) for _ in range(THREADS)]).result()
    assert [each.result() for each in asked] == [os.SCHED_OTHER] * THREADS


def test_a_second_one_is_refused_while_the_first_goes_on(owner: Visitor, place: Path) -> None:
    begun(owner, place)
    answer = begin(owner)
    assert answer.status == 409
    assert "two at once disturb each other" in answer.text


def test_nothing_is_begun_while_a_bed_is_used(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_apart, "other_beds_here", lambda: 1)
    assert "a bed is in use" in begin(owner).text


@pytest.mark.parametrize(
    ("trials", "seed", "words"),
    [("0", "", f"{TRIALS}: 0 cannot be used. Write a whole number from 1 to"),
     ("x", "", f"{TRIALS}: &#39;x&#39; cannot"),
     ("1e3", "", TRIALS), ("9" * 99, "", TRIALS), ("", "-1", SEED), ("", "4294967296", SEED),
     ("--out=/etc", "", TRIALS), ("", "٣", SEED)],
)  # fmt: skip
def test_what_is_typed_is_judged_as_on_the_command_line_and_named_by_its_label(
    owner: Visitor, trials: str, seed: str, words: str
) -> None:
    answer = begin(owner, trials=trials, seed=seed)
    assert answer.status == 400
    assert words in answer.text.replace("&#x27;", "&#39;")


def test_a_mistake_in_a_file_names_its_line_and_its_key(owner: Visitor, place: Path) -> None:
    for answer in (begin(owner, "wrong.yaml"), owner.ask("/begin/?experiment=wrong.yaml")):
        assert f"{place / 'wrong.yaml'}:2: links.rtt" in answer.text
        assert "parsec" in answer.text


@pytest.mark.parametrize(
    "name",
    ["../secret", "/etc/passwd", "experiments/../code.yaml", "experiments/small.yaml/", "experiments//small.yaml",
     "small.yaml\x00", "--help", "", "runs/x/experiment.yaml", "inventory.yaml", "quickstart.yaml", "./code.yaml"],
)  # fmt: skip
def test_a_name_is_looked_up_and_never_a_path(owner: Visitor, place: Path, name: str) -> None:
    assert begin(owner, name).status == 404
    assert not list((place / "runs").iterdir())


def test_the_experiments_are_lanelabs_own_and_those_beside_the_runs(place: Path) -> None:
    names = experiments(place / "runs", place)
    assert list(names)[:3] == ["experiments/small.yaml", "code.yaml", "wrong.yaml"]
    assert {"quickstart", "labs/1-slow-start"} <= names.keys()
    assert not any("2012" in name and "/" in name for name in names), "a figure is run with its study"


def test_each_experiment_says_what_it_measures_and_leads_to_its_plan(owner: Visitor) -> None:
    page = owner.ask("/begin/").text
    first = re.search(r'<dt><a href="([^"]*)">quickstart</a></dt><dd[^>]*>([^<]+)</dd>', page)
    assert first
    assert "The dummy page" in first[2]
    assert "<pre" in owner.ask(f"/begin/{first[1]}").text


@pytest.mark.parametrize(
    ("written", "description"),
    [
        ("description: two  words\nsites: [a]\n", "two words"),
        ("sites: [a]\ndescription: >\n  on two\n  lines\n", "on two lines"),
        ("sites: [a]\n", ""),
        ("description: [\nsites: [a]\n", ""),
        ("description: *one\n", ""),
        ("description: 5\n", ""),
    ],
)
def test_a_description_is_one_line_whatever_is_written(tmp_path: Path, written: str, description: str) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(written)
    assert description_of(file) == description


@pytest.mark.parametrize("typed", ["bananas", "-1", "1,5", "zwölf", "9" * 30, "5 ms"])
@pytest.mark.parametrize(("field", "label"), [("trials", TRIALS), ("seed", SEED)])
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_wrong_is_named_by_its_label(owner: Visitor, typed: str, field: str, label: str, language: str) -> None:
    owner.headers["Cookie"] += f"; lanelab-lang={language}"
    answer = begin(owner, **{field: typed})
    assert answer.status == 400
    assert f">{GERMAN[label] if language == 'de' else label}: " in answer.text
    assert f'value="{typed}"' in answer.text, "what was typed stays"


@pytest.mark.parametrize("allowed", [frozenset[str](), frozenset({"flags", "scripts"})])
def test_code_of_its_author_is_refused(place: Path, allowed: frozenset[str]) -> None:
    with served(place / "runs", allowed) as visitor:
        visitor.enter(visitor.access.owner)
        answer = begin(visitor, "code.yaml")
        assert answer.status == 400
        assert "server_directives of the arm HTTP: Timeout 5" in answer.text
        assert "lanelab serve --allow directives" in answer.text


def test_code_is_run_where_the_owner_allows_it(place: Path) -> None:
    with served(place / "runs", frozenset({"directives"})) as visitor:
        visitor.enter(visitor.access.owner)
        assert begin(visitor, "code.yaml").status == 303


def test_who_watches_begins_and_stops_nothing(place: Path) -> None:
    shutil.copytree(lanelab.sample_run().folder, place / "runs" / "sample")
    with served(place / "runs") as watcher:
        watcher.enter(watcher.access.watcher)
        assert begin(watcher).status == 403
        assert watcher.ask("/begin/").status == 403
        for path in ("/runs/sample/stop", "/runs/sample/resume"):
            assert post(watcher, path, how="trial").status == 403
        assert "begin/" not in watcher.ask("/").text
        assert "<form" not in watcher.ask("/runs/sample/").text


@pytest.mark.parametrize("path", ["/begin/", "/runs/sample/stop", "/runs/sample/resume"])
def test_neither_another_page_nor_an_address_does_anything(owner: Visitor, place: Path, path: str) -> None:
    shutil.copytree(lanelab.sample_run().folder, place / "runs" / "sample")
    body = urlencode({"experiment": "experiments/small.yaml", "trials": "", "seed": "", "how": "trial"})
    kind = "application/x-www-form-urlencoded"
    for headers in (
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "http://127.0.0.1:1"},
    ):
        assert owner.ask(path, "POST", body, Content_Type=kind, **headers).status == 403
    assert owner.ask(f"{path}?{body}").status in (200, 303)
    assert owner.ask_outside(path, "POST", body, Content_Type=kind, Sec_Fetch_Site="same-origin").status == 403
    assert [each.name for each in (place / "runs").iterdir()] == ["sample"]


# --- it is stopped


def log_of(place: Path, run: Path) -> str:
    return (place / "build" / "begun" / f"{run.name}.log").read_text()


def test_it_is_stopped_once_and_at_once_only_after_that(owner: Visitor, place: Path) -> None:
    run = begun(owner, place)
    stop = f"/runs/{run.name}/stop"
    for _ in range(3):  # who presses twice has one wish
        assert post(owner, stop, how=now_view.AFTER_THIS_TRIAL).status == 200
    wait_until(lambda: "interrupted" in log_of(place, run), 10)
    assert log_of(place, run).count("interrupted") == 1
    assert "at once" in post(owner, stop, how=now_view.AT_ONCE).text
    wait_until(lambda: log_of(place, run).count("interrupted") == 2, 10)
    assert post(owner, stop, how="kill").status == 400
    assert post(owner, stop).status == 400


def test_a_run_that_says_that_it_stops_is_not_asked_again(owner: Visitor, place: Path) -> None:
    run = begun(owner, place)
    live_events(run).parent.mkdir()
    told = (RunBegun(str(run), 1, 8, 0, 2, "page_load"), Stopping())
    live_events(run).write_text("".join(f"{json.dumps(event.to_json())}\n" for event in told))
    wait_until(lambda: "Stop at once" in owner.ask(f"/runs/{run.name}/").text, 10)
    post(owner, f"/runs/{run.name}/stop", how=now_view.AFTER_THIS_TRIAL)
    time.sleep(0.3)
    assert "interrupted" not in log_of(place, run)


def test_a_run_without_a_writer_cannot_be_stopped(owner: Visitor, place: Path) -> None:
    shutil.copytree(lanelab.sample_run().folder, place / "runs" / "sample")
    (place / "runs" / "sample" / "in-use").touch()
    answer = post(owner, "/runs/sample/stop", how="trial")
    assert answer.status == 409
    assert "nobody on this machine writes" in answer.text


# --- it goes on


def stop_process(run: Path) -> None:
    """End the process that has the run's lock."""
    os.kill(writer(run), signal.SIGTERM)


def writer(run: Path) -> int:
    inode = (run / "in-use").stat().st_ino
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return next(int(words[4]) for words in lines if words[5].endswith(f":{inode}"))


def test_a_run_that_was_stopped_goes_on(owner: Visitor, place: Path) -> None:
    run = begun(owner, place)
    stop_process(run)
    wait_until(lambda: "Go on with this run" in owner.ask(f"/runs/{run.name}/").text, 20)
    answer = post(owner, f"/runs/{run.name}/resume")
    assert answer.status == 303, answer.text
    wait_until(lambda: f"--resume={run}" in log_of(place, run), 10)
    assert os.sched_getscheduler(writer(run)) == os.SCHED_OTHER
    wait_until(lambda: owner.ask(answer.headers["location"].removeprefix("../..")).status == 303, 10)


def stopped_sample(folder: Path) -> None:
    shutil.copytree(lanelab.sample_run().folder, folder)
    with changing(folder) as database:
        database.execute("UPDATE meta SET value = 'stopped' WHERE key = 'state'")


BED = "import sys, time\nfor line in sys.stdin: pass\ntime.sleep(0.5)"  # it ends a while after nobody can ask any more


@pytest.mark.parametrize("goes_on", [False, True])
def test_the_bench_gives_up_its_bed_before_a_run_is_begun_or_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    stopped_sample(place / "runs" / "sample")
    beds: list[subprocess.Popen[str]] = []

    def begin_process() -> "subprocess.Popen[str]":
        words, pipe = [sys.executable, "-c", BED], subprocess.PIPE
        beds.append(subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True))
        return beds[-1]

    monkeypatch.setattr("lanelab.driver.page.bench.begin_process", begin_process)
    monkeypatch.setattr(run_apart, "other_beds_here", lambda: sum(bed.poll() is None for bed in beds))
    with served(place / "runs") as visitor:
        visitor.enter(visitor.access.owner)
        assert post(visitor, "/bench/", site="ten-kilobytes", arm="quickstart: HTTP").status == 303
        answer = post(visitor, "/runs/sample/resume") if goes_on else begin(visitor)
    assert answer.status == 303, answer.text


@pytest.mark.parametrize(
    ("name", "state", "words"),
    [("sample", "finished", "It has come to its end."), ("sample", "running", "It goes on already."),
     ("study/sample", "stopped", "It is a figure of a study"), ("study/sample", "finished", "It has come to its end.")],
)  # fmt: skip
def test_a_form_without_a_button_makes_no_run_go_on(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, state: str, words: str
) -> None:
    folder, freed = place / "runs" / name, list[str]()
    shutil.copytree(lanelab.sample_run().folder, folder)
    if folder.parent.name == "study":
        (folder.parent / STUDY_RUN_FILE).write_text("{}")
    with changing(folder) as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'state'", (state,))
    monkeypatch.setattr(Bench, "close", lambda _: freed.append("the bed"))
    with served(place / "runs") as visitor, (folder / "in-use").open("a") as lock:
        if state == "running":
            fcntl.flock(lock, fcntl.LOCK_EX)
        visitor.enter(visitor.access.owner)
        page = f"/runs/{name.replace('/', '~')}/"
        assert "Go on with this run" not in visitor.ask(page).text
        answer = post(visitor, f"{page}resume")
        assert not freed, "the bench has kept its bed"
    assert answer.status == 409
    assert words in answer.text
    assert not (place / "build").exists(), "nothing was begun"


def test_a_run_whose_name_has_a_tilde_goes_on(owner: Visitor, place: Path) -> None:
    stopped_sample(place / "runs" / "sam~ple")
    assert "Go on with this run" in owner.ask("/runs/sam~~ple/").text
    assert post(owner, "/runs/sam~~ple/resume").status == 303


def test_a_run_on_other_machines_goes_on_in_a_terminal(owner: Visitor, place: Path) -> None:
    folder = place / "runs" / "sample"
    stopped_sample(folder)
    with changing(folder) as database:
        bed = json.dumps({"router": "auto", "pinned": {}, "substrate": "ssh", "inventory": "hosts.yml"})
        database.execute("UPDATE meta SET value = ? WHERE key = 'bed'", (bed,))
    answer = post(owner, "/runs/sample/resume")
    assert answer.status == 400
    assert "lanelab run --resume" in answer.text


# --- whatever becomes of the server

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
        assert post(owner, f"/runs/{run.name}/stop", how="trial").status == 200
        wait_until(lambda: "interrupted" in log_of(place, run), 10)
    finally:
        os.kill(number, signal.SIGKILL)
    wait_until(lambda: begin(owner).status == 303, 10)


def test_roles_are_told_apart_by_their_place(owner: Visitor) -> None:
    owner.role = Role.WATCH
    assert begin(owner).status == 403

"""The link bench: its numbers are those of plans and judges, its runs are ordinary ones, and one thing is measured at a
time."""

import errno
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest

import lanelab
from lanelab.analysis.results import tables
from lanelab.driver.api.arm_presets import arm_presets
from lanelab.driver.api.link_bench import LinkBench
from lanelab.driver.api.plans import plan_of
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.page import bench_process
from lanelab.driver.page.bench import FAILED, GONE, NOTHING, Bench, Sentence, sentence_of
from lanelab.driver.page.bench_numbers import DIALS, curves, measured
from lanelab.driver.page.bench_view import Setup
from lanelab.driver.page.choices import Choice, checked
from lanelab.driver.page.shelf import Shelf
from lanelab.driver.run.events import BedReplaced, BedUp, Event, Notice, RunBegun
from lanelab.driver.trial.page_load.bound import physical_bound
from tests.kit.classes import watching
from tests.kit.pages import Visitor, served
from tests.kit.wait import wait_until

ANSWERS = """
import json, sys, time
for line in sys.stdin:
    setup = json.loads(line)
    print(json.dumps({"event": "self-test-started", "link": "a", "moment": "before"}), flush=True)
    if setup["rounds"] == 7: sys.exit(1)
    if setup["rounds"] != 9: print(json.dumps(%s), flush=True)
if setup["rounds"] == 8: time.sleep(0.5)
"""
SMALL = {"site": ["ten-kilobytes"], "arm": ["quickstart: HTTP", "quickstart: HTTP/2"]}


def answering(answer: dict[str, object]) -> "subprocess.Popen[str]":
    """A process that stands for the one that measures. Of 9 rounds it never says the end, of 7 it dies, of 8 it
    ends slowly."""
    program = ANSWERS % json.dumps(answer)
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Processes that pages have begun."""
    started: list[str] = []

    def begin() -> "subprocess.Popen[str]":
        started.append("process")
        return answering({"done": "runs/a"})

    monkeypatch.setattr("lanelab.driver.page.bench.begin_process", begin)
    monkeypatch.setattr("lanelab.driver.page.bench_pages.require_free", lambda: None)
    return started


@pytest.fixture
def owner(tmp_path: Path, begun: list[str]) -> Iterator[Visitor]:
    assert begun == []
    folder = tmp_path / "runs"
    folder.mkdir()
    with served(folder) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


@pytest.mark.parametrize("site", ["ten-kilobytes", "five-pages"])
def test_its_curves_are_those_of_judges_and_of_plans(site: str) -> None:
    setup = Setup.read({**SMALL, "site": [site], "loss": ["1"]})
    experiment = checked(setup.text())
    drawn = curves(experiment, setup.link, "rtt", Shelf(Path("none")), [])
    for curve, cell in zip(drawn, plan_of(experiment).estimate.cells, strict=True):
        assert curve.here[0] == physical_bound(cell.cell.link.link, curve.arm)
        assert curve.here[1] == pytest.approx(1000 * cell.plt_s)
        assert (100.0, *curve.here) in curve.points
        assert curve.bytes_of is None


def test_what_was_measured_falls_onto_its_place() -> None:
    run = lanelab.sample_run()
    cell = run.data.cells[0]
    experiment = lanelab.Experiment.from_yaml(run.folder / "experiment.yaml").data
    link = {**cell.link.settings, "rtt": "50ms"}
    drawn = curves(experiment, link, "rtt", Shelf(run.folder.parent), measured(run.folder.name, run.data))
    rows = {(row.cell.arm.name, row.cell.link.settings["rtt"]): row.summary for row in tables.rows(run.data)}
    for curve in drawn:
        assert [dot.x for dot in curve.dots] == [20.0, 100.0]
        for dot in curve.dots:
            summary = rows[curve.arm.name, f"{dot.x:g}ms"]
            assert summary is not None
            assert dot.summary.estimate == summary.estimate
        assert curve.bytes_of is not None
        assert curve.here[0] > physical_bound(experiment.links[0].link, curve.arm), "its bytes ask for more"
    assert curves(experiment, {**link, "loss": "1%"}, "rtt", Shelf(run.folder.parent),
                  measured("sample", run.data))[0].dots == ()  # fmt: skip


def test_arms_of_our_experiments_are_the_same_when_a_form_has_written_them() -> None:
    for experiment, arms in arm_presets().items():
        for name, arm in arms.items():
            text = Choice("dummy", [f"{experiment}: {name}"], {"rtt": "20ms"}, "1").text("one", capture="client")
            assert checked(text).arms[0].settings() == arm.settings(), name


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"rtt": ["-5"]}, "Round trip: "), ({"rtt": ["5 bananas"]}, "Round trip: "), ({"loss": ["200"]}, "Loss: "),
     ({"site": ["../etc"]}, "there is no site"), ({"arm": ["quickstart: <script>"]}, "there is no arm"),
     ({"arm": [""]}, "arms"), ({"queue": ["0"]}, "queue"), ({"rtt": ["20ms"]}, "is no number"),
     ({"rate_down": ["1\nsites: x"]}, "Rate down: ")],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_the_words_of_experiments(
    owner: Visitor, begun: list[str], fields: dict[str, list[str]], words: str
) -> None:
    answer = owner.post("/bench/", {**SMALL, **fields})
    assert answer.status == 422
    for page in (answer.text, owner.ask(f"/bench/?{urlencode({**SMALL, **fields}, doseq=True)}").text):
        alert = page.partition('role="alert"')[2].partition("</p>")[0]
        assert words in alert
        assert "<script>" not in page
        assert "form:" not in alert, "nobody wrote that file"
    assert begun == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"rtt": ["20ms"]}, "Umlaufzeit: &#x27;20ms&#x27; ist keine Zahl. Schreib es in ms"),
     ({"rounds": ["31"]}, "Runden: &#x27;31&#x27; geht hier nicht. Schreib eine ganze Zahl von 1 bis 30"),
     ({"rounds": ["000000001999"]}, "Runden: &#x27;000000001999&#x27; geht hier nicht"),
     ({"arm": ["x"]}, "Arm: einen Arm &#x27;x&#x27; gibt es nicht. Nimm einen aus der Liste"),
     ({"loss": ["200"]}, 'Verlust: <span lang="en">')],
)  # fmt: skip
def test_refusals_are_in_the_language_of_the_page(owner: Visitor, fields: dict[str, list[str]], words: str) -> None:
    owner.headers["Cookie"] += "; lanelab-lang=de"
    answer = owner.post("/bench/", {**SMALL, **fields})
    assert answer.status == 422
    alert = answer.text.partition('role="alert"')[2].partition("</p>")[0]
    assert words in alert


def test_looking_begins_nothing_and_only_who_may_run_measures(owner: Visitor, begun: list[str]) -> None:
    assert "Measure here" in owner.ask("/bench/").text
    watcher = Visitor(owner.port, owner.access)
    watcher.enter(owner.access.watcher)
    assert "Measure here" not in watcher.ask("/bench/").text
    assert watcher.post("/bench/", SMALL).status == 403
    assert owner.ask("/bench/", "POST", Sec_Fetch_Site="cross-site").status == 403
    assert begun == []


def test_it_measures_and_says_so(owner: Visitor, begun: list[str]) -> None:
    answer = owner.post("/bench/", {**SMALL, "rtt": ["40"]})
    assert answer.status == 303
    assert "rtt=40" in answer.headers["location"]
    assert begun == ["process"]


def test_no_bed_is_made_while_something_else_is_measured_on_this_machine(
    owner: Visitor, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy() -> None:
        raise StoreError("a bed is in use on this machine")

    monkeypatch.setattr("lanelab.driver.page.bench_pages.require_free", busy)
    answer = owner.post("/bench/", SMALL)
    assert (answer.status, begun) == (422, [])
    assert "a bed is in use on this machine" in answer.text


def waits(bench: Bench, measured: int) -> None:
    wait_until(lambda: bench.measured == measured, 10)


def test_one_thing_is_measured_at_a_time_and_a_process_that_is_gone_is_told_of(tmp_path: Path) -> None:
    bench = Bench(start=lambda: answering({"done": "a"}))
    bench.measure("text", tmp_path, 1)
    waits(bench, 1)
    assert (bench.is_busy, bench.problem, bench.has_bed) == (False, NOTHING, True)
    bench.measure("text", tmp_path, 9)
    with pytest.raises(InputError, match="under way"):
        bench.measure("text", tmp_path, 1)
    wait_until(lambda: "before anything is loaded" in str(bench.at), 10)
    bench.close()

    dying = Bench(start=lambda: answering({"done": "a"}))
    dying.measure("text", tmp_path, 7)
    waits(dying, 1)
    assert str(dying.problem) == GONE
    dying.measure("text", tmp_path, 1)
    waits(dying, 2)
    assert dying.problem == NOTHING, "another one was begun"
    dying.close()


def test_what_is_under_way_when_the_bed_is_given_up_ends_also_where_its_process_dies(tmp_path: Path) -> None:
    bench = Bench(start=lambda: answering({"done": "a"}))
    bench.measure("text", tmp_path, 9)
    bench.close()
    assert (bench.is_busy, bench.has_bed) == (True, False)
    waits(bench, 1)
    wait_until(lambda: not bench.is_ending, 10)
    assert (bench.is_busy, str(bench.problem)) == (False, GONE)


def test_a_bed_that_was_given_up_is_ending_until_its_process_is_gone(tmp_path: Path) -> None:
    bench = Bench(start=lambda: answering({"done": "a"}))
    bench.measure("text", tmp_path, 8)
    waits(bench, 1)
    bench.close()
    bench.close()
    assert bench.is_ending
    wait_until(lambda: not bench.is_ending, 10)


def test_a_refusal_of_the_process_is_shown(tmp_path: Path) -> None:
    bench = Bench(start=lambda: answering({"problem": "the bed is gone"}))
    bench.measure("text", tmp_path, 1)
    waits(bench, 1)
    assert bench.problem == Sentence(FAILED, detail="the bed is gone")
    bench.close()


@pytest.mark.parametrize(
    ("event", "words"),
    [(RunBegun("/srv/runs/a", 1, 2, 0, 1, "page_load"), ""), (Notice("mind /srv/runs/a"), ""),
     (BedReplaced("cannot write /srv/runs/a"), ""), (BedUp(1, "uml", "6.1", 2.0), "bed 1 up in 2.0 s, router uml 6.1")],
)  # fmt: skip
def test_what_the_bench_is_at_is_for_all_and_has_no_path_of_the_server(event: Event, words: str) -> None:
    assert sentence_of(event) == Sentence(words)


def test_what_its_process_says_is_for_who_may_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "cannot measure in /srv/runs"
    monkeypatch.setattr("lanelab.driver.page.bench.begin_process", lambda: answering({"problem": said}))
    monkeypatch.setattr("lanelab.driver.page.bench_pages.require_free", lambda: None)
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs") as owner:
        owner.enter(owner.access.owner)
        owner.post("/bench/", SMALL)
        wait_until(lambda: said in owner.ask("/bench/").text, 10)
        watched = watching(owner).ask("/bench/?lang=de").text
    assert said not in watched
    assert "Die Messung ist fehlgeschlagen. Sag es denen, die diesen Server betreiben." in watched


@pytest.mark.parametrize(("name", "value", "text"), [("rtt", "20", "20ms"), ("loss", " 0.5 ", "0.5%"),
                                                      ("rate_down", "1.5", "1.5mbit"), ("queue", "1bdp", "1bdp"),
                                                      ("rtt", "٣", "٣"), ("rtt", "1.2.3", "1.2.3")])  # fmt: skip
def test_numbers_get_their_units(name: str, value: str, text: str) -> None:
    assert DIALS[name].text(value) == text


def test_the_process_that_measures_says_that_the_disk_is_full_and_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(LinkBench, "measure", full)
    request = {"experiment": Setup.read({}).text(), "folder": "runs/a", "rounds": 1, "accept": False}
    with LinkBench() as bench:
        assert bench_process._answer(bench, json.dumps(request)), "it may be asked again"
    assert "the disk is full: cannot measure in runs/a" in json.loads(capsys.readouterr().out)["problem"]


def test_a_process_that_is_gone_before_it_is_asked_is_told_of(tmp_path: Path) -> None:
    begun: list[subprocess.Popen[str]] = []

    def begin() -> "subprocess.Popen[str]":
        process = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.wait()
        begun.append(process)
        return process

    bench = Bench(start=begin)
    bench.measure("x", tmp_path / "a", 1)
    waits(bench, 1)
    assert str(bench.problem) == GONE

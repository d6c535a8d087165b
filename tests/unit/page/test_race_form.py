"""A race is begun from a form: an ordinary experiment of two cells, refused in the words of experiments."""

import fcntl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import cast
from unittest.mock import Mock

import pytest

from lanelab.driver.api.run_apart import Apart
from lanelab.driver.base.errors import StoreError
from lanelab.driver.page import race_pages
from lanelab.driver.page.choices import checked
from lanelab.driver.page.race_form import USUAL, race_file
from tests.kit.made_run import Made, make_run
from tests.kit.pages import Visitor, served

FIELDS = {"site": ["dummy"], "arm": ["quickstart: HTTP", "protocols: SPDY/3.1"], "rtt": ["50ms"], "loss": ["1%"],
          "rate_down": ["2mbit"], "rate_up": ["1mbit"], "queue": ["40p"], "rounds": ["3"]}  # fmt: skip


def ended_process(status: int | None) -> "subprocess.Popen[bytes]":
    """A process that has ended so; None: that goes on."""
    process = Mock(spec=subprocess.Popen)
    process.poll.return_value = status
    return cast("subprocess.Popen[bytes]", process)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Experiments that were begun; each has a run at once."""
    files: list[Path] = []

    def begin(experiment: Path, runs: Path, _allowed: object, *, accept_links: bool) -> Apart:
        files.append(experiment)
        assert not accept_links
        return Apart(make_run(runs / "a-race", Made(rounds=2)), experiment, ended_process(None))

    monkeypatch.setattr(race_pages, "begin_apart", begin)
    return files


@pytest.fixture
def owner(tmp_path: Path, begun: list[Path]) -> Iterator[Visitor]:
    assert begun == []
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs") as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


def test_a_race_is_an_ordinary_experiment(owner: Visitor, begun: list[Path]) -> None:
    answer = owner.post("/race/", FIELDS)
    assert answer.status == 303
    (file,) = begun
    experiment = checked(file.read_text())
    assert experiment.name == "race"
    assert [cell.arm.name for cell in experiment.cells] == ["HTTP", "SPDY/3.1"]
    assert experiment.repeat.trials == 3
    link = experiment.links[0].link.to_mapping()
    assert (link["rtt"], link["rate_down"], link["rate_up"], link["queue"]) == ("50ms", "2mbit", "1mbit", "40p")
    assert "filmstrip" in file.read_text()
    assert owner.ask(answer.headers["location"].removeprefix("..")).status == 200


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"rtt": ["50"]}, "Round trip: "), ({"rtt": [" "]}, "Round trip: nothing is written"),
     ({"loss": ["101%"]}, "Loss: "), ({"rate_down": [""], "rate_up": [""]}, "queue"),
     ({"rounds": ["0"]}, "Rounds: "), ({"rounds": ["<b>"]}, "Rounds: "), ({"site": ["../x"]}, "there is no site"),
     ({"arm": ["quickstart: HTTP"] * 2}, "two different arms"), ({"arm": ["quickstart: HTTP"]}, "two different arms"),
     ({"arm": ["quickstart: HTTP", "x"]}, "there is no arm"), ({"rtt": ["1ms\nserver_directives: x"]}, "Round trip: ")],
)  # fmt: skip
def test_what_cannot_be_begins_nothing(
    owner: Visitor, begun: list[Path], fields: dict[str, list[str]], words: str
) -> None:
    answer = owner.post("/race/", {**FIELDS, **fields})
    assert answer.status == 422
    alert = answer.text.partition('role="alert"')[2].partition("</p>")[0]
    assert words in alert
    assert "form:" not in alert
    assert begun == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"rtt": [" "]}, "Umlaufzeit: da steht nichts. Schreib eine Zeit"),
     ({"loss": ["101%"]}, 'Verlust: <span lang="en">'),
     ({"arm": ["quickstart: HTTP"]}, "Dagegen: zu einem Rennen gehören zwei verschiedene Arme")],
)  # fmt: skip
def test_refusals_are_in_the_language_of_the_page(owner: Visitor, fields: dict[str, list[str]], words: str) -> None:
    owner.headers["Cookie"] += "; lanelab-lang=de"
    alert = owner.post("/race/", {**FIELDS, **fields}).text.partition('role="alert"')[2].partition("</p>")[0]
    assert words in alert


def test_a_race_waits_for_what_goes_on_in_the_language_of_the_page(owner: Visitor, tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs" / "mine", Made(rounds=1))
    owner.headers["Cookie"] += "; lanelab-lang=de"
    with (run / "in-use").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = owner.post("/race/", FIELDS)
    assert "der Lauf mine ist noch nicht zu Ende. Warte, bis er zu Ende ist" in answer.text


def test_what_was_filled_in_is_kept(owner: Visitor) -> None:
    page = owner.post("/race/", {**FIELDS, "loss": ["much"]}).text
    assert 'value="50ms"' in page
    assert 'value="much"' in page
    assert '<option value="protocols: SPDY/3.1" selected>' in page


def test_only_who_may_run_begins_and_looking_begins_nothing(owner: Visitor, begun: list[Path]) -> None:
    assert "Begin the race" in owner.ask("/race/").text
    watcher = Visitor(owner.port, owner.access)
    watcher.enter(owner.access.watcher)
    assert "Begin the race" not in watcher.ask("/race/").text
    assert watcher.post("/race/", FIELDS).status == 403
    assert owner.post("/race/", FIELDS, Sec_Fetch_Site="cross-site").status == 403
    assert begun == []


def test_a_run_that_does_not_begin_says_why(owner: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(experiment: Path, runs: Path, _allowed: object, *, accept_links: bool) -> Apart:
        assert not accept_links
        log = experiment.with_suffix(".log")
        log.write_text("Chromium is not installed")
        return Apart(runs / "none", log, ended_process(2))

    monkeypatch.setattr(race_pages, "begin_apart", begin)
    answer = owner.post("/race/", FIELDS)
    assert answer.status == 422
    assert "Chromium is not installed" in answer.text
    assert "There is no run yet." in owner.ask("/").text


def test_a_race_that_is_refused_leaves_no_experiment(
    owner: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(race_pages, "begin_apart", Mock(side_effect=StoreError("a bed is in use", "Wait")))
    answer = owner.post("/race/", FIELDS)
    assert answer.status == 422
    assert "a bed is in use. Wait" in answer.text
    assert list((tmp_path / "runs").rglob("*.yaml")) == []


def test_the_usual_race_can_be_begun() -> None:
    assert len(checked(race_file(USUAL)).cells) == 2

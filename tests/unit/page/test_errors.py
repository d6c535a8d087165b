"""What pages say of an error: who watches reads of no path of the server, who may run and the server's log do."""

import logging
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from lanelab.driver.api.run_apart import Apart
from lanelab.driver.base.errors import DiskFull, InputError, LanelabError, MachineBusy, StoreError
from lanelab.driver.page import choices
from lanelab.driver.page.begin_view import waiting_page
from lanelab.driver.page.choices import ForAll, checked
from lanelab.driver.page.errors import error_words
from lanelab.driver.page.export import export_pages
from lanelab.driver.page.language import LANGUAGES, Reading, read_as
from tests.kit.classes import watching
from tests.kit.pages import Visitor, served

GERMAN = Reading(LANGUAGES["de"])


@pytest.fixture(name="runs")
def _runs(tmp_path: Path) -> Path:
    """A folder with a run that cannot be read."""
    broken = tmp_path / "runs" / "broken"
    broken.mkdir(parents=True)
    (broken / "run.sqlite").write_bytes(b"no database")
    return tmp_path / "runs"


@pytest.fixture(name="owner")
def _owner(runs: Path) -> Iterator[Visitor]:
    with served(runs) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


def test_who_watches_reads_what_an_error_means_and_the_log_has_the_path(
    owner: Visitor, runs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = watching(owner)
    caplog.set_level(logging.WARNING)
    shown = watcher.ask("/runs/broken/")
    assert shown.status == 500
    assert "The server cannot read or write a file. Tell whoever runs this server." in shown.text
    assert str(runs) in caplog.text
    german = watcher.ask("/runs/broken/?lang=de").text
    assert "Der Server kann eine Datei nicht lesen oder schreiben. Sag es denen" in german
    assert "This run cannot be read." in watcher.ask("/").text
    for page in (shown.text, german, watcher.ask("/").text, watcher.ask("/runs/broken/report/").text):
        assert str(runs) not in page


def test_who_may_run_reads_the_path(owner: Visitor, runs: Path) -> None:
    assert str(runs / "broken") in owner.ask("/runs/broken/").text
    assert str(runs / "broken") in owner.ask("/").text


def test_pages_as_files_have_no_path_of_the_server(runs: Path, tmp_path: Path) -> None:
    _, problems = export_pages(runs, tmp_path / "public")
    assert str(runs) in problems[0]
    assert str(runs) not in (tmp_path / "public" / "index.html").read_text()


def test_what_a_run_has_said_that_did_not_begin_is_for_who_may_run(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(f"cannot write {tmp_path}")
    process = Mock(spec=subprocess.Popen)
    process.poll.return_value = 2
    apart = Apart(tmp_path / "a", log, process)
    assert str(tmp_path) in waiting_page("a", apart, may_run=True)
    watched = waiting_page("a", apart, may_run=False)
    assert str(tmp_path) not in watched
    assert "It did not begin" in watched


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (DiskFull("/srv has no room"), "Die Festplatte des Servers ist voll."),
        (MachineBusy("a bed is in use"), "Auf diesem Rechner wird gerade etwas anderes gemessen."),
        (StoreError("/srv/a is gone"), "Der Server kann eine Datei nicht lesen oder schreiben."),
        (InputError("so not", key="/srv/a.yaml:2"), "Das kann der Server nicht."),
    ],
)
def test_in_german_its_own_words_stand_behind_what_it_means(error: LanelabError, meaning: str) -> None:
    with read_as(GERMAN):
        assert error_words(error, may_run=True) == f'{meaning} <span lang="en">{error}</span>'
        assert error_words(error, may_run=False) == f"{meaning} Sag es denen, die diesen Server betreiben."
    assert error_words(error, may_run=True) == f"<span>{error}</span>"


def test_what_is_wrong_with_a_form_is_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    error = InputError("no time", "Write one", key="form:3: links.rtt")
    monkeypatch.setattr(choices, "parse_experiment", Mock(side_effect=error))
    with pytest.raises(ForAll) as raised:
        checked("text")
    assert error_words(raised.value, may_run=False) == "Round trip: no time. Write one"


@pytest.mark.parametrize(("key", "place"), [("form:2: sites", "/srv/site.yaml:4"), ("/srv/site.yaml:4", ""), ("", "")])
def test_what_is_wrong_with_a_file_behind_a_form_is_not(monkeypatch: pytest.MonkeyPatch, key: str, place: str) -> None:
    error = InputError("no host in /srv", "Write one", key=key, place=place)
    monkeypatch.setattr(choices, "parse_experiment", Mock(side_effect=error))
    with pytest.raises(InputError) as raised:
        checked("text")
    assert "/srv" not in error_words(raised.value, may_run=False)
    assert "/srv" in error_words(raised.value, may_run=True)

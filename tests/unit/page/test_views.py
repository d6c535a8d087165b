"""What is shown: the library, runs, trials and two on one clock, of real and of made runs."""

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from click.testing import CliRunner

import lanelab
from lanelab.driver.cli.main import lanelab as command
from tests.kit.changed_run import changing
from tests.kit.made_run import Made, make_run
from tests.kit.pages import Visitor, served

HOSTILE = "<script>alert(1)</script>\" onload='x'"
FIRST = "/runs/sample/trials/1/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("views") / "runs"
    shutil.copytree(lanelab.sample_run().folder, folder / "sample")
    make_run(folder / "other", Made(rounds=3))
    make_run(folder / "hostile", Made(rounds=2))
    with changing(folder / "hostile") as database:
        database.execute("UPDATE meta SET value = ? WHERE key IN ('name', 'description')", (HOSTILE,))
        database.execute("UPDATE arms SET name = name || ?", (HOSTILE,))
    (folder / "broken").mkdir()
    (folder / "broken" / "run.sqlite").write_bytes(b"no database")
    (folder / "notes").mkdir()
    return folder


@pytest.fixture(scope="module")
def owner(folder: Path) -> Iterator[Visitor]:
    with served(folder) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


def test_the_library_has_every_run_and_says_which_cannot_be_read(owner: Visitor) -> None:
    text = owner.ask("/").text
    for name in ("sample", "other", "hostile", "broken"):
        assert f'href="runs/{name}/"' in text
    assert "cannot be read" in text
    assert "notes" not in text


@pytest.mark.parametrize(
    ("query", "first", "many"),
    [("words=SAMP", "sample", 1), ("state=finished&order=run", "hostile", 3), ("words=nothing", None, 0),
     ("order=nonsense", None, 4), ("order=flagged&state=finished", "sample", 3)],
)  # fmt: skip
def test_it_is_filtered_and_ordered(owner: Visitor, query: str, first: str | None, many: int) -> None:
    names = re.findall(r'href="runs/(\w+)/"', owner.ask(f"/?{query}").text)
    assert len(names) == many
    assert first is None or names[0] == first


def test_a_run_has_its_numbers_its_caution_and_its_trials(owner: Visitor) -> None:
    text = owner.ask("/runs/sample/").text
    for words in ("page loads that count", "flagged", "browser-crashed", "not reproduced", "lanelab run --resume"):
        assert words in text
    assert 'href="trials/49/"' in text
    assert owner.ask("/runs/sample/trials/").text.count("<tr>") == 50


def test_a_trial_has_its_load_its_requests_and_its_files(owner: Visitor) -> None:
    text = owner.ask("/runs/sample/trials/3/").text
    for words in ("How it loaded", "Packets over time", "How the page appeared", "mobile.css", "client.pcapng.gz"):
        assert words in text
    assert "browser-crashed" in owner.ask("/runs/sample/trials/10/").text


def test_two_cells_of_two_runs_are_on_one_clock_below_what_differs(owner: Visitor) -> None:
    text = owner.ask("/compare/?run=sample&cell=2&run=other&cell=1").text
    assert text.index("What differs") < text.index("Their median trials")
    assert "arm: keepalive" in text
    assert "Trial " in text
    assert "tick two runs" in owner.ask("/compare/?run=sample").text
    assert owner.ask("/compare/?run=sample&run=none").status == 404
    assert owner.ask("/compare/?run=sample&cell=x&run=sample&cell=5").status == 200


class Markup(HTMLParser):
    """What is a risk on a page: scripts, handlers, styles that are inline; and its links."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.inline += [tag] if tag in ("style", "iframe") or (tag == "script" and "src" not in values) else []
        self.inline += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]


PATHS = ("/", "/runs/hostile/", "/runs/hostile/report/", "/runs/hostile/trials/", "/runs/hostile/trials/1/",
         "/compare/?run=hostile&run=sample", "/runs/broken/", FIRST)  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_hostile_name_stays_text_and_nothing_is_inline(owner: Visitor, path: str) -> None:
    text = owner.ask(path).text
    assert "<script>alert" not in text
    markup = Markup()
    markup.feed(text)
    assert markup.inline == []


@pytest.mark.parametrize("path", ["/", "/runs/sample/", "/runs/sample/trials/", FIRST, "/runs/broken/"])
def test_every_link_leads_somewhere_and_is_relative(owner: Visitor, path: str) -> None:
    markup = Markup()
    markup.feed(owner.ask(path).text)
    inside = [link for link in markup.links if not link.startswith(("data:", "#"))]
    assert inside
    for link in inside:
        assert not link.startswith(("/", "http")), link
        target = urlsplit(urljoin(f"http://here{path}", link))
        broken = path == "/" and "broken" in link
        assert owner.ask(f"{target.path}?{target.query}").status == (500 if broken else 200), link


def test_news_come_when_something_is_stored(owner: Visitor, folder: Path) -> None:
    connection, stream = owner.news("/runs/other/changes")
    try:
        assert stream.readline() == b": watching\n"
        with changing(folder / "other") as database:
            database.execute("UPDATE meta SET value = 'running' WHERE key = 'state'")
        lines = [stream.readline() for _ in range(3)]
        assert b"event: changed\n" in lines
    finally:
        connection.close()
    assert "killed" in owner.ask("/runs/other/").text


def test_pages_are_exported_as_files_that_lead_to_each_other(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "public"
    result = CliRunner().invoke(command, ["serve", str(folder), "--export", str(target)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "cannot be read" in result.stderr
    for page in (target / "index.html", target / "runs" / "sample" / "index.html"):
        markup = Markup()
        markup.feed(page.read_text())
        for link in markup.links:
            if not link.startswith(("data:", "#")) and "broken" not in link:
                place = (page.parent / link).resolve()
                assert (place / "index.html" if place.is_dir() else place).is_file(), link


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["serve", str(tmp_path / "none")])
    assert "there is no folder" in str(result.exception)

"""What is shown: the library, runs, trials and two on one clock, of real and of made runs."""

import fcntl
import html
import re
import shlex
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
import yaml
from click.testing import CliRunner

import lanelab
from lanelab.analysis.results.numbers import shown
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab as command
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.page.block_view import lines_of
from lanelab.driver.page.export import export_pages
from lanelab.driver.page.run_view import trial_table
from lanelab.driver.page.shelf import Shelf
from tests.kit.changed_run import changing
from tests.kit.made_load_run import make_load_run
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


def test_a_trial_of_a_server_load_has_the_unit_of_what_it_measured(tmp_path: Path) -> None:
    run = lanelab.open_run(make_load_run(tmp_path / "runs" / "load"))
    unit = run.data.primary.unit
    assert unit != "ms"
    table = trial_table(run.data, run.data.ok[:1], "")
    assert f"{shown(run.data.primary, run.data.ok[0].value)} {unit}" in table
    assert " ms<" not in table


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


@pytest.mark.parametrize(
    ("query", "address"),
    [("run=sample&run=other", "?run=sample&cell=1&run=other&cell=1"),
     ("run=sample&run=sample", "?run=sample&cell=1&run=sample&cell=2"),
     ("run=sample&cell=x&run=sample&cell=5", "?run=sample&cell=1&run=sample&cell=5"),
     ("run=sample&cell=5&run=other&cell=999", "?run=sample&cell=5&run=other&cell=1")],
)  # fmt: skip
def test_the_address_of_a_comparison_says_which_cells(owner: Visitor, query: str, address: str) -> None:
    answer = owner.ask(f"/compare/?{query}")
    assert (answer.status, answer.headers["location"]) == (303, address)
    assert owner.ask(f"/compare/{address}").status == 200


def test_two_arms_of_one_place_are_explained_in_words(owner: Visitor) -> None:
    text = owner.ask("/compare/?run=sample&cell=4&run=sample&cell=5").text
    assert "fewer handshakes" in text
    assert "20ms: " not in text[text.index('id="why"') : text.index('id="loads"')], "of this place alone"
    assert 'id="why"' not in owner.ask("/compare/?run=sample&cell=1&run=sample&cell=5").text, "they are of two links"
    assert 'id="overlay"' in text


def test_a_trial_is_explained_against_the_arm_that_is_chosen(owner: Visitor) -> None:
    arms = lanelab.sample_run().arms
    own = lanelab.sample_run().trial(3).arm
    for arm in arms:
        if arm != own:
            text = owner.ask(f"/runs/sample/trials/3/?{urlencode({'against': arm})}").text
            assert f"Why {own} differs from {arm}" in text
            assert f"<option selected>{arm}</option>" in text
    assert 'id="why"' not in owner.ask("/runs/sample/trials/10/").text, "it failed"


def test_a_trial_has_its_requests_with_their_headers(owner: Visitor) -> None:
    text = owner.ask("/runs/sample/trials/3/").text
    part = text[text.index('id="headers"') :]
    for words in ("/mobile.css", "content-length", "accept-encoding", "first contentful paint"):
        assert words in (part if words != "first contentful paint" else text)
    assert part.count('class="request-headers"') == 19


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
         "/compare/?run=hostile&cell=1&run=sample&cell=1", "/runs/broken/", FIRST)  # fmt: skip


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
        broken = "broken" in target.path
        assert owner.ask(f"{target.path}?{target.query}").status == (500 if broken else 200), link


def test_news_come_when_something_is_stored(owner: Visitor, folder: Path) -> None:
    with (folder / "other" / "in-use").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection, stream = owner.news("/runs/other/changes")
        assert stream.readline() == b": watching\n"
        with changing(folder / "other") as database:
            database.execute("UPDATE meta SET value = 'running' WHERE key = 'state'")
        assert b"event: changed\n" in [stream.readline() for _ in range(3)]
        assert "still running" in owner.ask("/runs/other/").text
    rest = stream.read()
    connection.close()
    assert b"changed" in rest, "it says that the writer is gone, and ends"
    assert "killed" in owner.ask("/runs/other/").text


def test_pages_are_exported_as_files_that_lead_to_each_other(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "public"
    result = CliRunner().invoke(command, ["serve", str(folder), "--export", str(target)], catch_exceptions=False)
    assert result.exit_code == 1, "a run cannot be read"
    assert "cannot be read" in result.stderr
    for page in (target / "index.html", target / "runs" / "sample" / "index.html"):
        markup = Markup()
        markup.feed(page.read_text())
        for link in markup.links:
            if not link.startswith(("data:", "#")) and "broken" not in link:
                place = (page.parent / link).resolve()
                assert (place / "index.html" if place.is_dir() else place).is_file(), link


def test_an_export_goes_neither_into_runs_nor_over_what_is_there(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    for target in (folder, folder.parent, folder / "sample", tmp_path / "mine"):
        with pytest.raises(InputError):
            export_pages(folder, target)
    with pytest.raises(InputError, match="is a run"):
        export_pages(folder / "sample", tmp_path / "new")
    with pytest.raises(InputError, match="there is no folder"):
        export_pages(folder / "none", tmp_path / "new")
    assert (tmp_path / "mine" / "index.html").read_text() == "mine"
    assert not (folder / "sample" / "index.html").exists()


def test_a_run_whose_writer_was_killed_is_no_longer_running(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_run(runs / "one", Made(rounds=1))
    with changing(runs / "one") as database:
        database.execute("UPDATE meta SET value = 'running' WHERE key = 'state'")
    shelf = Shelf(runs)
    with (runs / "one" / "in-use").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (shelf.lines()["one"].state, opened(shelf, "one").state) == ("running", "running")
    assert (shelf.lines()["one"].state, opened(shelf, "one").state) == ("killed", "killed")


def opened(shelf: Shelf, name: str) -> lanelab.Run:
    run = shelf.run(name)
    assert run is not None
    return run


@pytest.mark.parametrize("claims", ["5", "[" * 100_000, "null", '{"a": 1'])
def test_a_run_with_nonsense_in_it_takes_no_other_with_it(tmp_path: Path, claims: str) -> None:
    runs = tmp_path / "runs"
    for name in ("good", "bad"):
        make_run(runs / name, Made(rounds=1))
    with changing(runs / "bad") as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'claims'", (claims,))
    lines = Shelf(runs).lines()
    assert lines["good"].problem == ""
    assert "cannot be read" in lines["bad"].problem


@pytest.mark.parametrize("name", ["a?b", "a#b", "50%25", "a~b", "it's $(id)", "a&b=c", "ä"])
def test_any_name_of_a_run_has_an_address_and_commands_that_are_its_own(tmp_path: Path, name: str) -> None:
    runs = tmp_path / "runs"
    make_run(runs / name, Made(rounds=1))
    with served(runs) as visitor:
        visitor.enter(visitor.access.owner)
        markup = Markup()
        markup.feed(visitor.ask("/").text)
        (link,) = (each for each in markup.links if each.startswith("runs/"))
        page = visitor.ask(f"/{link}")
        assert page.status == 200
        (code,) = re.findall(r"<code>(lanelab show .*?)</code>", page.text, re.DOTALL)
        first = shlex.split(html.unescape(code).splitlines()[0])
        assert first == ["lanelab", "show", str(runs / name)]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["serve", str(tmp_path / "none")])
    assert "there is no folder" in str(result.exception)


def test_a_trial_has_the_lines_that_block_a_host_in_a_new_arm(owner: Visitor) -> None:
    text = owner.ask(FIRST).text
    part = text[text.index('id="block"') :]
    codes = [html.unescape(code) for code in re.findall(r"<code>(arms:.*?)</code>", part, re.DOTALL)]
    arm = lanelab.sample_run().trial(1).arm
    written = yaml.safe_load(lanelab.sample_run().data.experiment)["arms"][arm]
    assert codes
    for code in codes:
        ((name, settings),) = yaml.safe_load(code)["arms"].items()
        assert name == f"{arm} without {settings['block'][0]}"
        whole = yaml.safe_dump({"sites": "dummy", "links": {}, "arms": {name: settings}})
        assert parse_experiment(whole, "mine.yaml", ["dummy"]).cells[0].arm.name == name, "the file can be run"
        assert {key: value for key, value in settings.items() if key != "block"} == written
        assert settings["block"][0] not in lanelab.sample_run().trial(1).record().requests[0].url


@pytest.mark.parametrize("experiment", ["", "[", "arms: [a]", "arms: {}", "arms: {a: null}", "5"])
def test_an_arm_that_is_written_in_another_way_is_named_all_the_same(experiment: str) -> None:
    assert yaml.safe_load(lines_of(experiment, "a", "ads.test")) == {
        "arms": {"a without ads.test": {"block": ["ads.test"]}}
    }


def test_a_host_is_added_to_those_that_are_blocked_already() -> None:
    lines = yaml.safe_load(lines_of("arms: {a: {tls: '1.3', block: cdn.test}}", "a", "ads.test"))
    assert lines["arms"]["a without ads.test"] == {"tls": "1.3", "block": ["cdn.test", "ads.test"]}

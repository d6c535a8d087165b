"""Runs are begun from the page: by whom, and with what."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from lanelab.driver.api import run_apart
from lanelab.driver.page.access import Role
from lanelab.driver.page.begin_view import SEED, TRIALS
from lanelab.driver.page.experiments import description_of, experiments
from lanelab.driver.page.german import GERMAN
from tests.kit.begun_runs import begin, begun, log_of, sample, waited_for
from tests.kit.pages import Visitor, served


def test_a_run_is_begun_and_has_its_page(owner: Visitor, place: Path) -> None:
    text = owner.ask("/begin/?experiment=experiments/small.yaml").text
    assert "1 cell x 2 trials = 2 trials" in text
    run = waited_for(owner, begin(owner, trials="3", seed="7"))
    assert "Stop after this trial" in owner.ask(run).text
    said = log_of(place, Path(run))
    assert "--trials=3 --seed=7" in said
    assert f"--out={place / 'runs'}" in said
    assert said.strip().endswith(f"-- {place / 'experiments' / 'small.yaml'}")


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
    [("0", "", f"{TRIALS}: &#39;0&#39; cannot be used. Write a whole number from 1 to"),
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


@pytest.mark.parametrize("typed", ["bananas", "-1", "1,5", "zwölf", "9" * 30, "5 ms"])
@pytest.mark.parametrize(("field", "label"), [("trials", TRIALS), ("seed", SEED)])
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_wrong_is_named_by_its_label(owner: Visitor, typed: str, field: str, label: str, language: str) -> None:
    owner.headers["Cookie"] += f"; lanelab-lang={language}"
    answer = begin(owner, **{field: typed})
    assert answer.status == 400
    assert f">{GERMAN[label] if language == 'de' else label}: " in answer.text
    assert f'value="{typed}"' in answer.text, "what was typed stays"


def test_a_mistake_in_a_file_names_its_line_and_its_key(owner: Visitor, place: Path) -> None:
    for answer in (begin(owner, "wrong.yaml"), owner.ask("/begin/?experiment=wrong.yaml")):
        assert f"{place / 'wrong.yaml'}:2: links.rtt" in answer.text
        assert "parsec" in answer.text


def test_a_refusal_says_in_the_language_of_the_page_what_it_means(owner: Visitor, place: Path) -> None:
    owner.headers["Cookie"] += "; lanelab-lang=de"
    answer = begin(owner, trials="0")
    assert "&#x27;0&#x27; geht hier nicht. Schreib eine ganze Zahl von 1 bis " in answer.text
    wrong = f'Das kann der Server nicht. <span lang="en">{place / "wrong.yaml"}:2: links.rtt'
    assert wrong in begin(owner, "wrong.yaml").text
    begun(owner, place)
    busy = 'Auf diesem Rechner wird gerade etwas anderes gemessen. <span lang="en">a run that was begun here goes on'
    assert busy in begin(owner).text


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
    sample(place / "runs" / "sample")
    with served(place / "runs") as watcher:
        watcher.enter(watcher.access.watcher)
        assert begin(watcher).status == 403
        assert watcher.ask("/begin/").status == 403
        for path in ("/runs/sample/stop", "/runs/sample/resume"):
            assert watcher.post(path, {"how": "trial"}).status == 403
        assert "begin/" not in watcher.ask("/").text
        assert "<form" not in watcher.ask("/runs/sample/").text


@pytest.mark.parametrize("path", ["/begin/", "/runs/sample/stop", "/runs/sample/resume"])
def test_neither_another_page_nor_an_address_does_anything(owner: Visitor, place: Path, path: str) -> None:
    sample(place / "runs" / "sample")
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


def test_roles_are_told_apart_by_their_place(owner: Visitor) -> None:
    owner.role = Role.WATCH
    assert begin(owner).status == 403

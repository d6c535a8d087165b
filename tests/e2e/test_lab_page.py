"""A class does a small lab by the page alone: two students predict, the teacher begins one run, and all are judged."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.page.access import Role
from tests.kit.axe import axe_script, violations
from tests.kit.classes import with_labs
from tests.kit.made_lab import NAME, TEXT
from tests.kit.pages import Visitor, served
from tests.kit.reader import Reader, reader
from tests.kit.wait import wait_until

RUN_WITHIN_S = 300
FETCH = "const r = new XMLHttpRequest(); r.open('GET', arguments[0], false); r.send(); return r.responseText"
EXPERIMENT = """\
sites: icons-50
links: {rate: 10mbit, rtt: 100ms, queue: 1000p}
defaults: {start: fresh-context}
arms:
  six connections: {keepalive: false} # as far from the other as can be: another program may be at work here
  one connection: {}
trials: 8
"""
DESCRIPTION = """\
experiment: {file}
predictions:
  load:
    value: {{of: six connections, metric: plt}}
    margin: 60%
  faster:
    change: {{of: one connection, to: six connections, metric: plt}}
    answer: direction
    margin: 1%
  share:
    change: {{of: one connection, to: six connections, metric: plt}}
    margin: 5pp
  product: {{calculated: 86, unit: packets}}
  ping: {{unit: ms}}
numbers:
  1: [load, share]
"""


@pytest.fixture
def teacher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visitor]:
    folder = tmp_path / "labs"
    folder.mkdir()
    (folder / "experiment.yaml").write_text(EXPERIMENT)
    (folder / f"{NAME}.yaml").write_text(DESCRIPTION.format(file=folder / "experiment.yaml"))
    (folder / f"{NAME}.md").write_text(TEXT)
    with_labs(folder, monkeypatch)
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs") as visitor:
        yield visitor


@pytest.fixture
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    return axe_script(tmp_path_factory.mktemp("axe"))


def shuts_nobody_out(page: Reader, axe: str) -> None:
    for width in (390, 1280):
        page.size(width)
        assert page.run("return document.documentElement.scrollWidth") <= width
        assert violations(page, axe) == []


def student(teacher: Visitor) -> Visitor:
    """Whoever has the link that may watch."""
    return Visitor(teacher.port, teacher.access, role=Role.WATCH)


def submit(page: Reader, form: str) -> None:
    page.run("document.querySelector(arguments[0]).requestSubmit()", form)


def begins(page: Reader, link: str, visitor: Visitor) -> None:
    page.go(link)
    wait_until(lambda: page.texts("h1") == ["Runs"], 10)
    page.go(visitor.url("labs/"))
    page.run("document.querySelector('.labs a').click()")
    wait_until(lambda: page.texts("h1") == ["Lab 0: small"], 10)


def enters(page: Reader, name: str) -> str:
    """Begin a lab under this name. Returns the address of the student."""
    page.run("document.querySelector('[name=name]').value = arguments[0]", name)
    submit(page, "#begin form")
    wait_until(lambda: page.texts("#predictions form") != [], 10)
    return str(page.run("return location.href"))


def predicts(page: Reader, **answers: str) -> None:
    for name, text in answers.items():
        page.run("document.querySelector(`form.predictions [name=${arguments[0]}]`).value = arguments[1]", name, text)
    submit(page, "form.predictions")


def test_the_teacher_takes_somebody_out_of_the_class(teacher: Visitor, axe: str) -> None:
    with reader() as front:
        begins(front, teacher.link(), teacher)
        address = str(front.run("return location.href"))
        for name in ("Ada", "Nobody knows me"):
            enters(front, name)
            front.go(address)
        shuts_nobody_out(front, axe)
        assert front.texts("#class tbody th") == ["Ada", "Nobody knows me"]
        front.run("document.querySelector('button[aria-label=\"Remove Nobody knows me\"]').click()")
        wait_until(lambda: front.texts("#class tbody th") == ["Ada"], 10)
        assert front.complaints() == []


def test_two_students_predict_and_one_run_judges_both(teacher: Visitor, tmp_path: Path, axe: str) -> None:
    with reader() as ada, reader() as ben, reader() as front:
        begins(front, teacher.link(), teacher)
        watcher = student(teacher)
        begins(ada, watcher.link(), watcher)
        begins(ben, watcher.link(), watcher)
        assert ada.texts("#class") == [], "a class is the teacher's"
        addresses = [enters(ada, "Ada"), enters(ben, "<b>Ben</b>")]
        shuts_nobody_out(ada, axe)
        predicts(ada, load="soon", faster="lower")
        wait_until(lambda: "One answer cannot be read" in ada.texts("#predictions")[0], 10)
        assert "'soon' is no number" in ada.texts("#p-load-error")[0]
        assert all("422" in line for line in ada.complaints())
        predicts(ada, load="1500", faster="lower", product="86")
        wait_until(lambda: "sha256" in ada.texts("#predictions")[0], 10)
        assert "Wait for the teacher" in ada.texts("#run")[0]
        assert ada.texts("#run form") == [], "a watcher begins no run"
        wait_until(lambda: "1 of 2 are ready" in front.texts("#class")[0], 10, lambda: "the teacher's page follows")
        front.go(teacher.url(f"labs/{NAME}/class/"))
        assert "Results are hidden" in front.texts("main")[0]
        predicts(ben, load="10", faster="higher", share="0")
        wait_until(lambda: "sha256" in ben.texts("#predictions")[0], 10)
        assert "a secret second" not in ben.texts("main")[0]
        shuts_nobody_out(ben, axe)
        front.go(teacher.url(f"labs/{NAME}/"))
        assert "2 of 2 are ready" in front.texts("#class")[0]
        front.run("document.querySelector('#class [name=accept]').click()")  # this machine may have other work
        submit(front, "#class form")
        have = lambda: all(page.texts("#verdicts table") != [] for page in (ada, ben))  # noqa: E731
        wait_until(have, RUN_WITHIN_S, lambda: f"it may wait for a bed of somebody else: {ada.texts('#run')}")
        verdicts = [page.texts("#verdicts tbody tr td:nth-child(5)") for page in (ada, ben)]
        assert (verdicts[0][1], verdicts[1][1]) == ("reproduced", "not reproduced")
        assert verdicts[1][0] in ("not reproduced", "not tested"), (
            "of a machine that became slower values are not tested"
        )
        assert verdicts[0][3] == "not tested"
        shuts_nobody_out(ada, axe)
        for page in (ada, ben):
            assert "Your numbers" in page.texts("#questions")[0]
            assert page.texts("#answers details") != []
            assert page.complaints() == []
        front.go(teacher.url(f"labs/{NAME}/class/"))
        shuts_nobody_out(front, axe)
        assert "2 predictions from 10 ms to 1,500 ms" in front.run(
            "return document.querySelector('svg title').textContent"
        )
        assert front.complaints() == []
        front.go(teacher.url())
        table = str(front.run(FETCH, teacher.url(f"labs/{NAME}/class/class.csv"))).lstrip("\ufeff")
        rows = list(csv.DictReader(io.StringIO(table)))
        assert {row["student"] for row in rows} == {"Ada", "<b>Ben</b>"}
        assert {row["verdict"] for row in rows if row["prediction"] == "faster"} == {"reproduced", "not reproduced"}
        (tmp_path / "lab.html").write_text(str(ada.run(FETCH, addresses[0] + "take-home")))
        is_readable_at_home(front, tmp_path / "lab.html")


def is_readable_at_home(page: Reader, file: Path) -> None:
    page.open(file, width=390)
    assert "a secret second" in page.run("return document.body.textContent")
    assert page.run("return document.documentElement.scrollWidth") <= 390
    assert page.complaints() == []

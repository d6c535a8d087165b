"""What the page begins, in a real browser and on a real bed: a race, and a measurement of the link bench."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import lanelab
from lanelab.driver.api import run_apart
from lanelab.driver.run.folder.format import EXPERIMENT
from tests.kit.pages import Visitor, served
from tests.kit.reader import Reader
from tests.kit.reader import reader as opened_reader
from tests.kit.wait import wait_until

BENCH = "bench/?site=ten-kilobytes&arm=quickstart:+HTTP&arm=&rtt=40&queue=100"
WITHIN_S = 180  # a program of ours may have to be built first


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("lanelab.driver.page.bench_pages.require_free", lambda: None)  # other tests measure here, too
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def reader() -> Iterator[Reader]:
    with opened_reader() as reader:
        yield reader


def come_in(reader: Reader, owner: Visitor, page: str) -> None:
    reader.go(owner.link())
    wait_until(lambda: reader.texts("h1") == ["Runs"], 10)
    reader.go(owner.url(page))


def measure_until(reader: Reader, words: str) -> None:
    """Press the button once, and wait for what is said at the end."""
    reader.run("document.querySelector('.measure').click()")
    wait_until(lambda: words in reader.texts("#latest")[0], WITHIN_S, lambda: reader.texts("#at, #refusal, #tested td"))


def test_a_dot_is_measured_falls_onto_its_curve_and_is_an_ordinary_run(folder: Path, reader: Reader) -> None:
    with served(folder) as owner:
        come_in(reader, owner, BENCH)
        slider = "const dial = document.querySelector('.dial [type=range]');"
        reader.run(f"{slider} dial.value = 20; dial.dispatchEvent(new Event('input'))")
        wait_until(lambda: "rtt=20" in str(reader.run("return location.search")))
        assert reader.texts("#curve td")[-1] == "not yet"
        reader.run("document.querySelector('[name=accept]').click()")
        for many in (1, 2):  # the second time on a link that was tested
            measure_until(reader, f"n = {many}")
        assert "n = 2" in reader.texts("#curve td")[-1]
        assert len(reader.run("return [...document.querySelectorAll('.curve g title')]")) == 1
        assert "passed" in reader.texts("#tested td")[2]
        assert reader.complaints() == []
        (path,) = folder.iterdir()
    wait_until(lambda: lanelab.open_run(path).state == "stopped")
    run = lanelab.open_run(path)
    assert len(run.data.ok) == 2
    tests = [(test.moment, test.passed) for test in run.data.self_tests]
    assert [moment for moment, _ in tests].count("before") == 1, "going back to a link costs nothing"
    assert "rtt: 20ms" in (path / EXPERIMENT).read_text()
    assert run.data.sessions[0].provenance["command"] == ["lanelab", "serve"]  # type: ignore[typeddict-item]


def test_without_a_script_a_form_measures_the_same(folder: Path, reader: Reader) -> None:
    with served(folder) as owner:
        come_in(reader, owner, "")
        reader.call("Emulation.setScriptExecutionDisabled", value=True)
        reader.go(owner.url(BENCH))
        assert reader.texts("#curve td")[-1] == "not yet"
        reader.run("document.querySelector('.measure').click()")
        wait_until(lambda: list(folder.iterdir()), WITHIN_S)
        assert "rtt=40" in str(reader.run("return location.search"))

        def is_measured() -> bool:  # or refused, on a busy machine
            reader.go(owner.url(BENCH))
            return "HTTP" in " ".join(reader.texts("#tested td")) and bool(lanelab.open_run(path).data.trials)

        (path,) = folder.iterdir()
        wait_until(is_measured, WITHIN_S, lambda: reader.texts("#at, #refusal"))


RACE = "race/?site=ten-kilobytes&arm=quickstart:+HTTP&arm=quickstart:+HTTP/2&rtt=20ms&queue=100p&rounds=2"
SHOWN = "const stage = document.querySelector('.replay'); return stage && "


def test_a_race_is_begun_watched_and_played(folder: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_apart, "other_beds_here", lambda: 0)  # those of other tests
    monkeypatch.setattr(run_apart, "build_folder", lambda: folder.parent)  # where those that other tests begin are not
    with served(folder) as owner:
        come_in(reader, owner, RACE)
        reader.run("document.querySelector('[name=accept]').click()")
        reader.run("document.querySelector('#race-form button').click()")
        wait_until(lambda: reader.texts("#verdict"), WITHIN_S, lambda: reader.texts("main"))
        (path,) = (each for each in folder.iterdir() if not each.name.startswith("."))
        wait_until(lambda: lanelab.open_run(path).state == "finished", WITHIN_S)
        wait_until(lambda: reader.texts("#rounds td"), what=lambda: reader.texts("main"))
        wait_until(lambda: "Round 2" in reader.texts("#latest")[0])
        assert "too few rounds (" in reader.texts("#verdict")[0]
        is_replayed(reader)
        assert f"lanelab run {path}" in reader.texts("#commands")[0]
        assert reader.complaints() == []
        reader.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        wait_until(lambda: reader.run("return document.querySelector('.play').hidden"))  # nothing moves by itself
        reader.call("Emulation.setScriptExecutionDisabled", value=True)
        reader.go(reader.run("return location.href"))
        assert len(reader.texts("#race .load")) == 2, "without a script both are as they were at the end"
        assert not reader.run("return document.querySelector('.controls').checkVisibility()"), "nothing to play"
    assert lanelab.open_run(path).name == "race"


def is_replayed(reader: Reader) -> None:
    """Move the clock by hand, and let it run."""
    end = reader.run(SHOWN + "Number(stage.dataset.end)")
    reader.run(
        "const at = document.querySelector('.controls input'); at.value = 0; at.dispatchEvent(new Event('input'))"
    )
    assert reader.texts(".lap") == ["loading", "loading"]
    assert reader.run(SHOWN + "stage.hasAttribute('data-busy')")
    assert len(reader.run("return [...document.querySelectorAll('.screen img:not([hidden])')]")) == 2
    reader.run("document.querySelector('.play').click()")
    wait_until(lambda: not reader.run(SHOWN + "stage.hasAttribute('data-busy')"))
    assert all(text.endswith(" ms") for text in reader.texts(".lap"))
    assert reader.run("return Number(document.querySelector('.controls input').value)") >= end - 10

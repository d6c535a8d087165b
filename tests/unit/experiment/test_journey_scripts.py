"""Experiments with a script of the user's own: its steps are read from its text, and what is none is refused."""

from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment

TWO = "with step('home'):\n    driver.get(url)\nstep('login')\n"


def read(folder: Path, script: str, more: str = "", name: str = "go.py") -> Experiment:
    (folder / "go.py").write_text(script)
    text = f"sites: wiki\nlinks: {{}}\narms: {{a: {{}}}}\nscript: {name}\n{more}\n"
    return parse_experiment(text, str(folder / "one.yaml"), ["wiki"])


def test_steps_are_those_that_the_text_names_in_its_order(tmp_path: Path) -> None:
    experiment = read(tmp_path, TWO, "figures: [{y: plt@login}]")
    assert [step.name for step in experiment.journey] == ["home", "login"]
    assert all(step.scripted for step in experiment.journey)
    assert experiment.script is not None
    assert experiment.script.text == TWO
    assert experiment.cells[0].settings()["script"] == experiment.script.sha256


def test_another_text_makes_another_cell(tmp_path: Path) -> None:
    ids = {read(tmp_path, text).cells[0].id for text in (TWO, TWO + "# more\n", TWO)}
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("script", "more", "name", "told"),
    [
        (TWO, "", "gone.py", r"the script gone\.py cannot be read"),
        (TWO, "", "../go.py", r"below the folder"),
        (TWO, "", "go.js", r"is no Python file"),
        (TWO, "pages: [home, b]", "go.py", r"there is pages on line \d+ too"),
        (TWO, "think: 2s", "go.py", r"there is think on line \d+ too"),
        (TWO, "trace: on", "go.py", r"it is recorded of one page load"),
        (TWO, "vitals: {click: a}", "go.py", r"vitals.click: it clicks in one page"),
        (TWO, "figures: [{y: plt@other}]", "go.py", r"no plt@other"),
        ("step('a'", "", "go.py", r"go\.py:1: .*never closed"),
        ("driver.get(url)", "", "go.py", r"has 0 steps"),
        ("\nstep(f'a{1}')", "", "go.py", r"go\.py:2: the name of a step is not written there as a text"),
        ("step('A')", "", "go.py", r"'A' is no name of a step"),
        ("step('a')\nstep('a')", "", "go.py", r"go\.py:2: the step a is there twice"),
    ],
)
def test_what_is_no_script_is_refused_with_its_line(
    tmp_path: Path, script: str, more: str, name: str, told: str
) -> None:
    with pytest.raises(InputError, match=rf"one\.yaml:\d+: .*{told}"):
        read(tmp_path, script, more, name)


def test_steps_of_a_script_may_have_interactions_and_soft_navigations(tmp_path: Path) -> None:
    experiment = read(tmp_path, TWO, "vitals: {after: 5s}\nfigures: [{y: inp@login}, {y: soft_lcp@login}]")
    assert [figure.y for figure in experiment.figures] == ["inp@login", "soft_lcp@login"]

"""Mistakes in experiment files: each is refused in one line with its place. The cases are in tests/bad/experiments."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.read import parse_experiment
from tests.kit.complaints import complaints
from tests.kit.experiments import SITES
from tests.kit.machine import ROOT

FILES = sorted((ROOT / "tests" / "bad" / "experiments").glob("*.yaml"))
AT_THE_TOP = {"experiment", "mistakes", "wanted"}
KEYS = {"write", "says", "editors"}


@dataclass(frozen=True)
class Case:
    text: str
    says: str
    wanted: str | None
    refused_by_editors: bool


def table(file: Path) -> dict[str, Any]:
    """Read a file of mistakes. A key that is misspelt would make its cases say less than they seem to."""
    data: dict[str, Any] = yaml.load(file.read_text(), Loader=yaml.BaseLoader)  # noqa: S506 - strings as they are written
    assert AT_THE_TOP.issuperset(data), f"{file.name}: {sorted(data)}"
    assert data["experiment"].count("MISTAKE") == 1, f"{file.name}: MISTAKE stands once in the experiment"
    assert data["mistakes"], f"{file.name} has no mistakes"
    whole = data["experiment"].strip() == "MISTAKE"
    for each in data["mistakes"]:
        assert KEYS.issuperset(each), f"{file.name}: {each}"
        assert each["write"] or whole, f"{file.name}: {each}: only a whole file can be empty"
        assert re.match(r"exp\.yaml(:\d+)?: \S.+", each["says"]), f"{file.name}: {each}: says nothing"
        assert each.get("editors", "refuse") == "refuse", f"{file.name}: {each}: editors is `refuse`, or not there"
    return data


def cases() -> dict[str, Case]:
    read = {}
    for file in FILES:
        data = table(file)
        for each in data["mistakes"]:
            text = data["experiment"].replace("MISTAKE", each["write"])
            name = f"{file.stem}: {each['write']}"
            assert name not in read, f"{name} is there twice"
            read[name] = Case(text, each["says"], data.get("wanted"), "editors" in each)
    return read


CASES = cases()


@pytest.mark.parametrize("case", CASES.values(), ids=[name[:80] for name in CASES])
def test_a_mistake_is_refused_in_one_line_that_names_its_place(case: Case) -> None:
    for wanted in {None, case.wanted}:
        with pytest.raises(InputError) as refused:
            parse_experiment(case.text, "exp.yaml", SITES, wanted)
        message = str(refused.value)
        assert message.startswith(case.says)
        assert refused.value.exit_status == 2
        assert "\n" not in message
        assert message.startswith("exp.yaml")


REFUSED_BY_EDITORS = {name: case for name, case in CASES.items() if case.refused_by_editors}


@pytest.mark.parametrize("case", REFUSED_BY_EDITORS.values(), ids=[name[:80] for name in REFUSED_BY_EDITORS])
def test_editors_mark_a_mistake_of_shape_too(case: Case) -> None:
    assert complaints(case.text)

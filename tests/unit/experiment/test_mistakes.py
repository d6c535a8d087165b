"""Mistakes in experiment files: each is refused in one line with its place. The cases are in tests/bad/experiments."""

from dataclasses import dataclass

import pytest
import yaml

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.experiment import parse_experiment
from tests.kit.complaints import complaints
from tests.kit.experiments import SITES

FILES = sorted((PROJECT / "tests" / "bad" / "experiments").glob("*.yaml"))
KEYS = {"write", "says", "editors"}


@dataclass(frozen=True)
class Case:
    text: str
    says: str
    wanted: str | None
    refused_by_editors: bool


def cases() -> dict[str, Case]:
    read = {}
    for file in FILES:
        data = yaml.load(file.read_text(), Loader=yaml.BaseLoader)  # noqa: S506 - strings as they are written
        for each in data["mistakes"]:
            assert KEYS.issuperset(each), f"{file.name}: {each}"
            text = data["experiment"].replace("MISTAKE", each["write"], 1)
            name = f"{file.stem}: {each['write']}"
            assert name not in read, f"{name} is there twice"
            read[name] = Case(text, each["says"], data.get("wanted"), each.get("editors") == "refuse")
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

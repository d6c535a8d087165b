"""The real web servers in a bed, asked by a real client across the link; the checks are in serving_checks.py."""

import pytest

from lanelab.driver.base.programs.building.apache_module import module
from tests.kit.inside import results

from .serving import HERE
from .serving_checks import CHECKS


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One bed for all: starting one takes longer than most checks."""
    if "apache" in HERE:
        module("mod_replay")  # here, and not in the bed
    return results("tests.bed.serving_checks", tmp_path_factory.mktemp("serving"))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            check.__name__, marks=pytest.mark.skipif(server not in HERE, reason=f"{server} is not installed here")
        )
        for server, checks in CHECKS.items()
        for check in checks
    ],
)
def test_serving(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

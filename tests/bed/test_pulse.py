"""A starved router and a stopped one are told apart; the checks are in pulse.py."""

import pytest

from lanelab.driver.bed.routers import uml
from tests.kit.inside import results

from .pulse import CHECKS

pytestmark = pytest.mark.skipif(uml.installed() is not None, reason=f"no router to watch: {uml.installed()}")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return results("tests.bed.pulse", tmp_path_factory.mktemp("pulse"))


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_pulse(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

"""Proxies with Tomcat and Jetty behind them; the checks are in java_behind.py."""

import pytest

from lanelab.driver.base.programs.building.back_ends import BACK_ENDS, back_end
from lanelab.driver.base.programs.building.gateway import gateway_program
from lanelab.driver.base.programs.find_program import find
from tests.kit.inside import results

from .java_behind import CHECKS

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not find("java") or not find("mvn"), reason="java or mvn is not installed here"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    gateway_program()  # here, and not in the bed
    for name in BACK_ENDS:
        back_end(name)
    return results("tests.bed.java_behind", tmp_path_factory.mktemp("java"))


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_java_behind(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

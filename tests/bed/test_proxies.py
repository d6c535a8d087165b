"""The real proxies in a bed, asked by a real client across the link; the checks are in proxies.py."""

import pytest

from lanelab.driver.base.programs.building.apache_module import module
from lanelab.driver.base.programs.building.gateway import gateway_program
from tests.kit.inside import results

from .proxies import CHECKS, HERE, possible


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    gateway_program()  # here, and not in the bed
    if "apache" in HERE:
        module("mod_replay")
        module("mod_spdy")
    return results("tests.bed.proxies", tmp_path_factory.mktemp("proxies"))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            check.__name__,
            marks=pytest.mark.skipif(not possible(way), reason=f"{way[0]} or {way[2]} is not installed here"),
        )
        for way, checks in CHECKS.items()
        for check in checks
    ],
)
def test_proxy(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

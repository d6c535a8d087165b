"""The real dnsmasq in a bed, asked from the client across the link; the checks are in resolving.py."""

import pytest

from lanelab.driver.base.programs.find_program import find
from tests.kit.inside import results

from .resolving import CHECKS

pytestmark = pytest.mark.skipif(not find("dnsmasq"), reason="no dnsmasq here")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return results("tests.bed.resolving", tmp_path_factory.mktemp("resolving"))


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_resolving(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

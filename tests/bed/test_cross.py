"""Cross traffic in a real bed; the checks are in cross.py."""

import pytest

from tests.kit.inside import results

from .cross import CHECKS


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One bed for all."""
    return results("tests.bed.cross", tmp_path_factory.mktemp("cross"))


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_cross_traffic(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

"""What the recorder `server_series` sees of real servers in a bed; the checks are in server_series.py."""

import pytest

from lanelab.driver.base.programs.building.apache_module import module
from tests.kit.inside import results

from .server_series import CHECKS
from .serving import HERE


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One bed for all."""
    if "apache" in HERE:
        module("mod_replay")  # here, and not in the bed
    return results("tests.bed.server_series", tmp_path_factory.mktemp("series"))


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
def test_server_series(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

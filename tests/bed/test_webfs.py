"""webfs in a bed, asked by a real client across the link; the checks are in webfs.py."""

import pytest

from tests.kit.inside import results
from tests.kit.server_arms import is_here

from .webfs import CHECKS

pytestmark = pytest.mark.skipif(not is_here("webfs"), reason="webfs is not installed here")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One bed for all: starting one takes longer than most checks."""
    return results("tests.bed.webfs", tmp_path_factory.mktemp("webfs"))


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_webfs(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

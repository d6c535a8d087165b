"""Before a load the client's earlier connections are waited for; the checks are in open_connections.py."""

import pytest

from tests.kit.inside import results

from .open_connections import CHECKS


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return results("tests.bed.open_connections", tmp_path_factory.mktemp("leftovers"))


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_leftovers(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

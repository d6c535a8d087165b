"""The real Apache in a bed, asked by a real client across the link; the checks are in serving.py."""

from __future__ import annotations

import pytest

from driver.host.find_program import find
from tests.kit.inside import results

from .serving import CHECKS

pytestmark = pytest.mark.skipif(not (find("apache2") or find("httpd")), reason="no Apache here")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return results("tests.bed.serving", tmp_path_factory.mktemp("serving"))


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_serving(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

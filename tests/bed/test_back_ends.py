"""Tomcat and Jetty in a bed, asked by a real client across the link; the checks are in back_end_checks.py."""

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building.back_ends import BACK_ENDS, back_end
from tests.kit.inside import results

from .back_end_checks import CHECKS


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One bed for all."""
    if lacking := needs.missing(needs.programs("back-end")):
        pytest.skip(f"missing for back ends: {', '.join(program.name for program in lacking)}")
    for name in BACK_ENDS:  # here, and not in the bed
        try:
            back_end(name)
        except BuildError as error:
            pytest.skip(f"a back end cannot be had here: {error}")
    return results("tests.bed.back_end_checks", tmp_path_factory.mktemp("back-ends"))


@pytest.mark.long  # a Java virtual machine for each
@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_back_end(found: dict[str, str], name: str) -> None:
    assert not found[name], found[name]

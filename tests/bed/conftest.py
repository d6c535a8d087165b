"""Beds for tests: real namespaces, the real router, real tc."""

from collections.abc import Iterator

import pytest

from lanelab.driver.base.programs.needs import BED
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.run.channel.client import Bed
from tests.kit.handles import OpenBed
from tests.kit.skipping import skip_without_beds

from .ssh_machines import Machines


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip_without_beds(items, "bed", BED, "no bed can be made here")


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBed]:
    """One bed for the tests of a file."""
    folder = tmp_path_factory.mktemp("bed")
    with Bed(BedSettings(folder=folder)) as made:
        yield OpenBed(made)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Three machines with an sshd each for the tests of a file."""
    made = Machines(tmp_path_factory.mktemp("machines"))
    yield made
    made.close()

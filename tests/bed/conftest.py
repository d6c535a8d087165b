"""Beds for tests: real namespaces, the real router, real tc."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from driver.bed import capabilities
from driver.bed.substrate import BedSettings
from driver.channel.client import Bed
from driver.host import install as prepare

from .handles import LanelabCommand, OpenBed
from .ssh_machines import Machines


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where this machine can have no bed, say why instead of failing."""
    refusal = capabilities.namespaces()
    lacking = [program.name for program in prepare.missing("bed")]
    why = refusal.what if refusal else f"missing: {', '.join(lacking)}" if lacking else ""
    for item in items:
        if why and "/bed/" in str(item.path):
            item.add_marker(pytest.mark.skip(reason=f"no bed can be made here: {why}"))


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


@pytest.fixture
def lanelab(tmp_path: Path) -> LanelabCommand:
    """The command, as a user starts it, with a build folder of its own."""
    return LanelabCommand(tmp_path / "build")

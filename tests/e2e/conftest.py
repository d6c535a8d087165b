"""End to end: what needs a bed, and Chromium and Apache in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver.bed import capabilities
from driver.host import install as prepare
from tests.bed.handles import LanelabCommand


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where this machine can load no page, say why instead of failing."""
    refusal = capabilities.namespaces()
    lacking = [program.name for program in prepare.missing("run")]
    why = refusal.what if refusal else f"missing: {', '.join(lacking)}" if lacking else ""
    for item in items:
        if why and "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.skip(reason=f"no page can be loaded here: {why}"))


@pytest.fixture
def lanelab(tmp_path: Path) -> LanelabCommand:
    """The command, as a user starts it, with a build folder of its own."""
    return LanelabCommand(tmp_path / "build")

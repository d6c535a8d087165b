"""For all kinds of tests."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lanelab.driver.base import configuration
from lanelab.driver.base.configuration import Configuration
from lanelab.driver.base.paths import PACKAGE
from tests.kit.handles import LanelabCommand
from tests.kit.skipping import FileOfCheckout, is_of_checkout
from tools.test import INSTALLED_VARIABLE, LONG_VARIABLE, in_order

# Tests share their machine with others: none may fail because it was slow. Each run of the tests tries other examples,
# so that few are enough for one; `--long` tries more of them.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
settings.register_profile("long", settings.get_profile("busy"), max_examples=200)
settings.load_profile("long" if os.environ.get(LONG_VARIABLE) == "1" else "busy")


def pytest_configure() -> None:
    """No test says of the wheel what is true of a checkout."""
    installed = os.environ.get(INSTALLED_VARIABLE)
    if installed and not PACKAGE.is_relative_to(Path(installed).resolve()):
        raise pytest.UsageError(f"lanelab comes from {PACKAGE}, and not from the wheel that is in {installed}")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    return FileOfCheckout.from_parent(parent, path=module_path) if is_of_checkout(module_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: in_order(item.path))
    if os.environ.get(LONG_VARIABLE) != "1":
        skip = pytest.mark.skip(reason="takes minutes: lanelab test --long")
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def _as_in_the_foreground() -> Iterator[None]:
    """Where the tests run in the background Ctrl-C and a hang-up are ignored, and would be in what they start."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _environment_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program reads its environment once. Tests change it while this process runs."""
    monkeypatch.setattr(configuration, "current", lambda: Configuration.from_environment(os.environ))


@pytest.fixture
def lanelab(tmp_path: Path) -> LanelabCommand:
    """The command, as a user starts it, with a build folder of its own."""
    return LanelabCommand(tmp_path / "build")

"""End to end: what needs a bed, and Chromium and Apache in it."""

import pytest

from lanelab.driver.base.programs.needs import PAGE_LOAD
from tests.kit.skipping import skip_without_beds


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skip_without_beds(items, "e2e", PAGE_LOAD, "no page can be loaded here")

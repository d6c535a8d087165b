"""Tests that cannot run on this machine say why instead of failing."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from lanelab.driver.base.paths import CHECKOUT
from lanelab.driver.base.programs import needs
from lanelab.driver.bed import capabilities


def skip_without_beds(items: Sequence[pytest.Item], kind: str, purposes: Sequence[str], lost: str) -> None:
    """Skip the tests of a kind where no bed can be made, or where a program is missing that the purposes need."""
    refusal = capabilities.namespaces()
    missing = [program.name for program in needs.missing(needs.programs(*purposes))]
    why = refusal.what if refusal else f"missing: {', '.join(missing)}" if missing else ""
    for item in items:
        if why and f"/{kind}/" in str(item.path):
            item.add_marker(pytest.mark.skip(reason=f"{lost}: {why}"))


def needs_program(name: str) -> pytest.MarkDecorator:
    """For a test that calls this program of playbooks/vars/packages.yml."""
    return pytest.mark.skipif(needs.program(name).is_missing(), reason=f"missing: {name}")


# `lanelab test --installed` runs the tests with a lanelab that has no checkout.
needs_checkout = pytest.mark.skipif(CHECKOUT is None, reason="about what only a checkout has")
_FOLDERS_OF_CHECKOUT = {
    "tools": "tests of tools/, which is no part of the wheel",
    "project": "tests of what the checkout's files say of one another",
}


class FileOfCheckout(pytest.Module):
    """A file of tests that is skipped without being read: it imports what is not there."""

    def collect(self) -> NoReturn:
        pytest.skip(_FOLDERS_OF_CHECKOUT[self.path.parent.name], allow_module_level=True)


def is_of_checkout(file: Path) -> bool:
    """Return whether this file's tests are about the checkout, and there is none."""
    return CHECKOUT is None and file.parent.parent.name == "unit" and file.parent.name in _FOLDERS_OF_CHECKOUT

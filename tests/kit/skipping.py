"""Tests that cannot run on this machine say why instead of failing."""

from collections.abc import Sequence

import pytest

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

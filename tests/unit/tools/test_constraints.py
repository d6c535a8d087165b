"""The constraints beside a wheel name one version of each package for any one Python, the lock's, with its hashes."""

import re

from lanelab.driver.base.paths import PROJECT
from tools.wheel.constraints import constraints

PIN = re.compile(r"^([\w.-]+)==(\S+)(.*)\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def test_every_line_belongs_to_a_pin_with_hashes() -> None:
    text = constraints(PROJECT).partition("\n")[2]
    assert PIN.sub("", text) == ""


def test_versions_are_those_of_the_lock_and_notebooks_add_theirs() -> None:
    pins = [(name, version) for name, version, _, _ in PIN.findall(constraints(PROJECT))]
    lock = [(name, version) for name, version, _, _ in PIN.findall(without_remarks("requirements.lock"))]
    assert set(lock) <= set(pins)
    locked = {name for name, _ in lock}
    added = {name: version for name, version in pins if name not in locked}
    assert "ipykernel" in added
    assert all(
        f"\n{name}=={version} " in without_remarks("requirements-notebooks.lock") for name, version in added.items()
    )


def without_remarks(lock: str) -> str:
    lines = (PROJECT / lock).read_text().splitlines(keepends=True)
    return "\n" + "".join(line for line in lines if not line.lstrip().startswith("#"))

"""The packages of an image are those of its Python, whichever Python makes it."""

import re

import pytest

from lanelab.driver.base.paths import PROJECT
from tools.image.locks import lock_for
from tools.image.targets import SYSTEMS, TARGETS

LOCK = """\
old==1.0 ; python_full_version < '3.11.5' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via one
new==2.0 ; python_full_version >= '3.11.5' and sys_platform != 'win32' \\
    --hash=sha256:cc
both==3.0 \\
    --hash=sha256:dd
"""


@pytest.mark.parametrize(("python", "names"), [("3.11.2", ["old", "both"]), ("3.13.5", ["new", "both"])])
def test_conditions_are_those_of_its_python(python: str, names: list[str]) -> None:
    text = lock_for(LOCK, python)
    assert re.findall(r"^(\w+)==", text, re.MULTILINE) == names
    assert ";" not in text
    assert text.count("--hash=") == 1 + text.count("old") + 1


@pytest.mark.parametrize("family", SYSTEMS)
@pytest.mark.parametrize("target", TARGETS)
def test_every_package_of_a_lock_is_read(target: str, family: str) -> None:
    for lock in TARGETS[target].locks:
        text = (PROJECT / lock).read_text()
        unconditional = set(re.findall(r"^(\S+==\S+) \\$", text, re.MULTILINE))
        read = set(re.findall(r"^(\S+==\S+) \\$", lock_for(text, SYSTEMS[family].python), re.MULTILINE))
        assert unconditional <= read
        names = [pin.partition("==")[0] for pin in read]
        assert len(names) == len(set(names)), "a package has two versions"

"""lanelab-system.deb and lanelab-system-servers.deb: their control files, the preset and the profile.

After a change to the table of programs run `pytest tests/golden --update-golden`.
"""

from pathlib import Path

import pytest

from lanelab.driver.base.programs.system_package import ARCHITECTURES, SUFFIXES
from tools.system_package.content import APPARMOR, PRESET, Package, packages

FOLDER = Path(__file__).parent / "system_package"


def text(package: Package) -> str:
    """Return the parts of a package that are worth reading."""
    parts = {"control": package.control, **package.scripts}
    parts |= {place: package.files[place].decode() for place in (PRESET, APPARMOR) if place in package.files}
    return "".join(f"== {name}\n{words.rstrip()}\n" for name, words in parts.items())


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("family", SUFFIXES)
def test_packages_of_a_family(family: str, machine: str, update_golden: bool) -> None:
    written = "".join(map(text, packages(family, machine, 1_700_000_000)))
    file = FOLDER / f"{family}-{machine}.txt"
    if update_golden:
        file.write_text(written)
    assert written == file.read_text()

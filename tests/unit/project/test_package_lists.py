"""The table of packages against the package lists of the distributions themselves, fetched by apt into a folder."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.programs import needs

# Each family's archive, its releases and the parts of them that are on by default.
ARCHIVES = {
    "debian-12": ("http://deb.debian.org/debian", ("bookworm", "bookworm-updates"), "main"),
    "debian-13": ("http://deb.debian.org/debian", ("trixie", "trixie-updates"), "main"),
    "ubuntu-22.04": ("http://archive.ubuntu.com/ubuntu", ("jammy", "jammy-updates", "jammy-security"), "main universe"),
    "ubuntu-24.04": ("http://archive.ubuntu.com/ubuntu", ("noble", "noble-updates", "noble-security"), "main universe"),
}
# Ubuntu's packages of these names install a snap, which does not run inside a bed.
SNAPS = {"ubuntu-22.04": {"firefox"}, "ubuntu-24.04": {"firefox"}}


@pytest.mark.long
@pytest.mark.parametrize("family", sorted(ARCHIVES))
def test_the_distribution_has_every_package_that_the_table_names_for_it(family: str, tmp_path: Path) -> None:
    names = package_names(family, tmp_path)
    programs = [each for each in needs.all_programs() if "x86_64" in each.machines or not each.machines]
    lacking = {each.name: needs.packages([each], family) for each in programs}
    assert {name: packages for name, packages in lacking.items() if not set(packages) <= names} == {}
    # A row that says "none" although the package is there would cost its users the program.
    overlooked = {each.name for each in programs if not needs.packages([each], family) and each.package in names}
    assert overlooked <= SNAPS.get(family, set())


def package_names(family: str, folder: Path) -> set[str]:
    """All packages of the family, by a private copy of its lists; the lists of this machine stay as they are."""
    if shutil.which("apt-get") is None:
        pytest.skip("apt-get is missing, which reads the lists of packages")
    for each in ("lists/partial", "cache/archives/partial"):
        (folder / each).mkdir(parents=True)
    archive, releases, parts = ARCHIVES[family]
    # `trusted`: only names are read, and another distribution's keys are not here.
    lines = [f"deb [trusted=yes arch=amd64] {archive} {release} {parts}\n" for release in releases]
    (folder / "sources.list").write_text("".join(lines))
    options = [
        f"Dir::State::lists={folder}/lists", f"Dir::Cache={folder}/cache", "Dir::State::status=/dev/null",
        f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=/nonexistent",
        "APT::Architecture=amd64", "APT::Architectures=amd64", "Acquire::Languages=none", "APT::Sandbox::User=",
        "Acquire::Retries=1", "APT::Update::Error-Mode=any",
    ]  # fmt: skip
    settings = [word for option in options for word in ("-o", option)]
    update = subprocess.run(["apt-get", *settings, "update"], capture_output=True, text=True, check=False)
    if update.returncode != 0:
        pytest.skip(f"the package lists of {family} cannot be fetched: {update.stderr.strip().splitlines()[-1]}")
    listed = subprocess.run(["apt-cache", *settings, "dumpavail"], capture_output=True, text=True, check=True)
    names = {line.removeprefix("Package: ") for line in listed.stdout.splitlines() if line.startswith("Package: ")}
    assert len(names) > 10_000, f"{family} has {len(names)} packages"
    return names

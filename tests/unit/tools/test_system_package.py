"""lanelab-system.deb: every purpose has its place, services are kept off, and the same sources give the same bytes."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.programs import needs
from lanelab.driver.base.userns import WRAPPER
from tools.system_package.build import build
from tools.system_package.content import NOWHERE, SERVERS, SYSTEM, WITH_PROFILE, packages, preset, programs_of

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is missing")


def test_every_purpose_of_the_table_is_in_one_place() -> None:
    purposes = {purpose for program in needs.all_programs() for purpose in program.purposes}
    placed = [*SYSTEM, *SERVERS, *NOWHERE]
    assert sorted(placed) == sorted(purposes)


@pytest.mark.parametrize("family", needs.families())
def test_the_preset_keeps_off_what_the_second_package_brings(family: str) -> None:
    text = preset(family, "x86_64")
    for program in programs_of(SERVERS, "x86_64"):
        if needs.packages([program], family):
            assert all(f"disable {service}\n" in text for service in program.services)
    assert "man-db.timer" in text
    # What no preset keeps off is in neither package.
    assert not any("webfs" in package.control for package in packages(family, "x86_64", 0))


@needs_dpkg
@pytest.mark.parametrize("family", ["debian-12", *WITH_PROFILE])
def test_it_is_built_twice_with_the_same_bytes(family: str, tmp_path: Path) -> None:
    for package in packages(family, "x86_64", 1_700_000_000):
        digests = set()
        for name in ("one", "two"):
            (tmp_path / name).mkdir(exist_ok=True)
            digests.add(hashlib.sha256(build(package, tmp_path / name, 1_700_000_000).read_bytes()).hexdigest())
        assert len(digests) == 1
        listed = subprocess.run(
            ["dpkg-deb", "--contents", tmp_path / "one" / package.file_name], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        assert all(line.split()[1] == "root/root" for line in listed)
        # No folders that only root sees; until postinst says by whom else, only root starts a program.
        assert {line[:10] for line in listed} <= {"drwxr-xr-x", "-rw-r--r--", "-rwxr-x---"}
        assert [line.split()[-1][1:] for line in listed if line.startswith("-rwx")] == list(package.programs)


@needs_dpkg
@pytest.mark.skipif(shutil.which("lintian") is None, reason="lintian is missing")
def test_lintian_finds_nothing(tmp_path: Path) -> None:
    for family in ("debian-12", *WITH_PROFILE):
        for package in packages(family, "x86_64", 1_700_000_000):
            argv = [
                "lintian",
                "--allow-root",
                "--fail-on",
                "error,warning",
                str(build(package, tmp_path, 1_700_000_000)),
            ]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout


def ran(script: str, argument: str, folder: Path, *, is_there: bool) -> list[str]:
    """Return the commands by which a script of the package changes a system, which has its group and its rule, or has
    neither."""
    [package] = [each for each in packages("ubuntu-24.04", "x86_64", 0) if each.scripts]
    log = folder / "log"
    log.write_text("")
    status = 0 if is_there else 1
    asking = f'case "$*" in *--list*) exit {status} ;; esac\n'
    for name in ("getent", "groupadd", "groupdel", "dpkg-statoverride", "aa-enabled"):
        body = (
            f"exit {status}" if name == "getent" else "exit 1" if name == "aa-enabled" else f'echo "{name} $*" >>{log}'
        )
        (folder / name).write_text(f"#!/bin/sh\n{asking if name == 'dpkg-statoverride' else ''}{body}\n")
        (folder / name).chmod(0o755)
    argv = ["/bin/sh", "-c", package.scripts[script], script, argument]
    subprocess.run(argv, check=True, env={"PATH": str(folder)})
    return log.read_text().splitlines()


def test_its_group_alone_starts_the_wrapper_and_goes_with_it(tmp_path: Path) -> None:
    made = ["groupadd --system lanelab", f"dpkg-statoverride --update --add root lanelab 0750 {WRAPPER}"]
    assert ran("postinst", "configure", tmp_path, is_there=False) == made
    assert ran("postinst", "configure", tmp_path, is_there=True) == []  # an administrator's own choice stays
    gone = [f"dpkg-statoverride --remove {WRAPPER}", "groupdel lanelab"]
    assert ran("postrm", "purge", tmp_path, is_there=True) == gone
    assert ran("postrm", "purge", tmp_path, is_there=False) == ran("postrm", "remove", tmp_path, is_there=True) == []


@pytest.mark.skipif(shutil.which("apparmor_parser") is None, reason="apparmor_parser is missing")
def test_the_profile_parses(tmp_path: Path) -> None:
    version = subprocess.run(["apparmor_parser", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.split("version ")[1].split(".")[0]) < 4:
        pytest.skip("AppArmor is older than 4, and knows no rule for user namespaces")
    [package] = [each for each in packages("ubuntu-24.04", "x86_64", 0) if each.scripts]
    profile = tmp_path / "profile"
    profile.write_bytes(next(text for place, text in package.files.items() if "apparmor.d" in place))
    subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache", profile], check=True)

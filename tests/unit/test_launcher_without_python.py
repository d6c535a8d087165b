"""The launcher where there is no Python: what it says, and what it would run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from driver.host.install import install_command
from tests.kit.checkout import environment, make_checkout, run, tools
from tests.kit.machine import needs_namespaces, on_changed_machine

ON_FAMILY = (
    """printf 'ID=%s\\nVERSION_ID="%s"\\n' "$2" "$3" >"$4"; mount --bind "$4" /etc/os-release; "$1/lanelab" bed"""
)
Family = Callable[..., subprocess.CompletedProcess[str]]


def without_python(path: Path, **changes: str) -> dict[str, str]:
    return {key: value for key, value in environment(**changes).items() if key != "LANELAB_PYTHON"} | {
        "PATH": str(path)
    }


def administrators_commands(text: str) -> list[str]:
    return [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    apt-get ")]


@pytest.fixture
def on_family(tmp_path: Path) -> Family:
    """The launcher on another distribution, without Python, and with some programs replaced by shell scripts."""

    def launch(name: str, version: str, *, no_install: str = "", **programs: str) -> subprocess.CompletedProcess[str]:
        checkout = make_checkout(tmp_path / "checkout")
        path = tools(tmp_path / "bin", **{"apt_get": "exit 1", **programs})
        for extra in ("mount", "printf"):
            (path / extra).symlink_to(str(shutil.which(extra)))
        argv = on_changed_machine(ON_FAMILY, checkout, name, version, tmp_path / "os-release")
        argv[0] = str(shutil.which(argv[0]))
        return run(argv, without_python(path, LANELAB_NO_INSTALL=no_install))

    return launch


@needs_namespaces
@pytest.mark.parametrize(
    ("name", "version", "packages"),
    [
        ("debian", "12", "python3 python3-venv"),
        ("debian", "13", "python3 python3-venv"),
        ("ubuntu", "22.04", "python3.11 python3.11-venv"),
        ("ubuntu", "24.04", "python3 python3-venv"),
    ],
)
def test_names_all_packages_for_an_administrator(on_family: Family, name: str, version: str, packages: str) -> None:
    result = on_family(name, version, no_install="1", uname="echo x86_64")
    rest = "iproute2 ethtool iputils-ping tcpdump user-mode-linux util-linux"
    rest += " chromium chromium-driver" if name == "debian" else ""  # elsewhere they are snaps
    rest += " dbus-x11 xvfb apache2-bin dnsmasq-base gcc libc6-dev make zlib1g-dev apache2-dev"
    assert result.returncode == 1
    assert administrators_commands(result.stderr) == [install_command([packages, rest])]


@needs_namespaces
def test_does_not_name_packages_that_this_machine_cannot_have(on_family: Family) -> None:
    [command] = administrators_commands(on_family("debian", "12", no_install="1", uname="echo aarch64").stderr)
    assert "user-mode-linux" not in command


@needs_namespaces
def test_says_what_is_needed_on_an_unknown_system(on_family: Family) -> None:
    result = on_family("plan9", "4")
    assert result.returncode == 1
    assert "plan9-4" in result.stderr
    assert "ip, tc, ethtool" in result.stderr
    assert "Debian 12 and 13, Ubuntu 22.04 and 24.04" in result.stderr


@needs_namespaces
@pytest.mark.parametrize(
    ("programs", "ran"),
    [
        ({"id": "echo 0"}, True),
        ({"id": "echo 1000", "sudo": '[ "$1" = -n ] || exit 9; shift; "$@"'}, True),
        ({"id": "echo 1000", "sudo": "exit 1"}, False),  # asks for a password, and there is no terminal
        ({"id": "echo 1000"}, False),
    ],
)
def test_installs_python_only_as_root_or_with_sudo(
    on_family: Family, tmp_path: Path, programs: dict[str, str], ran: bool
) -> None:
    calls = tmp_path / "calls"
    result = on_family("debian", "12", apt_get=f'echo "apt-get $*" >>"{calls}"', **programs)
    assert result.returncode == 1  # nothing was really installed
    if ran:
        announced = "apt-get update; apt-get install --yes --no-install-recommends python3 python3-venv"
        assert announced in result.stderr.splitlines()[0]
        assert "; ".join(calls.read_text().splitlines()) == announced
    else:
        assert not calls.exists()
        assert len(administrators_commands(result.stderr)) == 1

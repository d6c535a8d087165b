"""The launcher where there is no Python: what it says, and what it would run."""

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lanelab.driver.base.programs import needs
from tests.kit.checkout import environment, make_checkout, run, tools
from tests.kit.machine import needs_namespaces, on_changed_machine

ON_FAMILY = r"""
printf 'ID=%s\nVERSION_ID="%s"\n' "$2" "$3" >"$4"
mount --bind "$4" /etc/os-release
exec "$1/lanelab" "$5"
"""
Family = Callable[..., subprocess.CompletedProcess[str]]


def without_python(path: Path, **changes: str) -> dict[str, str]:
    return {key: value for key, value in environment(**changes).items() if key != "LANELAB_PYTHON"} | {
        "PATH": str(path)
    }


def administrators_commands(text: str) -> list[str]:
    return [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    sh ")]


@pytest.fixture
def on_family(tmp_path: Path) -> Family:
    """The launcher on another distribution, without Python, and with some programs replaced by shell scripts."""

    def launch(
        name: str,
        version: str,
        *,
        command: str = "bed",
        checkout: str = "checkout",
        no_install: str = "",
        **programs: str,
    ) -> subprocess.CompletedProcess[str]:
        made = make_checkout(tmp_path / checkout)
        path = tools(tmp_path / "bin", **{"apt_get": "exit 1", **programs})
        for extra in ("mount", "printf"):
            (path / extra).symlink_to(str(shutil.which(extra)))
        argv = on_changed_machine(ON_FAMILY, made, name, version, tmp_path / "os-release", command)
        argv[0] = str(shutil.which(argv[0]))
        return run(argv, without_python(path, LANELAB_NO_INSTALL=no_install))

    return launch


@needs_namespaces
@pytest.mark.parametrize("family", ["debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04"])
@pytest.mark.parametrize("command", ["bed", "check"])
def test_names_all_packages_for_run_and_test_whatever_was_asked_first(
    on_family: Family, tmp_path: Path, family: str, command: str
) -> None:
    """The same programs as in Python, in the same order: whoever has run this command is asked no more."""
    name, _, version = family.partition("-")
    result = on_family(name, version, command=command, no_install="1", uname="echo x86_64")
    packages = needs.packages(needs.asked_for_at_once(), family)
    assert {"maven", "openssh-server", "tshark", "apache2-bin"} <= set(packages)
    assert ("user-mode-linux" in packages) == (name == "debian")
    script = tmp_path / "checkout" / "playbooks" / "roles" / "packages" / "files" / "install-packages"
    assert result.returncode == 1
    assert administrators_commands(result.stderr) == [shlex.join(["sh", str(script), *packages])]


@needs_namespaces
def test_quotes_a_checkout_whose_path_has_a_space_in_it(on_family: Family, tmp_path: Path) -> None:
    result = on_family("debian", "12", checkout="bob's check out", no_install="1")
    [command] = administrators_commands(result.stderr)
    assert Path(shlex.split(command)[1]).is_relative_to(tmp_path / "bob's check out")


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

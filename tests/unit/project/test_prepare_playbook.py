"""The playbook as it is, on this machine."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.programs import install, needs
from lanelab.driver.base.programs.ansible import ansible_settings
from tests.kit.machine import needs_namespaces, on_changed_machine

PLAYBOOK = [sys.executable, "-I", "-m", "ansible", "playbook", str(needs.PLAYBOOKS / "prepare.yml")]


def all_packages_are_there() -> bool:
    if install.family() not in needs.families() or shutil.which("dpkg-query") is None:
        return False
    programs = needs.programs_on("client", "router", "server", "controller")
    wanted = install.packages_for(program for program in programs if program.belongs_here())
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}\n", *wanted]
    result = subprocess.run(query, capture_output=True, text=True, check=False)
    return result.stdout.split() == ["installed"] * len(wanted)


needs_packages = pytest.mark.skipif(
    not all_packages_are_there(), reason="not all packages of the playbook are installed"
)


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    return {**os.environ, **ansible_settings()}


@needs_packages
@pytest.mark.parametrize("options", [[], ["--check"]])
def test_changes_nothing_and_needs_no_root_when_all_is_there(environment: dict[str, str], options: list[str]) -> None:
    result = subprocess.run([*PLAYBOOK, *options], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"localhost +: ok=[1-9]\d* +changed=0 +unreachable=0 +failed=0", result.stdout), result.stdout


@needs_namespaces
def test_refuses_a_distribution_that_it_does_not_know(environment: dict[str, str], tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('ID=debian\nNAME="Debian GNU/Linux"\nVERSION_ID="99"\nVERSION="99 (future)"\n')
    (tmp_path / "debian_version").write_text("99.0\n")
    script = """
        mount --bind "$1/os-release" /etc/os-release
        [ ! -e /etc/debian_version ] || mount --bind "$1/debian_version" /etc/debian_version
        shift
        exec "$@"
    """
    result = subprocess.run(
        on_changed_machine(script, tmp_path, *PLAYBOOK), env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    said = " ".join(result.stdout.split())
    assert "runs debian-99. lanelab knows the names of packages in debian-12, debian-13, ubuntu-22.04" in said
    assert "iproute2, ethtool, iputils-ping, tcpdump" in said


def test_installs_only_what_is_wanted_where_that_is_said(environment: dict[str, str]) -> None:
    """With a list of programs, the groups of a machine bring nothing."""
    wanted = ["--check", "--extra-vars", '{"packages_wanted": []}']
    result = subprocess.run([*PLAYBOOK, *wanted], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Will install" not in result.stdout

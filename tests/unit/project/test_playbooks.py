"""The one file that knows packages, and the script that installs them (with a stand-in for apt-get)."""

import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from lanelab.driver.base.programs import needs
from tests.kit.machine import ROOT, needs_namespaces, on_changed_machine
from tests.kit.wait import wait_until

PLAYBOOKS = ROOT / "playbooks"
INSTALL = PLAYBOOKS / "roles" / "packages" / "files" / "install-packages"
FAMILIES = {"debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04"}
LACKING: dict[str, set[str]] = {
    "debian-12": set(),
    "debian-13": {"h2o"},
    "ubuntu-22.04": {"linux.uml", "uml-modules", "nginx-brotli", "caddy", "chromium", "chromedriver", "firefox"},
    "ubuntu-24.04": {"linux.uml", "uml-modules", "vagrant", "vagrant-libvirt", "chromium", "chromedriver", "firefox"},
}
VARS: dict[str, Any] = yaml.safe_load((PLAYBOOKS / "vars" / "packages.yml").read_text())


def test_every_program_has_a_package_in_every_family_or_none_on_purpose() -> None:
    assert set(needs.families()) == FAMILIES
    names = {program.name for program in needs.all_programs()}
    for family in FAMILIES:
        assert set(VARS["lanelab_families"][family]) <= names, family
        for program in needs.all_programs():
            packages = needs.packages([program], family)
            assert all(re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", package) for package in packages), (family, program)
            assert bool(packages) == (program.name not in LACKING[family]), (family, program)


def test_every_row_is_read_and_none_is_left_to_chance() -> None:
    rows = VARS["lanelab_programs"]
    assert [program.name for program in needs.all_programs()] == list(rows)
    for program in needs.all_programs():
        assert program.purposes, program
        assert set(program.nodes) <= {"client", "router", "server", "controller"}, program
    purposes = {purpose for program in needs.all_programs() for purpose in program.purposes}
    assert set(VARS["lanelab_only_when_asked"]) <= purposes


def test_no_package_is_a_snap_in_disguise() -> None:
    """Ubuntu's chromium-browser and chromium-chromedriver would install snapd, and a service with it."""
    for family in FAMILIES:
        if family.startswith("ubuntu"):
            packages = needs.packages(needs.all_programs(), family)
            assert not any("chromium" in package for package in packages), family


def test_the_groups_of_programs_are_those_of_the_inventory() -> None:
    groups = yaml.safe_load((PLAYBOOKS / "inventory" / "localhost.yml").read_text())["all"]["children"]
    assert set(groups) == {node for program in needs.all_programs() for node in program.nodes}


# --- the installing script ----------------------------------------------------------------------------------------

# Places that it writes to become empty folders, so that it may run here, even as an ordinary user.
AS_ROOT = """
mkdir "$1/sbin" "$1/systemd" "$1/run"
[ ! -e "$1/enabled" ] || cp -P "$1/enabled"/* "$1/systemd"
cp "$(command -v update-rc.d || echo /bin/true)" "$1/sbin/update-rc.d"
mount --bind "$1/sbin" /usr/sbin
mount --bind "$1/bin" /usr/local/sbin
mount --bind "$1/systemd" /etc/systemd/system
mount --bind "$1/run" /run
[ ! -e "$1/policy" ] || cp "$1/policy" /usr/sbin/policy-rc.d
exec sh "$2" $(cat "$1/wanted")
"""
# No system has "unknown-package"; the dependencies of "broken-package" cannot be met.
APT_CACHE = """#!/bin/sh
case "$3" in unknown-package) exit ;; virtual-package) version="(none)" ;; *) version=1 ;; esac
printf '%s:\n  Installed: (none)\n  Candidate: %s\n' "$3" "$version"
"""
APT = """#!/bin/sh
case "$*" in
  *--simulate*broken-package*) exit 100 ;;
  *--simulate*) exit ;;
esac
echo "$*" >>/run/calls
case "$*" in *update) exit 100 ;; esac
/usr/sbin/policy-rc.d some-service start; echo "may start: $?" >>/run/calls
mkdir -p /etc/systemd/system/multi-user.target.wants
ln -s /lib/systemd/system/some.service /etc/systemd/system/multi-user.target.wants/some.service
touch /run/installing
"""


def installing(tmp_path: Path, apt: str, wanted: str = "some-package") -> list[str]:
    (tmp_path / "wanted").write_text(wanted)
    (tmp_path / "bin").mkdir()
    for name, text in {"apt-get": APT + apt, "apt-cache": APT_CACHE}.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return on_changed_machine(AS_ROOT, tmp_path, INSTALL)


def policy_after(tmp_path: Path) -> str | None:
    policy = tmp_path / "sbin" / "policy-rc.d"
    return policy.read_text() if policy.exists() else None


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "run" / "calls").read_text().splitlines()


@needs_namespaces
@pytest.mark.parametrize("status", [0, 100])
def test_installing_starts_and_enables_nothing_even_when_it_fails(tmp_path: Path, status: int) -> None:
    result = subprocess.run(installing(tmp_path, f"exit {status}"), capture_output=True, text=True, check=False)
    assert result.returncode == status, result.stderr
    said = calls(tmp_path)
    assert said[0].endswith("update")
    assert "install --yes --no-install-recommends --no-remove -- some-package" in said[1]
    assert said[2] == "may start: 101"
    assert list((tmp_path / "systemd").rglob("*.service")) == []
    assert policy_after(tmp_path) is None


@needs_namespaces
@pytest.mark.parametrize("lacking", ["unknown-package", "virtual-package", "broken-package"])
def test_a_package_that_cannot_be_had_is_named_and_costs_no_other(tmp_path: Path, lacking: str) -> None:
    argv = installing(tmp_path, "", f"some-package {lacking} other-package")
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert calls(tmp_path)[1].endswith("-- some-package other-package")
    assert result.stderr.splitlines() == [
        f"install-packages: left out, since this system cannot install them: {lacking}"
    ]


@needs_namespaces
def test_nothing_to_install_is_an_error(tmp_path: Path) -> None:
    argv = installing(tmp_path, "", "unknown-package broken-package")
    result = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "none of these can be installed: unknown-package broken-package" in result.stderr
    assert len(calls(tmp_path)) == 1  # of the update


@needs_namespaces
def test_the_administrators_own_policy_stays(tmp_path: Path) -> None:
    policy = "#!/bin/sh\nexit 104\n"
    (tmp_path / "policy").write_text(policy)
    (tmp_path / "policy").chmod(0o755)
    subprocess.run(installing(tmp_path, ""), capture_output=True, check=True)
    assert calls(tmp_path)[2] == "may start: 104"
    assert policy_after(tmp_path) == policy


@needs_namespaces
def test_what_a_killed_run_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    """SIGKILL is the one end that no trap sees."""
    with subprocess.Popen(
        installing(tmp_path, "exec sleep 60"), stdout=subprocess.DEVNULL, start_new_session=True
    ) as one:
        await_installing(tmp_path)
        os.killpg(one.pid, signal.SIGKILL)
    left = policy_after(tmp_path)
    assert left is not None
    again = tmp_path / "again"
    again.mkdir()
    (again / "policy").write_text(left)
    (again / "policy").chmod(0o755)
    subprocess.run(installing(again, ""), capture_output=True, check=True)
    assert policy_after(again) is None


@needs_namespaces
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_interrupted_run_leaves_neither_its_policy_nor_a_service_that_starts_at_boot(
    tmp_path: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(installing(tmp_path, "sleep 60"), stdout=subprocess.DEVNULL, start_new_session=True) as one:
        await_installing(tmp_path)
        assert policy_after(tmp_path) is not None
        assert enabled_after(tmp_path) != []
        os.killpg(one.pid, number)
    assert one.returncode != 0
    assert policy_after(tmp_path) is None
    assert enabled_after(tmp_path) == []


@needs_namespaces
def test_a_run_to_which_nobody_listens_any_more_leaves_nothing_either(tmp_path: Path) -> None:
    """As when ssh is lost: what it says about it meets a closed pipe."""
    with subprocess.Popen(
        installing(tmp_path, "until [ -e /run/go ]; do sleep 0.05; done; echo configured"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    ) as one:  # fmt: skip
        await_installing(tmp_path)
        assert one.stdout
        one.stdout.close()
        (tmp_path / "run" / "go").touch()
    assert policy_after(tmp_path) is None
    assert enabled_after(tmp_path) == []


@needs_namespaces
def test_what_was_enabled_before_stays(tmp_path: Path) -> None:
    (tmp_path / "enabled").mkdir()
    (tmp_path / "enabled" / "an administrator's.service").symlink_to("/lib/systemd/system/ssh.service")
    subprocess.run(installing(tmp_path, ""), capture_output=True, check=True)
    assert enabled_after(tmp_path) == ["an administrator's.service"]


def await_installing(tmp_path: Path) -> None:
    wait_until((tmp_path / "run" / "installing").exists)


def enabled_after(tmp_path: Path) -> list[str]:
    """What would be started at the next boot."""
    return [path.name for path in (tmp_path / "systemd").rglob("*.service")]

"""What commands need, whether it is there, and what is said when it is not."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver.browser.chromium import binaries
from driver.host import install as prepare
from driver.host import needs
from driver.host.find_program import SYSTEM_PATH, find
from driver.host.needs import Program
from model.errors import MissingProgram
from tests.kit.machine import ROOT, needs_namespaces, on_changed_machine

NOWHERE = Program("no-such-program-anywhere", "ethtool")


@pytest.fixture
def on_debian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(prepare, "family", lambda: "debian-12")
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    monkeypatch.setenv("LANELAB_NO_INSTALL", "1")


def needing(monkeypatch: pytest.MonkeyPatch, *programs: Program) -> None:
    monkeypatch.setitem(needs.REQUIRED, "bed", programs)


def test_a_longer_command_needs_what_its_beginning_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    needing(monkeypatch, NOWHERE)
    assert prepare.missing("bed shell client") == [NOWHERE]
    assert prepare.missing("link show") == []
    assert prepare.missing("doctor") == []
    assert prepare.missing("") == []


def test_does_not_miss_what_another_machine_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    needing(monkeypatch, Program("no-such-program-anywhere", "uml", machines=("not-this-machine",)))
    assert prepare.missing("bed") == []


def test_finds_programs_where_an_ordinary_users_path_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [Path(folder) for folder in SYSTEM_PATH.split(":") if folder.endswith("sbin")]
    program = next(
        file for folder in folders if folder.is_dir() for file in folder.iterdir() if os.access(file, os.X_OK)
    )
    monkeypatch.setenv("PATH", "/nowhere")
    assert find(program.name) is not None
    assert find("no-such-program-anywhere") is None
    assert find(str(ROOT)) == ROOT
    assert find("/no/such/folder") is None


@pytest.mark.usefixtures("on_debian")
def test_names_the_administrators_command(monkeypatch: pytest.MonkeyPatch) -> None:
    needing(
        monkeypatch, NOWHERE, Program("nor-this", "iproute2"), Program("nor-that", "iproute2"), Program("sh", "ping")
    )
    with pytest.raises(MissingProgram) as caught:
        prepare.prepare("bed")
    said = str(caught.value).splitlines()
    assert said[0].startswith("no-such-program-anywhere, nor-this, nor-that are not installed")
    assert "    apt-get update; apt-get install --yes --no-install-recommends ethtool iproute2" in said


@pytest.mark.usefixtures("on_debian")
def test_goes_on_without_what_is_only_wished_for(monkeypatch: pytest.MonkeyPatch) -> None:
    needing(monkeypatch)
    monkeypatch.setitem(needs.WISHED, "bed", (NOWHERE, Program("sh", "ping")))
    out = io.StringIO()
    prepare.prepare("bed", out=out)
    assert "going on without no-such-program-anywhere (LANELAB_NO_INSTALL is set)" in out.getvalue()
    assert "apt-get install --yes --no-install-recommends ethtool\n" in out.getvalue()
    needing(monkeypatch, Program("nor-this", "iproute2"))
    with pytest.raises(MissingProgram, match=r"^nor-this is not installed"):
        prepare.prepare("bed", out=out)


def test_a_password_is_not_asked_for_what_is_only_wished_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "sudo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert prepare._become(ask=True) == [str(tmp_path / "sudo")]
    assert prepare._become(ask=False) is None


def test_whatever_an_experiment_needs_together_has_its_entry() -> None:
    assert needs.REQUIRED["run headful resolver gateway spdy"] == (
        *needs.RUN,
        needs.SCREEN,
        needs.RESOLVER,
        *needs.MODULE_BUILDING,
    )
    assert prepare.roles_of("run") == ["client", "router", "server", "controller"]
    assert prepare.roles_of("run gateway spdy") == ["client", "router", "server", "controller", "builder"]
    assert prepare.roles_of("check") == ["developer", "builder"]
    assert prepare.roles_of("test wire") == ["server", "developer", "builder", "peers"]
    assert set(prepare.roles_of("test")) == set(prepare._vars("lanelab_needs")) - {"vm", "remote"}
    assert prepare.roles_of("sites") == []


def test_a_command_brings_little_besides_what_it_needs() -> None:
    """Others have the same needs among many: they are not installed for them."""
    assert prepare.roles_of("vm") == prepare.roles_of("vm box") == prepare.roles_of("test vm") == ["vm"]
    assert prepare.roles_of("ssh") == prepare.roles_of("hosts check") == ["remote"]
    assert prepare.roles_of("bed") == ["router", "server", "controller"]
    for command in ("vm", "ssh", "bed", "run"):
        assert not {"developer", "builder", "peers"} & set(prepare.roles_of(command)), command


@pytest.mark.usefixtures("on_debian")
def test_an_ssh_client_is_all_that_machines_over_ssh_take_here() -> None:
    assert prepare.role_packages("ssh") == ["openssh-client"]
    assert "openssh-server" not in prepare.role_packages("vm")


@pytest.mark.usefixtures("on_debian")
def test_names_the_programs_where_it_does_not_know_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    needing(monkeypatch, NOWHERE)
    monkeypatch.setattr(prepare, "family", lambda: "plan9-4")
    with pytest.raises(MissingProgram, match=r"plan9-4.*no-such-program-anywhere.*debian-12.*ubuntu-24\.04"):
        prepare.prepare("bed")


@pytest.mark.usefixtures("on_debian")
@pytest.mark.parametrize("host_can", [True, False])
def test_uml_is_not_needed_where_the_host_can_be_the_router(monkeypatch: pytest.MonkeyPatch, host_can: bool) -> None:
    uml = Program("no-such-uml", "uml")
    monkeypatch.setattr(prepare, "UML", (uml,))
    monkeypatch.setattr(prepare, "host_has_netem", lambda: host_can)
    needing(monkeypatch, uml)
    out = io.StringIO()
    if host_can:
        prepare.prepare("bed", out=out)
        assert "this machine's own kernel" in out.getvalue()
        needing(monkeypatch, uml, NOWHERE)
    with pytest.raises(MissingProgram, match=r"user-mode-linux"):
        prepare.prepare("bed", out=out)


def test_everything_that_is_looked_for_is_installed_by_a_role() -> None:
    roles = prepare._vars("lanelab_needs")
    for command, programs in needs.REQUIRED.items():
        used = {program.need for program in (*programs, *needs.WISHED.get(command, ()))}
        assert used <= {need for role in prepare.roles_of(command) for need in roles[role]}, command


@pytest.mark.usefixtures("on_debian")
def test_says_what_to_do_where_the_distribution_has_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "family", lambda: "ubuntu-24.04")
    lacking = [Program("no-such-chromium", "chromium", variable="LANELAB_CHROMIUM")]
    needing(monkeypatch, *lacking)
    with pytest.raises(MissingProgram) as caught:
        prepare.prepare("bed")
    assert "only as a snap" in str(caught.value)
    assert "LANELAB_CHROMIUM" in str(caught.value)
    assert "apt-get" not in str(caught.value)
    needing(monkeypatch, *lacking, NOWHERE)
    with pytest.raises(MissingProgram, match=r"(?s)apt-get .* ethtool\n.*only as a snap"):
        prepare.prepare("bed")
    assert "chromium" not in " ".join(prepare.role_packages("run"))
    assert "apache2-bin" in prepare.role_packages("run")


def test_a_program_goes_by_several_names_and_the_user_may_say_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = Program("no-such-program", "apache", others=("nor-this", "sh"), variable="LANELAB_SOMETHING")
    assert program.path() == find("sh")
    monkeypatch.setenv("LANELAB_SOMETHING", str(tmp_path / "mine"))
    assert program.path() is None
    (tmp_path / "mine").write_text("#!/bin/sh\necho mine\n")
    assert program.path() == tmp_path / "mine"


def test_a_snap_is_not_taken_for_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither snapd's own link nor the script that Ubuntu's package has: both need a service that a bed has not."""
    (tmp_path / "snap").write_text("snapd's program")
    (tmp_path / "chromium").symlink_to("snap")
    (tmp_path / "chromedriver").write_text('#!/bin/sh\nexec /snap/bin/chromium.chromedriver "$@"\n')
    for each in ("snap", "chromedriver"):
        (tmp_path / each).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("chromium", "chromedriver"):
        assert find(name) == tmp_path / name
        assert Program(name, name).path() is None


@pytest.mark.usefixtures("on_debian")
def test_a_browser_brings_no_services_along() -> None:
    """Without dbus-x11, apt would choose packages with services for what Chromium's libraries need."""
    assert prepare.packages_for(needs.BROWSER) == ["chromium", "dbus-x11", "chromium-driver"]


def test_looks_for_the_browser_where_the_driver_does() -> None:
    chromium, chromedriver = needs.BROWSER
    assert {chromium.name, *chromium.others} == set(binaries.CHROMIUM)
    assert {chromedriver.name, *chromedriver.others} == set(binaries.CHROMEDRIVER)


@needs_namespaces
def test_a_machine_that_lacks_something_says_so(tmp_path: Path) -> None:
    """Real programs, really gone: an empty folder is mounted over those that administrators' programs are in."""
    hide = """
        for folder in /usr/sbin /sbin /usr/local/sbin; do mount -t tmpfs none "$folder"; done
        "$1" -I -m driver.host.install bed
    """
    result = subprocess.run(
        on_changed_machine(hide, sys.executable),
        env={**os.environ, "LANELAB_NO_INSTALL": "1", "LANELAB_BUILD": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "tc" in result.stderr
    assert " iproute2" in result.stderr

"""What commands need, whether it is there, and what users read when it is not."""

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from lanelab.driver.base import paths
from lanelab.driver.base.errors import InputError, MissingProgram
from lanelab.driver.base.programs import install, needs, system_package
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.programs.needs import Program, Row
from lanelab.driver.base.system_path import SYSTEM_PATH
from lanelab.driver.bed.ssh import check
from lanelab.driver.run import doctor
from lanelab.driver.run.needs import needs_of
from tests.kit.experiments import read
from tests.kit.machine import ROOT, needs_namespaces, on_changed_machine
from tools.needs_of_tests import needs_of_tests

NOWHERE = Program("no-such-program-anywhere", "ethtool", ("bed",), commands=("no-such-program-anywhere",))
NOR_THIS = Program("nor-this", "iproute2", ("bed",), commands=("nor-this",))
NOR_THAT = Program("nor-that", "iproute2", ("bed",), commands=("nor-that",))
SHELL = Program("sh", "dash", ("bed",), commands=("sh",))
OF_TESTS = Program("no-such-peer", "maven", ("java",), commands=("no-such-peer",))


@pytest.fixture
def on_debian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(install, "family", lambda: "debian-12")
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    monkeypatch.setenv("LANELAB_NO_INSTALL", "1")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of programs of which only the shell is there."""
    monkeypatch.setattr(needs, "all_programs", lambda: (SHELL, NOWHERE, NOR_THIS, NOR_THAT, OF_TESTS))


@pytest.fixture
def without_sudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An ordinary user on a system that has no sudo, and a Debian 12 whose programs are all missing."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(install, "family", lambda: "debian-12")
    monkeypatch.setattr(install, "find", lambda _name: None)
    monkeypatch.setattr(install, "host_has_netem", lambda: False)
    monkeypatch.setattr(Program, "path", lambda _program: None)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    monkeypatch.delenv("LANELAB_NO_INSTALL", raising=False)


def administrators_command(text: str) -> list[str]:
    """The words of the one command that a text shows."""
    [command] = [line for line in text.splitlines() if "install-packages" in line]
    assert command.startswith("    sh ")
    return shlex.split(command)


def test_does_not_miss_what_another_machine_needs() -> None:
    elsewhere = Program("no-such-program", "uml", ("uml",), machines=("no-machine",), commands=("no-such-program",))
    assert needs.missing([elsewhere, NOWHERE, NOWHERE, SHELL]) == [NOWHERE]


def test_finds_programs_where_an_ordinary_users_path_does_not_look(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find("ip") or find("tc") or find("useradd")
    assert find("no-such-program-anywhere") is None
    assert {"/usr/sbin", "/sbin"} <= set(SYSTEM_PATH.split(":"))


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o000])
def test_a_file_that_cannot_be_executed_is_no_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int
) -> None:
    file = tmp_path / "no-such-program-anywhere"
    file.write_text("#!/bin/sh\n")
    file.chmod(mode)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find(file.name) is None
    assert find(str(file)) is None
    assert Program("other", "other", ("bed",), commands=(str(file),)).path() is None
    file.chmod(0o755)
    assert find(file.name) == find(str(file)) == file


@pytest.mark.usefixtures("without_sudo")
@pytest.mark.parametrize(
    "purposes", [needs.BED, needs.PAGE_LOAD, needs.MACHINES_OVER_SSH, needs.CHECK, needs_of_tests()["bed"].needs]
)
def test_without_sudo_an_administrator_is_asked_once_for_run_and_test(
    monkeypatch: pytest.MonkeyPatch, purposes: tuple[str, ...]
) -> None:
    """Whatever command is first, the next ones find nothing missing that an administrator could install."""
    monkeypatch.setattr(paths, "CHECKOUT", ROOT)
    with pytest.raises(MissingProgram, match="there is no sudo here") as caught:
        install.prepare(needs.programs(*purposes))
    asked = administrators_command(str(caught.value))
    later = [*needs.PAGE_LOAD, "resolver", "screen", *needs.CHECK]
    later += [word for kind, tests in needs_of_tests().items() if kind != "vm" for word in (*tests.needs, *tests.uses)]
    assert set(needs.packages(needs.programs(*later), "debian-12")) <= set(asked)
    assert {"maven", "openssh-server", "shellcheck", "tshark", "openssl"} <= set(asked)
    assert "vagrant" not in asked


@pytest.mark.usefixtures("without_sudo")
def test_without_a_checkout_an_administrator_is_not_asked_for_what_only_tests_want(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paths, "CHECKOUT", None)
    with pytest.raises(MissingProgram, match="all that lanelab needs to run, and no service") as caught:
        install.prepare(needs.programs(*needs.BED))
    asked = set(administrators_command(str(caught.value)))
    assert {"iproute2", "chromium", "nghttp2-client", "default-jdk-headless"} <= asked
    assert asked.isdisjoint({"shellcheck", "tshark", "openssl", "openssh-server"})


@pytest.mark.usefixtures("without_sudo")
@pytest.mark.parametrize(
    ("installed", "hint"),
    [
        ([], "lanelab-system_"),
        (["lanelab-system"], "lanelab-system-servers_"),
        (["lanelab-system", "lanelab-system-servers"], ""),
    ],
)
def test_of_the_packages_the_next_one_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: list[str], hint: str
) -> None:
    monkeypatch.setattr(system_package, "documents_folder", lambda name: tmp_path / name)
    for name in installed:
        (tmp_path / name).mkdir()
    with pytest.raises(MissingProgram) as caught:
        install.prepare(needs.programs(*needs.BED))
    assert (f"Or with the package {hint}" if hint else "An administrator") in str(caught.value)
    assert ("Or with the package" in str(caught.value)) == bool(hint)


@pytest.mark.usefixtures("without_sudo")
def test_without_sudo_what_is_only_used_leads_to_the_same_command() -> None:
    out = io.StringIO()
    install.prepare((), needs.programs("java"), out=out)
    with pytest.raises(MissingProgram) as caught:
        install.prepare(needs.programs("bed"))
    assert administrators_command(out.getvalue()) == administrators_command(str(caught.value))


@pytest.mark.usefixtures("without_sudo")
def test_virtual_machines_are_asked_for_when_they_are_wanted() -> None:
    with pytest.raises(MissingProgram) as caught:
        install.prepare(needs.programs(*needs.MAKING_A_BOX))
    assert {"vagrant", "mmdebstrap", "maven"} <= set(administrators_command(str(caught.value)))


@pytest.mark.usefixtures("on_debian", "table")
def test_names_what_is_missing_and_the_administrators_command() -> None:
    with pytest.raises(MissingProgram) as caught:
        install.prepare([NOWHERE, NOR_THIS, NOR_THAT, SHELL])
    assert str(caught.value).startswith("no-such-program-anywhere, nor-this, nor-that are not installed")
    assert administrators_command(str(caught.value))[1:] == [
        str(install.INSTALL_PACKAGES), "ethtool", "iproute2", "maven",
    ]  # fmt: skip


@pytest.mark.usefixtures("on_debian", "table")
def test_goes_on_without_what_is_only_used() -> None:
    out = io.StringIO()
    install.prepare((), [NOWHERE, SHELL], out=out)
    assert "going on without no-such-program-anywhere (LANELAB_NO_INSTALL is set)" in out.getvalue()
    assert administrators_command(out.getvalue())[2] == "ethtool"
    with pytest.raises(MissingProgram, match=r"^nor-this is not installed"):
        install.prepare([NOR_THIS], [NOWHERE], out=out)


def test_a_password_is_not_asked_for_what_is_only_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "sudo").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert install._become(ask=True) == [str(tmp_path / "sudo")]
    assert install._become(ask=False) is None


@pytest.mark.parametrize(
    ("arm", "purposes"),
    [
        ("{}", ()),
        ("{dns: resolver}", ("resolver",)),
        ("{display: headful}", ("screen",)),
        ("{protocol: spdy/3.1, tls: 1.2}", ("module",)),
        ("{pipelining: 4}", ()),
    ],
)
def test_an_experiment_needs_what_its_arms_use(arm: str, purposes: tuple[str, ...]) -> None:
    experiment = read(f"sites: dummy\nlinks: {{rtt: 20ms}}\narms: {{one: {{keepalive: false}}, other: {arm}}}\n")
    assert needs_of(experiment) == set(needs.programs(*needs.PAGE_LOAD, *purposes))


def test_words_that_no_program_has_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="no-such-purpose"):
        needs.programs("bed", "no-such-purpose")
    with pytest.raises(ValueError, match="comands"):
        Program.from_row("a", cast(Row, {"package": "a", "for": ["bed"], "comands": ["b"]}))


@pytest.mark.usefixtures("on_debian")
def test_the_words_that_checks_of_machines_use_have_programs() -> None:
    for purpose in (*check.PURPOSES, *(purpose for _, purpose, _ in doctor.optional())):
        assert needs.programs(purpose)


def test_an_ssh_client_is_all_that_machines_over_ssh_take_here() -> None:
    assert install.packages_for(needs.programs(*needs.MACHINES_OVER_SSH)) == ["openssh-client"]
    assert "openssh-server" not in install.packages_for(needs.programs(*needs.MAKING_A_BOX))


@pytest.mark.usefixtures("on_debian")
def test_names_the_programs_where_it_does_not_know_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "family", lambda: "plan9-4")
    with pytest.raises(MissingProgram, match=r"plan9-4.*no-such-program-anywhere.*debian-12.*ubuntu-24\.04"):
        install.prepare([NOWHERE])


@pytest.mark.usefixtures("on_debian")
@pytest.mark.parametrize("host_can", [True, False])
def test_uml_is_not_needed_where_the_host_can_be_the_router(monkeypatch: pytest.MonkeyPatch, host_can: bool) -> None:
    uml = Program("no-such-uml", "user-mode-linux", ("uml",), commands=("no-such-uml",), optional=True)
    monkeypatch.setattr(needs, "all_programs", lambda: (NOWHERE, uml))
    monkeypatch.setattr(install, "host_has_netem", lambda: host_can)
    out = io.StringIO()
    if host_can:
        install.prepare([uml], out=out)
        assert "this machine's own kernel" in out.getvalue()
    with pytest.raises(MissingProgram, match=r"user-mode-linux"):
        install.prepare([uml, *([NOWHERE] if host_can else [])], out=out)


@pytest.mark.usefixtures("on_debian")
def test_says_what_to_do_where_the_distribution_has_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "family", lambda: "ubuntu-24.04")
    monkeypatch.setattr(Program, "path", lambda program: None if program.name == "chromium" else Path("/there"))
    chromium = needs.program("chromium")
    with pytest.raises(MissingProgram) as caught:
        install.prepare([chromium])
    assert "only as a snap" in str(caught.value)
    assert "LANELAB_CHROMIUM" in str(caught.value)
    assert "install-packages" not in str(caught.value)
    monkeypatch.setattr(Program, "path", lambda program: None if program.name in ("chromium", "tc") else Path("/there"))
    with pytest.raises(MissingProgram, match=r"(?s)install-packages iproute2\n.*only as a snap"):
        install.prepare([chromium, needs.program("tc")])


@pytest.mark.usefixtures("on_debian")
def test_each_browser_is_to_be_had_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "family", lambda: "ubuntu-24.04")
    monkeypatch.setattr(Program, "path", lambda _program: None)
    firefox = install.remedy([needs.program("firefox")])
    assert "Mozilla" in firefox
    assert "Chrome" not in firefox
    chromium = install.remedy(needs.programs("chromium"))
    assert chromium.count("Google's .deb packages of Chrome") == 1
    assert "Mozilla" not in chromium


@pytest.mark.usefixtures("on_debian")
def test_says_so_where_there_is_no_package_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "family", lambda: "ubuntu-22.04")
    monkeypatch.setattr(Program, "path", lambda _program: None)
    with pytest.raises(MissingProgram, match=r"ubuntu-22\.04 has no package for nginx-brotli$"):
        install.prepare([needs.program("nginx-brotli")])


def test_a_program_goes_by_several_names_and_the_user_may_say_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = ("no-such-program", "nor-this", "sh")
    program = Program("program", "package", ("bed",), commands=names, variable="LANELAB_SOMETHING")
    assert program.path() == find("sh")
    monkeypatch.setenv("LANELAB_SOMETHING", str(tmp_path / "mine"))
    assert program.path() is None
    (tmp_path / "mine").write_text("#!/bin/sh\necho mine\n")
    assert program.path() is None
    (tmp_path / "mine").chmod(0o755)
    assert program.path() == tmp_path / "mine"


def test_files_may_show_that_something_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOME_FOLDER", str(tmp_path))
    plugin = Program("plugin", "package", ("bed",), files=("$NO_SUCH_VARIABLE/*.spec", "$SOME_FOLDER/*/plugin-*.spec"))
    assert plugin.is_missing()
    (tmp_path / "3.1").mkdir()
    (tmp_path / "3.1" / "plugin-1.0.spec").touch()
    assert plugin.path() == tmp_path / "3.1" / "plugin-1.0.spec"


def test_a_snap_is_not_taken_for_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither snapd's own link nor the script in Ubuntu's package: both need a service that a bed has not."""
    (tmp_path / "snap").write_text("snapd's program")
    (tmp_path / "chromium").symlink_to("snap")
    (tmp_path / "chromedriver").write_text('#!/bin/sh\nexec /snap/bin/chromium.chromedriver "$@"\n')
    for each in ("snap", "chromedriver"):
        (tmp_path / each).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("chromium", "chromedriver"):
        assert find(name) == tmp_path / name
        assert Program(name, name, ("browser",), commands=(name,)).path() is None


@pytest.mark.usefixtures("on_debian")
def test_a_browser_brings_no_services_along() -> None:
    """Without dbus-x11, apt would choose packages with services for what Chromium's libraries need."""
    assert install.packages_for(needs.programs("chromium")) == ["chromium", "dbus-x11", "chromium-driver"]


@needs_namespaces
def test_a_machine_that_lacks_something_says_so(tmp_path: Path) -> None:
    """Real programs, really gone: an empty folder is mounted over those that administrators' programs are in."""
    hide = """
        for folder in /usr/sbin /sbin /usr/local/sbin; do mount -t tmpfs none "$folder"; done
        "$1" -I -m lanelab.driver.cli link test
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


def test_a_variable_that_names_no_program_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package would not bring it."""
    monkeypatch.setenv("LANELAB_FIREFOX", "/nowhere/firefox")
    with pytest.raises(InputError, match="LANELAB_FIREFOX: '/nowhere/firefox' is no program") as refused:
        install.prepare([needs.program("firefox")])
    assert "unset it" in refused.value.remedy

"""Virtual machines, with a stand-in for Vagrant: how it is run, and when it is asked at all."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.api import own_machines
from lanelab.driver.base.errors import InputError, VmError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.bed.vagrant import accelerator, box, inventory, libvirt, machines, settings, vagrant
from lanelab.driver.cli import vm as commands
from tests.kit.vm_stand_ins import Virsh, first_on_path, own_place, program, told
from tests.kit.wait import wait_until


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_place(tmp_path, monkeypatch)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return first_on_path(tmp_path, monkeypatch)


# --- Vagrant ------------------------------------------------------------------------------------------------------


def test_tells_each_step_of_each_machine_once_and_keeps_the_flood_in_the_log(stand_in: Path, build: Path) -> None:
    program(
        stand_in,
        'echo "==> client: Creating domain with the following settings..."; echo "==> client:  -- CPUs: 1"\n'
        'echo "==> client: Waiting for domain to get an IP address..."\n'
        'echo "==> client: Waiting for domain to get an IP address..."\n'
        'echo "    router: Warning: Connection refused. Retrying..."\n'
        'echo "==> router: Machine booted and ready for use!"; echo "args: $*"',
    )
    told: list[str] = []
    said = vagrant.run(["up", "a b"], told.append, what="trying")
    assert [line.split(" s  ")[1] for line in told] == ["client is made", "client boots", "router can be reached"]
    assert said == (build / "vm" / "up.log").read_text()
    assert said.endswith("args: up a b\n")


def test_a_failure_shows_the_last_lines_and_names_the_log(stand_in: Path, build: Path) -> None:
    program(stand_in, "seq 1 40; echo 'it broke' >&2; exit 3")
    with pytest.raises(VmError, match="trying failed: vagrant up ended with status 3") as caught:
        vagrant.run(["up"], lambda _: None, what="trying")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith(f"{build / 'vm' / 'up.log'}")
    assert lines[-1].strip() == "it broke"
    assert [line.strip() for line in lines[1:3]] == ["27", "28"]


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("Network is already in use by interface virbr0", "LANELAB_VM_MANAGEMENT"),
        ("No space left on device", "disk is full"),
        ("qemu: cannot set up guest memory: Cannot allocate memory", "LANELAB_VM_MEMORY"),
    ],
)
def test_known_failures_have_a_remedy(stand_in: Path, said: str, remedy: str) -> None:
    program(stand_in, f"echo '{said}'; exit 1")
    with pytest.raises(VmError, match=remedy):
        vagrant.run(["up"], lambda _: None, what="trying")


INTERRUPTED = """
import signal, sys
from lanelab.driver.bed.vagrant import vagrant
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
folder = sys.argv[1]
given = vagrant.environment()
vagrant.environment = lambda: {**given, "PATH": f"{folder}:{given['PATH']}"}
try:
    vagrant.run(["up"], lambda _: None, what="trying")
except KeyboardInterrupt:
    sys.exit(77)
"""


def await_file(path: Path) -> None:
    wait_until(path.exists, what=lambda: path)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 77), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_a_signal_reaches_vagrant_as_one_ctrl_c_and_is_waited_for(
    stand_in: Path, tmp_path: Path, number: int, status: int
) -> None:
    program(
        stand_in,
        f"trap 'echo tidied >>{tmp_path}/tidied; exit 1' INT\ntouch {tmp_path}/begun\nwhile true; do sleep 0.05; done",
    )
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen(
        [sys.executable, "-I", str(script), str(stand_in)],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        await_file(tmp_path / "begun")
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == status, said
    assert "stopping vagrant" in said
    assert (tmp_path / "tidied").read_text() == "tidied\n"


def test_vagrants_files_are_where_it_looks_itself_unless_the_build_folder_is_elsewhere(
    monkeypatch: pytest.MonkeyPatch, build: Path
) -> None:
    assert vagrant.environment()["VAGRANT_DOTFILE_PATH"] == str(build / "vm" / "vagrant")  # a checkout may be read-only
    monkeypatch.setenv("LANELAB_BUILD", str(PROJECT / "build"))
    assert vagrant.dotfiles() == PROJECT / ".vagrant"
    monkeypatch.setenv("VAGRANT_DOTFILE_PATH", "/mine")
    assert vagrant.dotfiles() == Path("/mine")
    assert vagrant.environment()["VAGRANT_DOTFILE_PATH"] == "/mine"


def test_the_provider_is_lanelabs_own_setting_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAGRANT_DEFAULT_PROVIDER", "virtualbox")
    assert settings.uses_libvirt()
    assert vagrant.environment()["VAGRANT_DEFAULT_PROVIDER"] == "libvirt"
    monkeypatch.setenv("LANELAB_VM_PROVIDER", "virtualbox")
    assert not settings.uses_libvirt()
    assert vagrant.environment()["VAGRANT_DEFAULT_PROVIDER"] == "virtualbox"
    monkeypatch.setenv("LANELAB_VM_PROVIDER", "vmware")
    with pytest.raises(InputError, match=r"LANELAB_VM_PROVIDER: 'vmware' is no provider\. Choose from: libvirt, virt"):
        settings.uses_libvirt()


def test_a_second_lanelab_is_told_who_is_busy() -> None:
    with (
        vagrant.only_one("up"),
        pytest.raises(VmError, match=rf"busy: lanelab vm up, process {os.getpid()}. Wait"),
        vagrant.only_one("destroy"),
    ):
        pass
    with vagrant.only_one("destroy"):
        pass


# --- the machines -------------------------------------------------------------------------------------------------


def know(*names: str, home: str = libvirt.PRIVATE) -> None:
    """What Vagrant and the Vagrantfile leave when machines were made."""
    for name in names:
        file = vagrant.dotfiles() / "machines" / name / "libvirt" / "id"
        file.parent.mkdir(parents=True)
        file.write_text("6d0b")
    vagrant.note().write_text(f"{home} qemu\n")


@pytest.fixture
def vagrants_words(monkeypatch: pytest.MonkeyPatch, stand_in: Path, build: Path) -> Callable[[], list[str]]:
    """Each command that Vagrant was given, with the driver that it was told."""
    log = stand_in / "log"
    program(stand_in, f'echo "$* $LANELAB_VM_DRIVER" >>{log}')
    (build / "vm").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(libvirt, "virsh", lambda *_: None)
    monkeypatch.setattr(machines, "_give_to_vagrant", lambda *_: None)
    monkeypatch.setattr(box, "already_made", lambda: box.Box(build))
    monkeypatch.setattr(box, "make_box", lambda: box.Box(build))
    monkeypatch.setenv("LANELAB_VM_DRIVER", "qemu")
    return lambda: log.read_text().splitlines() if log.exists() else []


def states() -> list[str]:
    return [machine.state for machine in machines.status(told)]


def test_halted_machines_are_known_without_a_libvirtd(vagrants_words: Callable[[], list[str]]) -> None:
    assert states() == ["not_created"] * 3
    know("client", "router")
    assert states() == ["not_created"] * 3  # their libvirtd's folder was removed
    libvirt.own_folder().mkdir(parents=True)
    assert states() == ["shutoff", "shutoff", "not_created"]
    assert vagrants_words() == []  # it would forget them


def test_halted_machines_are_removed_without_a_libvirtd(vagrants_words: Callable[[], list[str]]) -> None:
    know("client", "router", "server")
    libvirt.own_folder().mkdir(parents=True)
    machines.destroy(told)
    assert states() == ["not_created"] * 3
    assert vagrant.known() == []
    assert not libvirt.own_folder().exists()
    assert vagrants_words() == []


def test_states_are_those_that_vagrant_prints(
    monkeypatch: pytest.MonkeyPatch, stand_in: Path, vagrants_words: Callable[[], list[str]]
) -> None:
    know("client", home=libvirt.SYSTEM)
    monkeypatch.setattr(libvirt, "answers", lambda _: True)
    program(
        stand_in,
        "echo 'Current machine states:'; echo; echo 'client                    running (libvirt)'\n"
        "echo 'router                    not created (libvirt)'; echo 'server                    shutoff (libvirt)'",
    )
    assert states() == ["running", "not_created", "shutoff"]
    assert vagrants_words() == []


def test_machines_of_a_libvirtd_that_does_not_answer_are_not_forgotten(
    vagrants_words: Callable[[], list[str]],
) -> None:
    know("client", home=libvirt.SYSTEM)
    for command in (machines.status, machines.halt, machines.destroy, machines.up):
        with pytest.raises(VmError, match="does not answer at qemu:///system"):
            command(told)
    assert vagrants_words() == []
    assert vagrant.known() == ["client"]


def test_what_vagrant_does_not_know_of_is_removed_all_the_same(
    monkeypatch: pytest.MonkeyPatch, vagrants_words: Callable[[], list[str]]
) -> None:
    lines: list[str] = []
    machines.destroy(lines.append)
    assert lines == ["there are no machines"]
    left = f"{libvirt.prefix()}client.img"
    monkeypatch.setattr(
        libvirt, "virsh", Virsh({("vol-list", "default"): f"{left} /x\n lanelab-other-client.img /y\n"})
    )
    libvirt.own_folder().mkdir(parents=True)
    machines.destroy(lines.append)
    assert lines[1:] == [f"removed what was left: {left}, the folder of a libvirtd"]
    assert not libvirt.own_folder().exists()
    assert vagrants_words() == []


def test_an_up_that_fails_leaves_no_inventory_and_says_what_removes_leftovers(
    monkeypatch: pytest.MonkeyPatch, stand_in: Path, vagrants_words: Callable[[], list[str]]
) -> None:
    monkeypatch.setattr(libvirt, "ensure", lambda *_: None)
    inventory.inventory_file().write_text("of earlier")
    program(stand_in, "echo 'Name lanelab-x-client of domain about to create is already taken.'; exit 1")
    with pytest.raises(VmError, match="lanelab vm destroy removes it"):
        machines.up(told)
    assert not inventory.inventory_file().exists()
    assert vagrants_words() == []


def test_vagrant_is_told_the_driver_that_was_chosen(
    monkeypatch: pytest.MonkeyPatch, vagrants_words: Callable[[], list[str]]
) -> None:
    asked: list[tuple[str | None, str]] = []
    monkeypatch.setattr(libvirt, "ensure", lambda home, driver, _: asked.append((home, driver)))
    monkeypatch.setattr(inventory, "write", lambda _: None)
    machines.up(told, provision=True)
    assert vagrants_words()[0] == "up --provision qemu"
    assert asked == [(None, "qemu")]


def test_machines_that_exist_keep_what_they_were_made_with(
    monkeypatch: pytest.MonkeyPatch, vagrants_words: Callable[[], list[str]]
) -> None:
    """Only other machines could have another driver."""
    assert not accelerator.is_emulated()
    know("client")
    assert accelerator.is_emulated()
    monkeypatch.setenv("LANELAB_VM_DRIVER", "kvm")
    assert accelerator.is_emulated()
    driver = accelerator.choose(None)
    assert (driver.name, "vm destroy" in driver.why) == ("qemu", True)
    asked: list[tuple[str | None, str]] = []
    monkeypatch.setattr(libvirt, "ensure", lambda home, driver, _: asked.append((home, driver)))
    monkeypatch.setattr(inventory, "write", lambda _: None)
    machines.up(told)
    assert vagrants_words()[0] == "up qemu"
    assert asked == [(libvirt.PRIVATE, "qemu")]


def test_without_machines_there_is_nothing_to_shut_down(vagrants_words: Callable[[], list[str]]) -> None:
    said: list[str] = []
    machines.halt(said.append)
    assert said == ["there are no machines"]
    assert vagrants_words() == []


@pytest.mark.parametrize(
    ("words", "machine", "command"),
    [
        ([], "client", ""),
        (["--", "ls", "-l"], "client", "ls -l"),
        (["router"], "router", ""),
        (["router", "--", "ping", "client"], "router", "ping client"),
    ],
)
def test_a_command_alone_is_for_the_client(
    monkeypatch: pytest.MonkeyPatch, words: list[str], machine: str, command: str
) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr(inventory, "require_up", lambda: None)
    monkeypatch.setattr(own_machines, "prepare_programs", lambda: None)
    monkeypatch.setattr("os.execvp", lambda _program, argv: called.append(argv))
    done = CliRunner().invoke(commands.group, ["ssh", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert called[0][3:] == [machine, *([command] if command else [])]

"""Virtual machines, without any: what is made from what is known, and a stand-in for Vagrant."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from driver.bed.ssh_hosts import read_inventory
from driver.errors import InputError, VmError
from driver.paths import PROJECT
from driver.vm import accelerator, box, image, inventory, libvirt, libvirt_init, vagrant

SSH_CONFIG = """Host client
  HostName 192.168.231.10
  User vagrant
  Port 22
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
  IdentityFile "/home/me/.vagrant.d/a key"
  IdentitiesOnly yes

Host router
  HostName 192.168.231.11
  User vagrant
  Port 2222
  IdentityFile /home/me/key
"""


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    for name in [name for name in os.environ if name.startswith("LANELAB_VM")]:
        monkeypatch.delenv(name)
    return tmp_path / "build"


# --- the box ------------------------------------------------------------------------------------------------------


def test_the_box_has_what_every_node_needs_and_what_makes_it_a_machine() -> None:
    packages = box.box_packages()
    assert {"chromium", "chromium-driver", "apache2-bin", "tcpdump", "iproute2", "ethtool", "dnsmasq-base"} <= set(
        packages
    )
    assert {"linux-image-amd64", "systemd-sysv", "openssh-server", "sudo", "python3", "user-mode-linux"} <= set(
        packages
    )
    assert not {"vagrant", "shellcheck", "gcc"} & set(packages)
    assert len(packages) == len(set(packages))


def test_names_of_packages_are_nowhere_but_in_the_one_file() -> None:
    """The names of the needs may be in the sources; those of packages that differ from them may not."""
    sources = [*(PROJECT / "driver" / "vm").rglob("*"), PROJECT / "Vagrantfile"]
    text = "\n".join(source.read_text() for source in sources if source.is_file() and source.suffix != ".pyc")
    for package in ("linux-image-amd64", "openssh-server", "isc-dhcp-client", "apache2-bin", "chromium-driver"):
        assert package not in text


def test_bootstrap_passes_the_mirror_and_the_script_as_words() -> None:
    argv = box.bootstrap(Path("/some where/system.tar"), "https://mirror.example/debian")
    assert argv[-3:] == ["bookworm", "/some where/system.tar", "https://mirror.example/debian"]
    assert f"--customize-hook={box.CUSTOMIZE.read_text()}" in argv
    assert f"--include={','.join(box.box_packages())}" in argv
    assert box.bootstrap(Path("/s"), None)[-1] == "/s"


def test_the_boot_sector_leads_to_both_partitions() -> None:
    sector = image.boot_sector(b"\x90" * 440)
    assert len(sector) == 512
    assert sector[510:] == b"\x55\xaa"
    boot, root = (struct.unpack("<B3sB3sII", sector[at : at + 16]) for at in (446, 462))
    assert (boot[0], boot[2], boot[4] * 512, boot[5] * 512) == (0x80, 0x0E, image.BOOT_AT, image.BOOT_SIZE)
    assert (root[0], root[2], root[4] * 512) == (0, 0x83, image.BOOT_AT + image.BOOT_SIZE)
    assert (root[4] + root[5]) * 512 == image.DISK_SIZE
    assert sector[478:510] == bytes(32)


def test_the_box_script_is_a_shell_script_that_names_only_its_own_root() -> None:
    script = box.CUSTOMIZE.read_text()
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0
    for line in script.splitlines():
        if line.startswith("rm "):
            assert '"$root"' in line


# --- KVM ----------------------------------------------------------------------------------------------------------


def test_the_first_process_is_a_program_that_begins_inside_itself() -> None:
    elf = accelerator.first_process()
    kind, machine, _, entry, headers_at = struct.unpack("<HHIQQ", elf[16:40])
    assert (elf[:4], kind, machine, headers_at) == (b"\x7fELF", 2, 62, 64)
    loaded_at, size = struct.unpack("<Q", elf[80:88])[0], struct.unpack("<Q", elf[96:104])[0]
    assert size == len(elf)
    code = elf[entry - loaded_at :]
    offset = struct.unpack("<i", code[13:17])[0]
    assert code[17 + offset :] == accelerator.SIGN  # what `lea rsi` points to


def test_initial_files_are_aligned_and_end_with_the_trailer() -> None:
    files = accelerator.initial_files(b"12345")
    assert len(files) % 4 == 0
    at, names = 0, []
    while at < len(files):
        fields = [int(files[at + 6 + i * 8 : at + 14 + i * 8], 16) for i in range(13)]
        assert files[at : at + 6] == b"070701"
        name = files[at + 110 : at + 110 + fields[11] - 1].decode()
        names.append(name)
        data_at = (at + 110 + fields[11] + 3) & ~3
        if name == "init":
            assert files[data_at : data_at + fields[6]] == b"12345"
        at = (data_at + fields[6] + 3) & ~3
    assert names == ["dev", "dev/console", "init", "TRAILER!!!"]


@pytest.fixture
def kvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A /dev/kvm that can be opened; what was tried on it."""
    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(accelerator, "KVM", device)
    tried: list[str] = []
    monkeypatch.setattr(accelerator, "guest_boots", lambda _kernel, accelerator: tried.append(accelerator))
    return tried


def test_kvm_is_chosen_only_where_a_guest_booted_and_tried_only_once(kvm: list[str], build: Path) -> None:
    driver = accelerator.choose(Path("kernel"))
    assert driver.name == "qemu"
    assert "no guest boots" in driver.why
    assert accelerator.choose(Path("kernel")) == driver
    assert kvm == ["kvm"]
    assert (build / "vm" / "driver").read_text().split()[0] == "qemu"  # what the Vagrantfile reads


def test_kvm_is_tried_again_when_the_machine_has_started_anew(kvm: list[str], build: Path) -> None:
    accelerator.choose(Path("kernel"))
    file = build / "vm" / "driver"
    file.write_text(file.read_text().replace(accelerator._boot(), "another"))
    accelerator.choose(Path("kernel"))
    assert kvm == ["kvm", "kvm"]


def test_kvm_that_works_is_chosen(kvm: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "guest_boots", lambda kernel, accelerator: True)  # noqa: ARG005
    assert accelerator.choose(Path("kernel")).name == "kvm"
    assert kvm == []


def test_the_users_choice_is_not_tried(kvm: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_VM_DRIVER", "kvm")
    assert accelerator.choose(Path("kernel")).name == "kvm"
    assert kvm == []
    monkeypatch.setenv("LANELAB_VM_DRIVER", "xen")
    with pytest.raises(InputError, match=r"LANELAB_VM_DRIVER: 'xen' is no driver\. Choose from: kvm, qemu"):
        accelerator.choose(None)


# --- libvirtd -----------------------------------------------------------------------------------------------------


def record(build: Path, **fields: Any) -> None:
    folder = build / "vm" / "libvirt"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "process.json").write_text(json.dumps(fields))


def test_a_process_that_has_got_the_number_since_is_not_ours_and_lives_on(build: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            record(build, pid=other.pid, started=libvirt._started(other.pid) - 1, driver="qemu")
            assert libvirt.ours() is None
            assert libvirt.stop() is False
            assert other.poll() is None
            record(build, pid=other.pid, started=libvirt._started(other.pid), driver="qemu")
            assert libvirt.ours() is not None
        finally:
            other.kill()


def test_no_record_or_a_broken_one_is_none_of_ours(build: Path) -> None:
    assert libvirt.ours() is None
    record(build, pid=1)
    assert libvirt.ours() is None


EMULATED = accelerator.Driver("qemu", "made")


def test_a_libvirtd_of_the_machines_own_is_used(monkeypatch: pytest.MonkeyPatch, build: Path) -> None:
    monkeypatch.setattr(libvirt, "answers", lambda uri: uri == libvirt.SYSTEM)
    monkeypatch.setattr(libvirt, "_start", None)  # nothing is started
    (build / "vm").mkdir(parents=True)
    (build / "vm" / "libvirt-uri").write_text("left over")
    assert libvirt.ensure(EMULATED, lambda _: None) == libvirt.SYSTEM
    assert not (build / "vm" / "libvirt-uri").exists()


def test_an_ordinary_user_without_libvirtd_is_told_what_an_administrator_can_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(libvirt, "answers", lambda _: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(VmError, match=r"only root can start one.*systemctl start libvirtd.*group libvirt"):
        libvirt.ensure(EMULATED, lambda _: None)


def test_of_the_disks_of_boxes_the_newest_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libvirt, "ours", lambda: libvirt.Daemon(1, 1, "qemu"))
    listed = " box_image_0_20.img  /x/1\n mine.img  /x/2\n box_image_0_30.img  /x/3\n box_image_0_10.img  /x/4\n"
    asked: list[tuple[str, ...]] = []

    def virsh(_uri: str, *words: str) -> str:
        asked.append(words)
        return listed

    monkeypatch.setattr(libvirt, "_virsh", virsh)
    libvirt.forget_old_boxes("box_image_")
    assert [words[-1] for words in asked[1:]] == ["box_image_0_10.img", "box_image_0_20.img"]


def test_libvirtds_places_are_all_in_the_folder(tmp_path: Path) -> None:
    libvirt_init.lay_out(tmp_path)
    for command in libvirt_init.mounts(tmp_path, hide_kvm=True):
        assert command[:2] == ["mount", "--bind"]
        assert Path(command[2]).is_relative_to(tmp_path)
        assert Path(command[2]).exists()
    assert "namespaces = []" in (tmp_path / "qemu.conf").read_text()


# --- Vagrant ------------------------------------------------------------------------------------------------------


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first on PATH; a test puts its `vagrant` there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    given = vagrant.environment()
    monkeypatch.setattr(vagrant, "environment", lambda: {**given, "PATH": f"{folder}:{given['PATH']}"})
    return folder


def program(folder: Path, script: str) -> None:
    (folder / "vagrant").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "vagrant").chmod(0o755)


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
    said = vagrant.run(["up", "a b"], told.append, what="trying", log_name="try")
    assert [line.split(" s  ")[1] for line in told] == ["client is made", "client boots", "router can be reached"]
    assert said == (build / "vm" / "try.log").read_text()
    assert said.endswith("args: up a b\n")


def test_a_failure_shows_the_last_lines_and_names_the_log(stand_in: Path, build: Path) -> None:
    program(stand_in, "seq 1 40; echo 'it broke' >&2; exit 3")
    with pytest.raises(VmError, match="trying failed: vagrant up ended with status 3") as caught:
        vagrant.run(["up"], lambda _: None, what="trying", log_name="try")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith(f"{build / 'vm' / 'try.log'}")
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
        vagrant.run(["up"], lambda _: None, what="trying", log_name="try")


INTERRUPTED = """
import signal, sys
from driver.vm import vagrant
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
folder = sys.argv[1]
given = vagrant.environment()
vagrant.environment = lambda: {**given, "PATH": f"{folder}:{given['PATH']}"}
try:
    vagrant.run(["up"], lambda _: None, what="trying", log_name="try")
except KeyboardInterrupt:
    sys.exit(77)
"""


def await_file(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.02)


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


def test_a_second_lanelab_is_told_who_is_busy() -> None:
    with (
        vagrant.only_one("up"),
        pytest.raises(VmError, match=rf"busy: lanelab vm up, process {os.getpid()}. Wait"),
        vagrant.only_one("destroy"),
    ):
        pass
    with vagrant.only_one("destroy"):
        pass


def test_reads_the_changes_from_ansibles_recap() -> None:
    said = (
        "client                     : ok=8    changed=0    unreachable=0    failed=0    skipped=3\n"
        "server                     : ok=8    changed=12   unreachable=0    failed=0    skipped=3\n"
    )
    assert vagrant.changes(said) == {"client": 0, "server": 12}


# --- the inventory ------------------------------------------------------------------------------------------------


def test_an_inventory_comes_from_what_vagrant_says(tmp_path: Path) -> None:
    known = inventory.read_ssh_config(SSH_CONFIG + SSH_CONFIG.replace("Host client", "Host server"))
    found = {
        name: {**inventory.ansible_variables(known[name]), "lanelab_link_interface": "eth1"}
        for name in ("client", "router", "server")
    }
    file = tmp_path / "inventory.yml"
    file.write_text(yaml.safe_dump(inventory.inventory(found)))
    hosts = read_inventory(file)
    assert (hosts.client.address, hosts.client.port, hosts.client.user) == ("192.168.231.10", 22, "vagrant")
    assert hosts.client.key == "/home/me/.vagrant.d/a key"
    assert (hosts.router.address, hosts.router.port) == ("192.168.231.11", 2222)
    assert hosts.client.interfaces == {"router": "eth1"}


def addresses(**having: str) -> str:
    return json.dumps([{"ifname": name, "addr_info": [{"local": address}]} for name, address in having.items()])


def test_interfaces_are_found_by_their_addresses() -> None:
    said = addresses(lo="127.0.0.1", ens5="192.168.231.9", ens6="10.20.1.254", ens7="10.20.2.254")
    assert inventory.interfaces("router", said) == {
        "lanelab_client_interface": "ens6",
        "lanelab_server_interface": "ens7",
    }
    with pytest.raises(VmError, match=r"client has no interface with 10\.20\.1\.2; it has 127\.0\.0\.1"):
        inventory.interfaces("client", addresses(lo="127.0.0.1"))


def test_the_addresses_are_those_of_the_vagrantfile_and_of_the_script() -> None:
    vagrantfile = (PROJECT / "Vagrantfile").read_text()
    by_hand = (PROJECT / "driver" / "vm" / "guest" / "by-hand").read_text()
    for known in inventory.LINK_ADDRESSES.values():
        for address in known:
            assert f'"{address}"' in vagrantfile
            assert address in by_hand


def test_without_machines_that_are_up_there_is_no_inventory() -> None:
    with pytest.raises(VmError, match=r"not up\. Bring them up with: lanelab vm up"):
        inventory.hosts()

"""Virtual machines, without any: what is made from what is known."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

from driver.bed.ssh.hosts import read_inventory
from model.errors import InputError, VmError
from model.paths import PROJECT
from tests.unit.vm_stand_ins import own_place
from vm import accelerator, box, image, inventory, kept, login_key, settings

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
    return own_place(tmp_path, monkeypatch)


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
    sources = [*(PROJECT / "vm").rglob("*"), PROJECT / "Vagrantfile"]
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


# --- the login key ------------------------------------------------------------------------------------------------


def test_another_box_has_the_same_key_and_no_box_has_its_private_half(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = box.wanted_key()
    private = login_key.vagrant_home() / login_key.NAME
    assert private.stat().st_mode & 0o077 == 0
    before = private.read_text()
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "another"))
    assert box.wanted_key() == first
    assert private.read_text() == before
    (tmp_path / box.KEY_FILE).write_text("x")
    (tmp_path / "disk").write_text("a disk")
    box._pack(tmp_path, tmp_path / "disk")
    with tarfile.open(tmp_path / "lanelab.box") as tar:
        assert sorted(tar.getnames()) == ["box.img", box.KEY_FILE, "metadata.json"]


def test_the_vagrantfile_logs_in_with_that_key() -> None:
    assert f'Vagrant.user_data_path.join("{login_key.NAME}")' in (PROJECT / "Vagrantfile").read_text()


def test_the_vagrantfile_gives_names_the_same_prefix(build: Path) -> None:
    expression = "Digest::SHA256.hexdigest(File.realdirpath(BUILD))[0, 6]"
    assert expression in (PROJECT / "Vagrantfile").read_text()
    if not shutil.which("ruby"):
        pytest.skip("there is no ruby")
    build.mkdir()
    code = f"BUILD = ARGV[0]; print {expression}"
    said = subprocess.run(["ruby", "-rdigest", "-e", code, str(build)], capture_output=True, text=True, check=True)
    assert kept.prefix() == f"lanelab-{said.stdout}-"


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


# --- the inventory ------------------------------------------------------------------------------------------------


def test_an_inventory_comes_from_what_vagrant_says(tmp_path: Path) -> None:
    known = inventory.read_ssh_config(
        SSH_CONFIG + SSH_CONFIG.replace("Host client", "Host server").replace("231.10", "231.12")
    )
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
    by_hand = (PROJECT / "vm" / "guest" / "by-hand").read_text()
    for known in inventory.LINK_ADDRESSES.values():
        for address in known:
            assert f'"{address}"' in vagrantfile
            assert address in by_hand


def test_without_machines_that_are_up_there_is_no_inventory() -> None:
    with pytest.raises(VmError, match=r"not up\. Bring them up with: lanelab vm up"):
        inventory.hosts()


# --- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DRIVER", "foo"),
        ("MEMORY", "lots"),
        ("MEMORY", "0"),
        ("CPUS", "-1"),
        ("CPUS", "1.5"),
        ("MANAGEMENT", "banana"),
        ("MANAGEMENT", "192.168.232.5/24"),
        ("MANAGEMENT", "192.168.232.0/31"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"^LANELAB_VM_{name}: '{value}' ") as caught:
        settings.require({f"LANELAB_VM_{name}": value})
    assert caught.value.remedy


def test_settings_that_can_be_used_are() -> None:
    settings.require({})
    given = {"DRIVER": "qemu", "MEMORY": "512", "CPUS": "4", "MANAGEMENT": "192.168.232.0/24"}
    settings.require({f"LANELAB_VM_{name}": value for name, value in given.items()})
    settings.require({f"LANELAB_VM_{name}": "" for name in given})

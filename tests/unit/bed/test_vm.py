"""Virtual machines, without any: what is made from what is known."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError, VmError
from lanelab.driver.base.paths import PACKAGE, PROJECT
from lanelab.driver.bed.ssh.hosts import read_inventory
from lanelab.driver.bed.vagrant import accelerator, box, inventory, libvirt, settings, vagrant
from tests.kit.vm_stand_ins import own_place

RUN = libvirt.RUN  # before a test has its own

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
    sources = [*(PACKAGE / "driver" / "bed" / "vagrant").rglob("*"), PROJECT / "Vagrantfile"]
    text = "\n".join(source.read_text() for source in sources if source.is_file() and source.suffix != ".pyc")
    for package in ("linux-image-amd64", "openssh-server", "isc-dhcp-client", "apache2-bin", "chromium-driver"):
        assert package not in text


def test_bootstrap_passes_the_mirror_and_the_script_as_words() -> None:
    argv = box.bootstrap(Path("/some where/system.tar"), "https://mirror.example/debian")
    assert argv[-3:] == ["bookworm", "/some where/system.tar", "https://mirror.example/debian"]
    assert f"--customize-hook={box.CUSTOMIZE.read_text()}" in argv
    assert f"--include={','.join(box.box_packages())}" in argv
    assert box.bootstrap(Path("/s"), None)[-1] == "/s"


def test_the_box_script_is_a_shell_script_that_names_only_its_own_root() -> None:
    for script in (box.CUSTOMIZE.read_text(), box.PACK.read_text()):
        assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0
    for line in box.CUSTOMIZE.read_text().splitlines():
        if line.startswith("rm "):
            assert '"$root"' in line


def test_the_vagrantfile_gives_names_the_same_prefix(build: Path) -> None:
    expression = "Digest::SHA256.hexdigest(File.realdirpath(BUILD))[0, 6]"
    assert expression in (PROJECT / "Vagrantfile").read_text()
    digest = hashlib.sha256(os.path.realpath(build).encode()).hexdigest()  # what that expression says
    assert libvirt.prefix() == f"lanelab-{digest[:6]}-"


def test_the_vagrantfile_and_lanelab_mean_the_same_files(build: Path) -> None:
    text = (PROJECT / "Vagrantfile").read_text()
    assert libvirt.own_uri().endswith(f"/{libvirt.prefix().split('-')[1]}/libvirt-sock")
    assert f'"{RUN}/#{{CHECKOUT}}/libvirt-sock"' in text
    assert f'File.join(DOTFILES, "{vagrant.note().name}")' in text
    assert f'File.join(BUILD, "vm", "{accelerator._file().name}")' in text
    assert accelerator._file() == build / "vm" / "driver"
    assert f'box.join("{box.KEY_FILE}")' in text
    for suffix in libvirt.KERNELS:
        assert f'"{suffix[1:]}"' in text
        assert suffix[1:] in box.PACK.read_text()


# --- KVM ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def made(tmp_path: Path) -> box.Box:
    return box.Box(tmp_path)


@pytest.fixture
def kvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A /dev/kvm that can be opened, and on which no guest boots; what was tried on it."""
    device = tmp_path / "kvm"
    device.touch()
    monkeypatch.setattr(accelerator, "DEVICE", device)
    tried: list[str] = []
    monkeypatch.setattr(accelerator, "guest_boots", lambda _box, accelerator: tried.append(accelerator))
    return tried


def test_kvm_is_chosen_only_where_a_guest_booted_and_tried_only_once(
    kvm: list[str], made: box.Box, build: Path
) -> None:
    driver = accelerator.choose(made)
    assert driver.name == "qemu"
    assert "no guest boots" in driver.why
    assert accelerator.choose(made) == driver
    assert kvm == ["kvm"]
    assert (build / "vm" / "driver").read_text().split()[0] == "qemu"  # what the Vagrantfile reads


def test_kvm_is_tried_again_when_the_machine_has_started_anew(kvm: list[str], made: box.Box, build: Path) -> None:
    accelerator.choose(made)
    file = build / "vm" / "driver"
    file.write_text(file.read_text().replace(accelerator._boot(), "another"))
    accelerator.choose(made)
    assert kvm == ["kvm", "kvm"]


@pytest.mark.usefixtures("kvm")
def test_kvm_that_works_is_chosen(made: box.Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "guest_boots", lambda _box, accelerator: accelerator == "kvm")
    assert accelerator.choose(made).name == "kvm"


def test_without_a_kernel_to_try_it_with_nothing_is_remembered(kvm: list[str], build: Path) -> None:
    assert "lanelab vm box" in accelerator.choose(None).why
    assert kvm == []
    assert not (build / "vm" / "driver").exists()


def test_a_kvm_that_is_not_there_is_not_tried(kvm: list[str], made: box.Box) -> None:
    accelerator.DEVICE.unlink()
    assert accelerator.choose(made).name == "qemu"
    assert kvm == []


def test_the_users_choice_is_not_tried(kvm: list[str], made: box.Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_VM_DRIVER", "kvm")
    assert accelerator.choose(made).name == "kvm"
    assert kvm == []
    monkeypatch.setenv("LANELAB_VM_DRIVER", "xen")
    with pytest.raises(InputError, match=r"LANELAB_VM_DRIVER: 'xen' is no driver\. Choose from: kvm, qemu"):
        accelerator.choose(None)


@pytest.mark.parametrize(
    ("console", "boots"),
    [
        ("Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000000", True),
        ("Kernel panic - not syncing: VFS: Unable to mount root fs", False),
        ("", False),
    ],
)
def test_a_guest_boots_when_its_first_process_ends_well(
    made: box.Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, console: str, boots: bool
) -> None:
    qemu = tmp_path / "qemu-system-x86_64"
    qemu.write_text(f"#!/bin/sh\necho 'Linux version'; echo '{console}'\n")
    qemu.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert accelerator.guest_boots(made, "kvm") is boots


def test_a_guest_that_hangs_does_not_boot(made: box.Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qemu = tmp_path / "qemu-system-x86_64"
    qemu.write_text("#!/bin/sh\nexec sleep 600\n")
    qemu.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert not accelerator.guest_boots(made, "kvm", limit_s=0.5)


# --- the inventory ------------------------------------------------------------------------------------------------


def test_an_inventory_comes_from_what_vagrant_says(build: Path) -> None:
    (build / "vm").mkdir(parents=True)
    both = SSH_CONFIG + SSH_CONFIG.replace("Host client", "Host server").replace("231.10", "231.12")
    inventory.write(both)
    hosts = read_inventory(inventory.inventory_file())
    config = str(inventory.ssh_config_file().absolute())
    assert (hosts.client.address, hosts.client.options) == ("client", ("-F", config))
    assert Path(config).read_text() == both
    assert inventory.addresses() == {"client": "192.168.231.10", "router": "192.168.231.11", "server": "192.168.231.12"}
    assert hosts.client.interfaces == {"router": "eth1"}
    assert hosts.router.interfaces == {"client": "eth1", "server": "eth2"}


def test_a_folder_with_a_blank_is_one_word_of_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "a b"))
    test_an_inventory_comes_from_what_vagrant_says(tmp_path / "a b")


def test_interfaces_of_another_box_are_left_to_the_bed(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may have other names."""
    (build / "vm").mkdir(parents=True)
    monkeypatch.setenv("LANELAB_VM_BOX", "another")
    inventory.write(SSH_CONFIG + SSH_CONFIG.replace("Host client", "Host server"))
    assert read_inventory(inventory.inventory_file()).router.interfaces == {}


def test_a_machine_that_vagrant_does_not_name_is_missed(build: Path) -> None:
    (build / "vm").mkdir(parents=True)
    with pytest.raises(VmError, match="does not say how to reach server"):
        inventory.write(SSH_CONFIG)
    assert not inventory.inventory_file().exists()


def test_interfaces_are_in_the_order_of_the_vagrantfile_and_addresses_those_of_the_script() -> None:
    vagrantfile = (PROJECT / "Vagrantfile").read_text()
    by_hand = (PACKAGE / "driver" / "bed" / "vagrant" / "guest" / "by-hand").read_text()
    networks = {"client": {"client": "10.20.1.2"}, "router": {"client": "10.20.1.254", "server": "10.20.2.254"}}
    networks["server"] = {"server": "10.20.2.2"}
    for name, own in networks.items():
        listed = ", ".join(f'"{network}" => "{address}"' for network, address in own.items())
        assert f"networks: {{ {listed} }}" in vagrantfile.partition(f'"{name}" => {{ memory')[2].splitlines()[0]
        assert len(inventory.INTERFACES[name]) == len(own)
        assert list(inventory.INTERFACES[name].values()) == ["eth1", "eth2"][: len(own)]
    for address in ("10.20.1.2", "10.20.1.254", "10.20.2.2"):
        assert address in by_hand


def test_a_bed_sets_the_clocks_of_virtual_machines_and_of_no_others(build: Path) -> None:
    (build / "vm").mkdir(parents=True)
    inventory.write(SSH_CONFIG + SSH_CONFIG.replace("Host client", "Host server"))
    assert [host.sets_clock for _, host in inventory.hosts()] == [True] * 3
    assert [host.sets_clock for _, host in read_inventory(inventory.inventory_file())] == [False] * 3


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

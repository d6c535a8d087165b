"""A libvirtd of lanelab's own, without any machine: what it touches, and what is left of it."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.errors import VmError
from lanelab.driver.bed.vagrant import host, libvirt
from tests.vm.conftest import firewall, of_this_machine

NETWORK = (
    "<network><name>{name}</name><bridge name='{bridge}'/><forward mode='nat'/>"
    "<ip address='192.168.{third}.1' netmask='255.255.255.0'/></network>"
)
POOL = "<pool type='dir'><name>default</name><target><path>/var/lib/libvirt/images</path></target></pool>"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A build folder; this machine is as before when the test is over."""
    if os.geteuid() != 0 or libvirt.answers(libvirt.SYSTEM):
        pytest.skip("needs root, and a machine whose own libvirtd does not run")
    before = of_this_machine()
    folder = tmp_path / "build"
    (folder / "vm").mkdir(parents=True)
    monkeypatch.setenv("LANELAB_BUILD", str(folder))
    try:
        yield folder
    finally:
        libvirt.stop(print)
    assert of_this_machine() == before


def start() -> str:
    """One for this build folder, which has no machines; its address."""
    libvirt.ensure(None, "qemu", print)
    assert libvirt.ours()
    return libvirt.own_uri()


def route_to(uri: str, folder: Path, number: int) -> None:
    """A network with a way out, as Vagrant makes one: for it libvirtd changes firewall and routing."""
    file = folder / "network.xml"
    name = f"{libvirt.prefix()}mgmt"
    file.write_text(NETWORK.format(name=name, bridge=f"virbr7{number}", third=230 + number))
    assert libvirt.virsh(uri, "net-define", str(file)) is not None
    assert libvirt.virsh(uri, "net-start", name) is not None


def make_pool(uri: str, folder: Path) -> None:
    file = folder / "pool.xml"
    file.write_text(POOL)
    for words in (("pool-define", str(file)), ("pool-build", "default"), ("pool-start", "default")):
        assert libvirt.virsh(uri, *words) is not None, words


def test_the_machine_is_as_before_when_it_has_ended(build: Path) -> None:
    uri = start()
    make_pool(uri, build)
    route_to(uri, build, 8)
    assert host.settings()["ip_forward"] == "1"
    assert any("LIBVIRT" in line for line in firewall("iptables"))
    libvirt.stop(print)
    assert libvirt.ours() is None


def test_rules_that_somebody_adds_meanwhile_stay(build: Path) -> None:
    rule = ["INPUT", "-s", "192.0.2.1", "-j", "DROP"]
    route_to(start(), build, 8)
    subprocess.run(["iptables", "-I", *rule], check=True)
    try:
        libvirt.stop(print)
        assert any("192.0.2.1" in line for line in firewall("iptables"))
    finally:
        subprocess.run(["iptables", "-D", *rule], check=True)


def test_one_that_was_killed_leaves_nothing_that_the_next_stop_does_not_undo(build: Path) -> None:
    route_to(start(), build, 8)
    daemon = libvirt.ours()
    assert daemon is not None
    os.kill(daemon.pid, signal.SIGKILL)
    os.waitpid(daemon.pid, 0)
    assert Path("/sys/class/net/virbr78").exists()
    assert libvirt.ours() is None
    libvirt.stop(print)


def test_a_second_build_folder_is_refused_while_one_runs(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks of both would have the same addresses."""
    first = start()
    make_pool(first, build)
    monkeypatch.setenv("LANELAB_BUILD", str(build.parent / "other"))
    with pytest.raises(VmError, match=rf"another build folder are up \({build}"):
        start()
    libvirt.stop(print)  # not that of the other
    assert libvirt.virsh(first, "pool-list", "--name")
    monkeypatch.setenv("LANELAB_BUILD", str(build))


def test_one_whose_folder_was_removed_is_replaced(build: Path) -> None:
    uri = start()
    make_pool(uri, build)
    route_to(uri, build, 8)
    first = libvirt.ours()
    shutil.rmtree(build / "vm")
    libvirt.ensure(libvirt.PRIVATE, "qemu", print)
    assert libvirt.ours() != first
    make_pool(uri, build)
    route_to(uri, build, 8)


def test_what_it_knows_it_knows_again(build: Path) -> None:
    uri = start()
    make_pool(uri, build)
    libvirt.stop(print)
    libvirt.ensure(libvirt.PRIVATE, "qemu", print)
    assert (libvirt.virsh(uri, "pool-list", "--name") or "").split() == ["default"]


def test_whatever_is_left_of_machines_is_removed_and_nothing_of_others(build: Path) -> None:
    uri = start()
    make_pool(uri, build)
    route_to(uri, build, 8)
    ours, others = f"{libvirt.prefix()}client.img", "lanelab-another-client.img"
    for name in (ours, others):
        assert libvirt.virsh(uri, "vol-create-as", "default", name, "1M", "--format", "qcow2") is not None
    assert libvirt.remove_all(uri) == [ours, f"{libvirt.prefix()}mgmt"]
    assert others in (libvirt.virsh(uri, "vol-list", "default") or "")

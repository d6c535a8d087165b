"""A libvirtd of lanelab's own, without any machine: what it touches, and what is left of it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vm.conftest import of_this_machine
from vm import host, kept, libvirt
from vm.accelerator import Driver

EMULATED = Driver("qemu", "it is there everywhere")
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


def route_to(uri: str, folder: Path, number: int) -> None:
    """A network with a way out, as Vagrant makes one: for it libvirtd changes firewall and routing."""
    file = folder / "network.xml"
    name = f"{kept.prefix()}mgmt"
    file.write_text(NETWORK.format(name=name, bridge=f"virbr7{number}", third=230 + number))
    assert libvirt.virsh(uri, "net-define", str(file)) is not None
    assert libvirt.virsh(uri, "net-start", name) is not None


def make_pool(uri: str, folder: Path) -> None:
    file = folder / "pool.xml"
    file.write_text(POOL)
    for words in (("pool-define", str(file)), ("pool-build", "default"), ("pool-start", "default")):
        assert libvirt.virsh(uri, *words) is not None, words


def test_the_machine_is_as_before_when_it_has_ended(build: Path) -> None:
    uri = libvirt.ensure(EMULATED, print)
    make_pool(uri, build)
    route_to(uri, build, 8)
    assert host.settings()["ip_forward"] == "1"
    assert host.chains()
    assert libvirt.stop(print)


def test_one_that_was_killed_leaves_nothing_that_the_next_stop_does_not_undo(build: Path) -> None:
    route_to(libvirt.ensure(EMULATED, print), build, 8)
    daemon = libvirt.ours()
    assert daemon is not None
    os.kill(daemon.pid, signal.SIGKILL)
    os.waitpid(daemon.pid, 0)
    assert Path("/sys/class/net/virbr78").exists()
    assert not libvirt.stop(print)


def test_a_second_build_folder_has_another_and_the_last_to_end_restores(
    build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = libvirt.ensure(EMULATED, print)
    make_pool(first, build)
    route_to(first, build, 8)
    other = build.parent / "other"
    (other / "vm").mkdir(parents=True)
    monkeypatch.setenv("LANELAB_BUILD", str(other))
    second = libvirt.ensure(EMULATED, print)
    try:
        assert second != first
        assert libvirt.virsh(second, "pool-list", "--all", "--name").strip() == ""  # type: ignore[union-attr]
        make_pool(second, other)
        route_to(second, other, 9)
    finally:
        libvirt.stop(print)
    assert libvirt.answers(first)
    assert host.settings()["ip_forward"] == "1"
    monkeypatch.setenv("LANELAB_BUILD", str(build))


def test_one_whose_folder_was_removed_is_replaced(build: Path) -> None:
    uri = libvirt.ensure(EMULATED, print)
    make_pool(uri, build)
    route_to(uri, build, 8)
    shutil.rmtree(build / "vm")
    (build / "vm").mkdir()
    again = libvirt.ensure(EMULATED, print)
    assert again != uri
    make_pool(again, build)
    route_to(again, build, 8)


def test_what_it_knows_it_knows_again(build: Path) -> None:
    uri = libvirt.ensure(EMULATED, print)
    make_pool(uri, build)
    libvirt.stop(print)
    uri = libvirt.ensure(EMULATED, print)
    assert (libvirt.virsh(uri, "pool-list", "--name") or "").split() == ["default"]


def test_whatever_is_left_of_machines_is_removed_and_nothing_of_others(build: Path) -> None:
    uri = libvirt.ensure(EMULATED, print)
    make_pool(uri, build)
    route_to(uri, build, 8)
    ours, others = f"{kept.prefix()}client.img", "lanelab-another-client.img"
    for name in (ours, others):
        assert libvirt.virsh(uri, "vol-create-as", "default", name, "1M", "--format", "qcow2") is not None
    assert kept.any_in_own()
    assert kept.remove_all(uri) == [ours, f"{kept.prefix()}mgmt"]
    assert not kept.any_in_own()
    assert others in (libvirt.virsh(uri, "vol-list", "default") or "")

"""The libvirtd of virtual machines, without one: which is used, what is done to this machine, and what it keeps."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from model.errors import VmError
from tests.unit.vm_stand_ins import EMULATED, Virsh, own_place, told
from vm import accelerator, host, kept, libvirt, libvirt_init


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_place(tmp_path, monkeypatch)


# --- libvirtd -----------------------------------------------------------------------------------------------------


def record(**fields: Any) -> None:
    host.FOLDER.mkdir(exist_ok=True)
    libvirt._record().write_text(json.dumps(fields))


def test_a_process_that_has_got_the_number_since_is_not_ours_and_lives_on() -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            record(pid=other.pid, started=libvirt._started(other.pid) - 1, driver="qemu")
            assert libvirt.ours() is None
            assert libvirt.stop(told) is False
            assert other.poll() is None
            record(pid=other.pid, started=libvirt._started(other.pid), driver="qemu")
            assert libvirt.ours() is not None
        finally:
            other.kill()


def test_no_record_or_a_broken_one_is_none_of_ours() -> None:
    assert libvirt.ours() is None
    record(pid=1)
    assert libvirt.ours() is None


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


def test_of_the_disks_of_boxes_the_newest_stays_and_what_machines_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another checkout may use the same libvirtd, with machines made from an older box."""
    listed = "box_image_0_20.img  /x/1\n mine.img  /x/2\n box_image_0_30.img  /x/3\n box_image_0_10.img  /x/4\n"
    below = "<volume><backingStore><path>/x/box_image_0_20.img</path></backingStore></volume>"
    virsh = Virsh({("vol-list", "default"): listed, ("vol-dumpxml", "--pool", "default", "mine.img"): below})
    monkeypatch.setattr(kept, "virsh", virsh)
    kept.forget_old_boxes("the system's", "box_image_")
    assert [words[-1] for words in virsh.asked if words[0] == "vol-delete"] == ["box_image_0_10.img"]


def test_what_libvirtd_writes_is_all_in_the_folder(tmp_path: Path) -> None:
    libvirt_init.lay_out(tmp_path)
    covered = []
    for command in libvirt_init.mounts(tmp_path, hide_kvm=True):
        assert command[:2] == ["mount", "--bind"]
        assert Path(command[2]).is_relative_to(tmp_path)
        assert Path(command[2]).exists()
        covered.append(Path(command[3]))
    assert "namespaces = []" in (tmp_path / "etc" / "qemu.conf").read_text()
    words = libvirt_init.libvirtd_command()
    written = [  # seen with libvirtd 9.0
        "/etc/libvirt/qemu", "/etc/libvirt/storage", "/etc/libvirt/nwfilter", "/etc/libvirt/secrets", "/run/libvirt",
        "/var/lib/libvirt/images", "/var/log/libvirt", "/var/cache/libvirt",
        words[words.index("--pid-file") + 1], words[words.index("--config") + 1],
    ]  # fmt: skip
    assert not [place for place in written if not any(Path(place).is_relative_to(by) for by in covered)]


RUNNING = libvirt.Daemon(os.getpid(), libvirt._started(os.getpid()), "kvm")


@pytest.fixture
def one_of_ours(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A libvirtd of ours runs; what is done to it."""
    done: list[str] = []
    there = [RUNNING]
    monkeypatch.setattr(libvirt, "ours", lambda: there[0] if there else None)
    monkeypatch.setattr(libvirt.Daemon, "is_lost", lambda _: False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def stop(_: object) -> None:
        done.append("stop")
        there.clear()

    def start(driver: accelerator.Driver, _: object) -> libvirt.Daemon:
        done.append(f"start {driver.name}")
        return RUNNING

    monkeypatch.setattr(libvirt, "stop", stop)
    monkeypatch.setattr(libvirt, "_start", start)
    monkeypatch.setattr(libvirt, "answers", lambda _: False)
    (libvirt.own_folder()).mkdir(parents=True)
    return done


def test_one_with_machines_or_too_busy_to_say_is_not_ended_for_another_driver(
    monkeypatch: pytest.MonkeyPatch, one_of_ours: list[str]
) -> None:
    for machines_there in ("client\n", None):
        monkeypatch.setattr(libvirt, "virsh", Virsh({("list", "--name"): machines_there}))
        assert libvirt.ensure(EMULATED, told) == RUNNING.uri
        assert one_of_ours == []
    monkeypatch.setattr(libvirt, "virsh", Virsh({}))
    libvirt.ensure(EMULATED, told)
    assert one_of_ours == ["stop", "start qemu"]


def test_one_whose_folder_is_gone_is_ended(monkeypatch: pytest.MonkeyPatch, one_of_ours: list[str]) -> None:
    monkeypatch.setattr(libvirt.Daemon, "is_lost", lambda _: True)
    libvirt.ensure(EMULATED, told)
    assert one_of_ours == ["stop", "start qemu"]


def test_machines_are_asked_for_only_where_they_are(monkeypatch: pytest.MonkeyPatch, one_of_ours: list[str]) -> None:
    """Vagrant forgets machines that it does not find."""
    monkeypatch.setattr(libvirt, "ours", lambda: None)
    monkeypatch.setattr(libvirt, "answers", lambda uri: uri == libvirt.SYSTEM)
    assert libvirt.ensure(EMULATED, told, home=libvirt.OWN) == RUNNING.uri
    assert one_of_ours == ["start qemu"]
    assert libvirt.ensure(EMULATED, told, home=libvirt.SYSTEM) == libvirt.SYSTEM
    monkeypatch.setattr(libvirt, "answers", lambda _: False)
    with pytest.raises(VmError, match=r"does not answer at qemu:///system. Start it"):
        libvirt.ensure(EMULATED, told, home=libvirt.SYSTEM)


def test_what_the_machine_was_like_is_written_down_once_and_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    routing = tmp_path / "ipv4"
    for name, value in {"ip_forward": "0", "conf/all/accept_redirects": "0", "conf/eth0/forwarding": "0"}.items():
        (routing / name).parent.mkdir(parents=True, exist_ok=True)
        (routing / name).write_text(value + "\n")
    monkeypatch.setattr(host, "ROUTING", routing)
    rules = ["-P INPUT ACCEPT", "-N LIBVIRT_OLD"]
    run: list[tuple[str, ...]] = []

    def said(*argv: str) -> str:
        run.append(argv)
        return "\n".join(rules) if argv[0] == "iptables" and argv[4:] == ("filter", "-S") else ""

    monkeypatch.setattr(host, "_said", said)
    lines: list[str] = []
    with host.locked() as folder:
        host.remember(folder, [str(tmp_path / "made")])
        (tmp_path / "made").mkdir()
        rules += ["-N LIBVIRT_INP", "-A INPUT -j LIBVIRT_INP", "-A LIBVIRT_INP -i virbr0 -j ACCEPT"]
        for name in ("ip_forward", "conf/eth0/forwarding"):
            (routing / name).write_text("1\n")
        host.remember(folder, [])
        run.clear()
        host.restore(folder, lines.append, bridges=True)
        host.restore(folder, lines.append, bridges=True)
    assert [argv[5:] for argv in run if "-S" not in argv] == [
        ("-D", "INPUT", "-j", "LIBVIRT_INP"), ("-F", "LIBVIRT_INP"), ("-X", "LIBVIRT_INP"),
    ]  # fmt: skip
    assert (routing / "ip_forward").read_text().strip() == "0"
    assert lines == ["this machine's net.ipv4.ip_forward, net.ipv4.conf.eth0.forwarding as before"]
    assert not (tmp_path / "made").exists()

"""The libvirtd of virtual machines, without one: which is used, what is done to this machine, and what it keeps."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.errors import VmError
from lanelab.driver.bed.vagrant import host, libvirt
from tests.kit.vm_stand_ins import Virsh, own_place, told


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return own_place(tmp_path, monkeypatch)


# --- libvirtd -----------------------------------------------------------------------------------------------------


def note(pid: int, folder: Path | None = None) -> None:
    libvirt.RUN.mkdir(exist_ok=True)
    known = {"folder": str(folder or libvirt.own_folder()), "driver": "qemu", "before": host.state(), "pid": pid}
    libvirt._note().write_text(json.dumps(known))


@pytest.fixture
def one_of_ours(monkeypatch: pytest.MonkeyPatch, build: Path) -> list[str]:
    """A libvirtd of ours runs; what is done to it."""
    done: list[str] = []
    running = [libvirt.Daemon(str(libvirt.own_folder()), "kvm", host.state(), os.getpid())]
    monkeypatch.setattr(libvirt, "_noted", lambda: running[0] if running else None)
    monkeypatch.setattr(libvirt.Daemon, "runs", lambda _: True)
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    def stop(_: object) -> None:
        done.append("stop")
        running.clear()

    monkeypatch.setattr(libvirt, "stop", stop)
    monkeypatch.setattr(libvirt, "_start", lambda driver, _: done.append(f"start {driver}"))
    monkeypatch.setattr(libvirt, "virsh", lambda *_: None)
    libvirt.own_folder().mkdir(parents=True)
    libvirt.RUN.mkdir()
    libvirt._link().symlink_to(build)
    return done


def test_a_process_that_has_got_the_number_since_is_not_ours_and_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libvirt, "virsh", Virsh({}))
    argv = ["unshare", "-c", "read _", str(libvirt.own_folder()), "qemu"]
    with (
        subprocess.Popen(["sleep", "60"]) as other,
        subprocess.Popen(argv, executable="/bin/sh", stdin=subprocess.PIPE) as same,
    ):
        try:
            note(other.pid)
            assert libvirt.ours() is None
            libvirt.stop(told)
            assert other.poll() is None
            note(same.pid)
            assert libvirt.ours() is not None
        finally:
            other.kill()
            same.kill()


def test_no_note_or_a_broken_one_is_none_of_ours() -> None:
    assert libvirt.ours() is None
    libvirt.RUN.mkdir()
    libvirt._note().write_text('{"pid": 1}')
    assert libvirt.ours() is None


def test_a_libvirtd_of_the_machines_own_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libvirt, "answers", lambda home: home == libvirt.SYSTEM)
    monkeypatch.setattr(libvirt, "_start", lambda *_: pytest.fail("another one is started"))
    libvirt.ensure(None, "qemu", told)


def test_an_ordinary_user_without_libvirtd_is_told_what_an_administrator_can_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(libvirt, "answers", lambda _: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(VmError, match=r"only root can start one.*systemctl start libvirtd.*group libvirt"):
        libvirt.ensure(None, "qemu", told)


def test_of_the_disks_of_boxes_the_newest_stays_and_what_machines_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another checkout may use the same libvirtd, with machines made from an older box."""
    listed = "box_image_0_20.img  /x/1\n mine.img  /x/2\n box_image_0_30.img  /x/3\n box_image_0_10.img  /x/4\n"
    below = "<volume><backingStore><path>/x/box_image_0_20.img</path></backingStore></volume>"
    virsh = Virsh({("vol-list", "default"): listed, ("vol-dumpxml", "--pool", "default", "mine.img"): below})
    monkeypatch.setattr(libvirt, "virsh", virsh)
    libvirt.forget_old_boxes("the system's", "box_image_")
    assert [words[-1] for words in virsh.asked if words[0] == "vol-delete"] == ["box_image_0_10.img"]


def test_whatever_has_our_names_is_removed_and_nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, others, kernel = f"{libvirt.prefix()}client.img", "lanelab-another-client.img", f"{libvirt.prefix()}1-vmlinuz"
    virsh = Virsh({("vol-list", "default"): f"{ours}  /x/1\n {others}  /x/2\n {kernel}  /x/3\n"})
    monkeypatch.setattr(libvirt, "virsh", virsh)
    assert libvirt.remove_all("the system's") == [ours]
    assert [words[-1] for words in virsh.asked if words[0] == "vol-delete"] == [ours, kernel]


def test_the_script_puts_a_folder_in_the_place_of_all_that_libvirtd_writes() -> None:
    script = libvirt.PROGRAM.read_text()
    assert subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode == 0
    places = next(line for line in script.splitlines() if line.startswith("for place in"))
    assert places == f"for place in {' '.join(host.PLACES)}; do"
    command = next(line for line in script.splitlines() if line.startswith("libvirtd "))
    written = [  # seen with libvirtd 9.0
        "/etc/libvirt/qemu", "/etc/libvirt/storage", "/etc/libvirt/nwfilter", "/etc/libvirt/secrets", "/run/libvirt",
        "/var/lib/libvirt/images", "/var/log/libvirt", "/var/cache/libvirt",
        *(word for word in command.split() if word.startswith("/")),
    ]  # fmt: skip
    assert not [each for each in written if not any(Path(each).is_relative_to(place) for place in host.PLACES)]
    assert "namespaces = []" in script


def test_one_with_machines_stays_and_one_without_any_is_ended(one_of_ours: list[str]) -> None:
    libvirt.ensure(libvirt.PRIVATE, "qemu", told)
    assert one_of_ours == []
    libvirt.ensure(None, "qemu", told)
    assert one_of_ours == ["stop", "start qemu"]


def test_one_whose_folder_is_gone_is_ended(one_of_ours: list[str], build: Path) -> None:
    libvirt._link().unlink()
    libvirt._link().symlink_to(build / "removed")
    libvirt.ensure(libvirt.PRIVATE, "qemu", told)
    assert one_of_ours == ["stop", "start qemu"]


def test_one_of_another_build_folder_is_in_the_way_and_named(
    one_of_ours: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Bridges and addresses would be the same."""
    folder = libvirt.own_folder()
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "another"))
    assert libvirt.ours() is None
    monkeypatch.setattr(libvirt, "answers", lambda _: False)
    with pytest.raises(VmError, match=rf"another build folder are up \({folder}; process {os.getpid()}\).*vm halt"):
        libvirt.ensure(None, "qemu", told)
    assert one_of_ours == []


def test_machines_are_asked_for_only_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vagrant forgets machines that it does not find."""
    started: list[str] = []
    monkeypatch.setattr(libvirt, "_start", lambda driver, _: started.append(driver))
    monkeypatch.setattr(libvirt, "answers", lambda home: home == libvirt.SYSTEM)
    libvirt.ensure(libvirt.PRIVATE, "qemu", told)
    assert started == ["qemu"]
    libvirt.ensure(libvirt.SYSTEM, "qemu", told)
    assert started == ["qemu"]
    monkeypatch.setattr(libvirt, "answers", lambda _: False)
    with pytest.raises(VmError, match=r"does not answer at qemu:///system. Start it"):
        libvirt.ensure(libvirt.SYSTEM, "qemu", told)


def test_what_the_machine_was_like_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    routing = tmp_path / "ipv4"
    for name, value in {"ip_forward": "0", "conf/all/accept_redirects": "0", "conf/eth0/forwarding": "0"}.items():
        (routing / name).parent.mkdir(parents=True, exist_ok=True)
        (routing / name).write_text(value + "\n")
    monkeypatch.setattr(host, "ROUTING", routing)
    monkeypatch.setattr(host, "PLACES", [str(tmp_path / "made")])
    rules = ["*filter", ":INPUT ACCEPT [7:840]", "-A INPUT -p icmp -j DROP"]
    restored: dict[str, str] = {}

    def run(*argv: str, text: str = "") -> str:
        if argv[0].endswith("-restore"):
            restored[argv[0]] = text
        return "\n".join([*rules, "COMMIT", ""]) if argv[0] == "iptables-save" else ""

    monkeypatch.setattr(host, "_run", run)
    before = host.state()
    (tmp_path / "made").mkdir()
    unchanged = "\n".join([*rules, "COMMIT", ""])
    rules += [":LIBVIRT_INP - [0:0]", "-A INPUT -j LIBVIRT_INP", "-A LIBVIRT_INP -i virbr0 -j ACCEPT"]
    for name in ("ip_forward", "conf/eth0/forwarding"):
        (routing / name).write_text("1\n")
    assert host.restore(before, bridges=True) == ["net.ipv4.ip_forward", "net.ipv4.conf.eth0.forwarding"]
    assert restored == {"iptables-restore": unchanged}
    assert (routing / "ip_forward").read_text().strip() == "0"
    assert not (tmp_path / "made").exists()
    assert host.restore(before, bridges=True) == []


def test_chains_that_were_there_before_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of this machine's own libvirtd, which may be stopped while its machines run."""
    monkeypatch.setattr(host, "ROUTING", tmp_path)
    run: list[str] = []

    def rules(*argv: str, text: str = "") -> str:  # noqa: ARG001
        run.append(argv[0])
        return "*filter\n:LIBVIRT_INP - [0:0]\nCOMMIT\n"

    monkeypatch.setattr(host, "_run", rules)
    host.restore(host.state(), bridges=False)
    assert set(run) == {"iptables-save", "ip6tables-save"}

"""From no machine to a run in three, and back. In the order of the file: each test goes on where the last one ended.

Nothing here depends on how fast anything is: an emulated processor is a hundred times slower than a real one.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.ansible import ansible_settings
from lanelab.driver.base.programs.needs import PLAYBOOKS
from lanelab.driver.bed.vagrant import accelerator, box, inventory, libvirt, vagrant
from tests.kit.processes import command_lines
from tests.vm.conftest import Vms, of_this_machine

ARMS, LINKS = 4, 2  # of experiments/quickstart.yaml
STATE = Path(__file__).parent / "machine_state.py"


def playbook(*options: str) -> str:
    """What Ansible says of the playbook on the machines."""
    argv = [sys.executable, "-I", "-m", "ansible", "playbook", "-i", str(inventory.inventory_file().absolute())]
    done = subprocess.run(
        [*argv, str(PLAYBOOKS / "prepare.yml"), *options], env={**os.environ, **ansible_settings()}, cwd=PLAYBOOKS,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


RECAP = re.compile(r"(client|router|server) +: ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+)")


def changes(said: str) -> dict[str, int]:
    """How many tasks Ansible had to change, by machine, as its recap says."""
    return {match[1]: int(match[3]) for match in RECAP.finditer(said)}


def states(vms: Vms) -> dict[str, str]:
    return {each["name"]: each["state"] for each in json.loads(vms.lanelab("vm", "status", "--json"))["machines"]}


def emulators() -> list[str]:
    """The QEMUs of our machines: libvirt names the machine in their command."""
    return [line for line in command_lines() if "qemu-system" in line and f"guest={libvirt.prefix()}" in line]


def state_of(vms: Vms, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(vms.run(name, "sudo", "/usr/bin/python3", "-I", "-c", STATE.read_text()))
    return found


@pytest.fixture(scope="module")
def as_found(vms: Vms) -> dict[str, dict[str, object]]:
    """The machines before the first bed."""
    return {name: state_of(vms, name) for name in vagrant.MACHINES}


def test_a_guest_boots_in_emulation_on_the_boxs_kernel(tmp_path: Path) -> None:
    """What says that KVM does not work has to be able to say that something does."""
    made = box.make_box()
    assert accelerator.guest_boots(made, "tcg", limit_s=600)
    (tmp_path / "vmlinuz").write_bytes((made.folder / "vmlinuz").read_bytes())
    (tmp_path / "initrd.img").touch()  # no program
    assert not accelerator.guest_boots(box.Box(tmp_path), "tcg", limit_s=600)


def test_all_three_are_up_and_say_where(vms: Vms) -> None:
    said = json.loads(vms.lanelab("vm", "status", "--json"))
    assert [(machine["name"], machine["state"]) for machine in said["machines"]] == [
        ("client", "running"), ("router", "running"), ("server", "running"),
    ]  # fmt: skip
    assert all(machine["address"] for machine in said["machines"])
    hosts = dict(inventory.hosts())
    assert hosts["router"].interfaces == {"client": "eth1", "server": "eth2"}


def test_each_has_a_kernel_and_a_name_of_its_own_and_words_arrive_as_they_are(vms: Vms) -> None:
    boots = {vms.run(name, "cat", "/proc/sys/kernel/random/boot_id") for name in vagrant.MACHINES}
    assert len(boots) == 3
    assert vms.run("router", "hostname").strip() == "router"
    assert vms.run("server", "printf", "%s|", "a b", "$HOME", "'") == "a b|$HOME|'|"


def test_by_hand_packets_cross_the_router_and_meet_its_qdisc(vms: Vms) -> None:
    """A loss of 100% is the setting whose effect no slow machine can imitate, or hide."""
    assert "ttl=63" in vms.run("client", "ping", "-c", "2", "-W", "20", "server")
    vms.run("router", "sudo", "tc", "qdisc", "add", "dev", "eth2", "root", "netem", "loss", "100%")
    try:
        lost = vms.lanelab("vm", "ssh", "client", "--", "ping", "-c", "2", "-W", "5", "server", status=[1])
        assert "100% packet loss" in lost
        qdisc = vms.run("router", "sudo", "tc", "-s", "qdisc", "show", "dev", "eth2")
        assert int(re.findall(r"dropped (\d+)", qdisc)[0]) >= 2
    finally:
        vms.run("router", "sudo", "tc", "qdisc", "del", "dev", "eth2", "root")
    assert "ttl=63" in vms.run("client", "ping", "-c", "2", "-W", "20", "server")


def test_preparing_them_again_changes_nothing(vms: Vms) -> None:
    vms.lanelab("vm", "up", "--provision")
    said = (build_folder() / "vm" / "up.log").read_text()
    assert changes(said) == dict.fromkeys(vagrant.MACHINES, 0)


def test_check_tells_what_is_missing_and_installs_nothing(vms: Vms) -> None:
    assert changes(playbook("--check")) == dict.fromkeys(vagrant.MACHINES, 0)
    vms.run("server", "sudo", "dpkg", "--purge", "--force-depends", "dnsmasq-base")
    try:
        said = playbook("--check", "--limit", "server")
        assert "dnsmasq-base" in said
        assert changes(said)["server"] > 0
        vms.lanelab("vm", "ssh", "server", "--", "test", "!", "-e", "/usr/sbin/dnsmasq")
    finally:
        # Not installed again: a guest may have no way to Debian, and the quickstart asks no resolver.
        pass


def test_no_service_of_what_was_installed_runs(vms: Vms) -> None:
    running = vms.run(
        "server", "sudo", "systemctl", "list-units", "--type=service", "--state=running", "--plain", "--no-legend"
    )
    assert "ssh.service" in running
    assert not re.search(r"apache|dnsmasq|httpd", running)


@pytest.mark.usefixtures("as_found")
def test_the_link_is_measured(vms: Vms) -> None:
    """Measured, and shaped both ways; how exactly, an emulated processor does not tell."""
    words = ["link", "test", "--substrate", "vagrant", "--rtt", "400ms", "--json"]
    said = json.loads(vms.lanelab(*words, status=[0, 1]))
    achieved = {result["name"]: result["achieved"] for result in said["results"]}
    assert achieved["rtt"] > 300  # one way only would be 200


def test_the_quickstart_runs_unchanged(vms: Vms, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["run", "experiments/quickstart.yaml", "--substrate", "vagrant", "--accept-links", "--out", str(folder)]
    vms.lanelab(*words)
    assert (folder / "report.html").stat().st_size > 10_000
    with sqlite3.connect(folder / "run.sqlite") as store:
        good = store.execute("SELECT cell, COUNT(*) FROM trials WHERE status = 'ok' GROUP BY cell").fetchall()
    assert len(good) == ARMS * LINKS, good


def test_the_machines_are_as_they_were_when_the_bed_is_gone(vms: Vms, as_found: dict[str, dict[str, object]]) -> None:
    for name, before in as_found.items():
        now = state_of(vms, name)
        differs = {what: (before[what], now[what]) for what in before if now[what] != before[what]}
        assert not differs, name
    assert "ttl=63" in vms.run("client", "ping", "-c", "2", "-W", "20", "server")


def test_halted_machines_are_known_and_come_back_as_they_were(vms: Vms) -> None:
    vms.run("server", "touch", "kept")
    assert len(emulators()) == len(vagrant.MACHINES)
    vms.lanelab("vm", "halt")
    assert states(vms) == dict.fromkeys(vagrant.MACHINES, "shutoff")
    assert not emulators()
    if not libvirt.answers(libvirt.SYSTEM):
        assert of_this_machine() == vms.before
    vms.lanelab("vm", "up")
    assert states(vms) == dict.fromkeys(vagrant.MACHINES, "running")
    assert vms.run("server", "ls") == "kept\n"
    assert "ttl=63" in vms.run("client", "ping", "-c", "2", "-W", "20", "server")


def test_nothing_is_left_when_they_are_destroyed(vms: Vms) -> None:
    vms.lanelab("vm", "destroy")
    assert states(vms) == dict.fromkeys(vagrant.MACHINES, "not_created")
    assert json.loads(vms.lanelab("vm", "status", "--json"))["libvirtd"] is None
    assert not emulators()
    assert not libvirt.own_folder().exists()
    assert not inventory.inventory_file().exists()
    if not libvirt.answers(libvirt.SYSTEM):
        assert of_this_machine() == vms.before

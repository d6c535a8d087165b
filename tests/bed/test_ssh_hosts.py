"""`lanelab hosts check` on real machines that are not fit: each gap is named, and nothing is changed."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from . import ssh_pythons
from .ssh_lab import MACHINES, USER
from .ssh_machines import SHELLS, Machines, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "-")

Changes = dict[str, dict[str, Any]]
# What is changed in an inventory that is good; on which machine what is found.
CASES: dict[str, tuple[Changes, str, str]] = {
    "nothing listens": ({"router": {"ansible_port": 2299}}, "router", "nothing listens there"),
    "nobody there": ({"client": {"ansible_host": "10.99.1.77"}}, "client", "there is no way to it|does not answer"),
    "wrong key": (
        {"server": {"ansible_ssh_private_key_file": "{folder}/host-client"}},
        "server",
        "takes none of the keys",
    ),
    "unknown host key": (
        {"client": {"ansible_host": "10.99.1.3"}},
        "client",
        "its host key is not known here yet",
    ),
    "no sudo": ({"client": {"ansible_python_interpreter": "powerless"}}, "client", "may not become root"),
    "old Python": ({"server": {"ansible_python_interpreter": "old"}}, "server", "its Python is 3.6, and 3.9 is needed"),
    "no Python": (
        {"server": {"ansible_python_interpreter": "/nowhere/python3"}},
        "server",
        "no such program as its Pyth",
    ),
    "no tc": ({"router": {"ansible_python_interpreter": "without-tc"}}, "router", "missing: tc"),
    "no router": ({"router": {"ansible_python_interpreter": "without-routers"}}, "router", "nor can it run the UML"),
    "one interface": (
        {"router": {"lanelab_client_interface": "eth1", "lanelab_server_interface": "eth1"}},
        "router",
        "eth1 is named for both sides of the router",
    ),
    "management": (
        {"client": {"lanelab_link_interface": "eth0"}},
        "client",
        "eth0 carries the address that ssh comes to",
    ),
    "no interface": ({"client": {"lanelab_link_interface": "eth9"}}, "client", "there is no Ethernet interface eth9"),
    "elsewhere": (
        {"router": {"lanelab_client_interface": "eth2"}},
        "client",
        "client and router are not neighbours: no Ethernet frame passes between eth1 and eth2",
    ),
}


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    made = Machines(tmp_path_factory.mktemp("machines"), also={"client": "10.99.1.3"})
    yield made
    made.close()


@pytest.fixture(scope="module")
def found(machines: Machines) -> dict[str, list[dict[str, str]]]:
    pythons = ssh_pythons.write(machines.folder)

    def filled(value: object) -> object:
        return pythons.get(value, value.format(folder=machines.folder)) if isinstance(value, str) else value

    cases = {"good": machines.hosts().to_json()}
    for case, (changes, _, _) in CASES.items():
        full = {name: {key: filled(value) for key, value in each.items()} for name, each in changes.items()}
        cases[case] = machines.hosts(**full).to_json()
    before = {name: machines.snapshot(name) for name in MACHINES}
    argv = machines.inside(sys.executable, "-P", "-m", "tests.bed.ssh_examine")
    done = subprocess.run(
        argv, env=machines.environment, input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert machines.restored(before, within_s=20) == {}
    told: dict[str, list[dict[str, str]]] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("case", CASES)
def test_what_is_in_the_way_is_named(found: dict[str, list[dict[str, str]]], case: str) -> None:
    _, node, words = CASES[case]
    gaps = [finding for finding in found[case] if finding["state"] == "gap"]
    told = [finding["found"] for finding in gaps if finding["node"] == node]
    assert any(word in text for text in told for word in words.split("|")), found[case]
    assert all(finding["remedy"] and "\n" not in finding["found"] for finding in gaps)


@pytest.mark.parametrize("name", MACHINES)
def test_a_login_shell_may_be_any_and_say_what_it_likes(
    found: dict[str, list[dict[str, str]]], machines: Machines, name: str
) -> None:
    program, _ = SHELLS[name]
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed: not tested as a login shell")
    said = machines.run(machines.on(name, "grep", f"^{USER}:", "/etc/passwd")).stdout
    assert said.strip().endswith(f"/{program}")
    assert {finding["state"] for finding in found["good"] if finding["node"] == name} <= {"ok", "note"}


def test_machines_that_are_fit_are_told_how_they_hang_together(found: dict[str, list[dict[str, str]]]) -> None:
    assert [finding for finding in found["good"] if finding["state"] == "gap"] == []
    links = {finding["node"]: finding["found"] for finding in found["good"] if finding["what"] == "link"}
    assert links == {
        "client": "eth1 leads to the router",
        "router": "eth1 leads to the client, eth2 leads to the server",
        "server": "eth1 leads to the router",
    }


def test_the_command_says_what_to_do_next(machines: Machines) -> None:
    inventory = machines.inventory()
    argv = machines.inside(sys.executable, "-P", "-m", "lanelab.driver.cli", "hosts", "check", str(inventory))
    done = machines.run(argv)
    assert "eth2 leads to the server" in done.stdout
    assert f"lanelab run FILE --substrate ssh --inventory {inventory}" in done.stderr

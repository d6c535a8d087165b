"""How a bed is made, as the options say: what becomes of it in a run's record, and which machines get which care."""

import json
from pathlib import Path

import pytest

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.bed.ssh import kind
from lanelab.driver.bed.ssh.hosts import Hosts, SshHost
from lanelab.driver.bed.vagrant import accelerator, inventory
from lanelab.driver.bed.vagrant.substrate import VagrantKind


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    monkeypatch.delenv("LANELAB_PATIENCE", raising=False)
    inventory.inventory_file().parent.mkdir(parents=True)
    inventory.inventory_file().write_text("all: {}\n")
    return tmp_path / "build"


@pytest.fixture(params=["vagrant", "ssh"])
def virtual(request: pytest.FixtureRequest) -> BedOptions:
    """The machines of `lanelab vm`, named in both ways."""
    return BedOptions(request.param, {"inventory": str(inventory.inventory_file())} if request.param == "ssh" else {})


def test_emulated_processors_are_in_the_record_and_are_warned_of(
    virtual: BedOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accelerator, "is_emulated", lambda: True)
    monkeypatch.setenv("LANELAB_PATIENCE", "6")
    facts = virtual.facts()
    assert (facts["emulated_processors"], facts["patience"]) == (True, 6.0)
    assert json.dumps(facts)
    assert "the processors of these virtual machines are emulated" in virtual.kind.warning(virtual.given)


def test_real_processors_are_in_the_record_too(virtual: BedOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "is_emulated", lambda: False)
    facts = virtual.facts()
    assert (facts["emulated_processors"], facts["patience"]) == (False, 1.0)
    assert not virtual.kind.warning(virtual.given)


@pytest.mark.parametrize("made", [BedOptions(), BedOptions("ssh", {"inventory": "machines.yml"})])
def test_nothing_is_said_of_processors_that_nobody_knows(made: BedOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerator, "is_emulated", lambda: True)
    assert not isinstance(made.kind, VagrantKind)
    assert "emulated_processors" not in made.facts()


def test_virtual_machines_get_their_care_by_whatever_way_they_are_named(
    virtual: BedOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their clocks and the patience with them: an inventory alone tells of neither."""
    cared: list[str] = []

    machine = SshHost("one", "192.0.2.1")

    def hosts() -> Hosts:
        cared.append(virtual.substrate)
        return Hosts(machine, machine, machine)

    monkeypatch.setattr(inventory, "hosts", hosts)
    monkeypatch.setattr(kind, "read_inventory", lambda _path: pytest.fail("read without care"))
    assert set(virtual.nodes().to_json()) == {"client", "router", "server"}
    assert cared == [virtual.substrate]

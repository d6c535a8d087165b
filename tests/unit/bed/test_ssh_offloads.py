"""What a bed does with the offloads of a machine's interfaces, on interfaces that are only played."""

import fcntl
import json
import os
import threading
from pathlib import Path

import pytest

from lanelab.driver.bed.remote import offloads as host_offloads
from lanelab.driver.bed.remote.offloads import Interfaces, InUse

ON = dict.fromkeys(("tx-checksumming", "tcp-segmentation-offload", "generic-receive-offload"), "on")
OFF = dict.fromkeys(ON, "off")


class Kernel:
    """Interfaces with their offloads, and `ethtool` for them."""

    def __init__(self, folder: Path) -> None:
        self._sys = folder / "sys"
        self.notes = folder / "notes"
        self.offloads: dict[str, dict[str, str]] = {}
        self.refuses: set[str] = set()
        self.said: list[tuple[str, ...]] = []

    def add(self, name: str, *below: str) -> None:
        (self._sys / name).mkdir(parents=True)
        for each in below:
            (self._sys / name / f"lower_{each}").symlink_to(self._sys / each)
        self.offloads[name] = dict(ON)

    def ethtool(self, *words: str, check: bool = True) -> str:
        self.said.append(words)
        option, device, *changes = words
        if device not in self.offloads:
            if check:
                raise OSError(f"'ethtool {option} {device}' said: no device matches name")
            return ""
        if option == "-K" and device not in self.refuses:
            self.offloads[device].update(zip(changes[::2], changes[1::2], strict=True))
        told = "".join(f"\t{name}: {value}\n" for name, value in self.offloads[device].items())
        return f"Features for {device}:\n{told}highdma: on [fixed]\n"

    def note(self, device: str) -> dict[str, str] | None:
        path = self.notes / f"{device}.json"
        return json.loads(path.read_text()) if path.exists() else None


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel(tmp_path)
    for name in ("eth1", "eth2"):
        made.add(name)
    monkeypatch.setattr(host_offloads, "_ethtool", made.ethtool)
    monkeypatch.setattr(host_offloads, "NOTES", made.notes)
    monkeypatch.setattr(host_offloads, "DEVICES", tmp_path / "sys")
    monkeypatch.setattr(host_offloads, "LOOKED_AT_FOR_S", 0.3)
    return made


def held(*devices: str) -> Interfaces:
    made = Interfaces(devices)
    made.take()
    return made


def let_go(interfaces: Interfaces) -> None:
    """As when its process ends."""
    for lock in interfaces.locks:
        os.close(lock)


def test_they_are_quiet_while_a_bed_is_up_and_then_as_before(kernel: Kernel) -> None:
    kernel.offloads["eth2"]["generic-receive-offload"] = "off"
    bed = held("eth1", "eth2")
    assert kernel.offloads["eth1"] == kernel.offloads["eth2"] == OFF
    assert kernel.note("eth1") == ON
    assert bed.restore() == []
    assert kernel.offloads["eth1"] == ON
    assert kernel.offloads["eth2"] == {**ON, "generic-receive-offload": "off"}
    assert kernel.note("eth1") is kernel.note("eth2") is None


@pytest.mark.parametrize("devices", [["eth1"], ["eth2", "eth1"]])
def test_a_bed_that_is_refused_leaves_the_other_ones_interfaces_alone(kernel: Kernel, devices: list[str]) -> None:
    held("eth1")
    late = Interfaces(devices)
    with pytest.raises(InUse, match="another bed uses eth1"):
        late.take()
    assert late.restore() == []
    assert kernel.offloads["eth1"] == OFF
    assert kernel.note("eth1") == ON
    assert kernel.offloads["eth2"] == ON


def test_an_interface_that_is_gone_keeps_no_other_from_being_restored(kernel: Kernel) -> None:
    bed = held("eth1", "eth2")
    del kernel.offloads["eth1"]
    (trouble,) = bed.restore()
    assert "eth1" in trouble
    assert kernel.offloads["eth2"] == ON
    assert (kernel.note("eth1"), kernel.note("eth2")) == (ON, None)


def test_what_could_not_be_put_back_stays_noted_for_the_next_bed(kernel: Kernel) -> None:
    bed = held("eth1")
    kernel.refuses.add("eth1")
    (trouble,) = bed.restore()
    assert "tcp-segmentation-offload" in trouble
    let_go(bed)
    assert kernel.note("eth1") == ON
    assert host_offloads.left() == ["eth1"]
    bed = held("eth1")  # quiet already, and still refused
    assert kernel.note("eth1") == ON, "what it is now is not what it was"
    kernel.refuses.clear()
    assert bed.restore() == []
    assert kernel.offloads["eth1"] == ON


def test_what_one_refusal_holds_up_is_tried_one_by_one(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_or_nothing(*words: str, check: bool = True) -> str:
        stubborn = words[0] == "-K" and "tx-checksumming" in words and words[3:] != ("off",)
        return "" if stubborn else kernel.ethtool(*words, check=check)

    bed = held("eth1")
    monkeypatch.setattr(host_offloads, "_ethtool", all_or_nothing)
    assert len(bed.restore()) == 1
    assert kernel.offloads["eth1"] == {**ON, "tx-checksumming": "off"}


def test_what_lies_below_is_quiet_and_locked_too(kernel: Kernel) -> None:
    kernel.add("bond0", "eth1", "eth2")
    kernel.add("bond0.7", "bond0")
    kernel.add("bond0.8", "bond0")
    assert host_offloads.wires("bond0.7") == ["eth1", "eth2", "bond0", "bond0.7"]
    bed = held("bond0.7", "bond0.7")
    assert all(kernel.offloads[name] == OFF for name in ("eth1", "eth2", "bond0", "bond0.7"))
    assert kernel.offloads["bond0.8"] == ON
    for other in ("bond0.8", "eth1", "bond0"):
        with pytest.raises(InUse):
            Interfaces([other]).take()
    assert set(host_offloads.in_use()) == {"bond0.7", "bond0", "eth1", "eth2"}
    assert bed.restore() == []
    assert all(offloads == ON for offloads in kernel.offloads.values())


def test_all_are_noted_down_before_one_is_changed(kernel: Kernel) -> None:
    """Quiet below is quiet above, so what is above must not be looked at after that."""
    kernel.add("eth1.7", "eth1")
    held("eth1.7")
    changed = [words[0] for words in kernel.said].index("-K")
    assert {words[1] for words in kernel.said[:changed]} == {"eth1", "eth1.7"}


def test_who_only_looks_is_in_nobodys_way(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_offloads, "LOOKED_AT_FOR_S", 60.0)
    let_go(held("eth1"))
    looking = os.open(kernel.notes / "eth1.lock", os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert host_offloads.in_use() == []  # another one who looks
    threading.Timer(0.1, lambda: os.close(looking)).start()
    held("eth1")


def test_looking_waits_for_nothing_and_makes_nothing(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("it waited"))
    assert host_offloads.in_use() == host_offloads.left() == []
    assert not kernel.notes.exists()
    held("eth1")
    assert host_offloads.in_use() == ["eth1"]
    assert host_offloads.left() == []

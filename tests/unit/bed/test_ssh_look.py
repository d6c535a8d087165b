"""Which interfaces of a machine ssh comes through, as the machine sees it: on interfaces that are only played."""

from pathlib import Path

import pytest

from lanelab.driver.bed.remote import examine as host_look
from lanelab.driver.bed.remote import offloads as host_offloads

ADDRESSES = {"192.0.2.1": "eth0.7", "192.0.2.2": "eth0", "127.0.0.1": "lo", "fe80::1": ""}


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cards: eth0 with two VLANs, and eth1. Packets to elsewhere go through eth0."""
    below = {"lo": (), "eth0": (), "eth1": (), "eth0.7": ("eth0",), "eth0.8": ("eth0",)}
    for name, lower in below.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "type").write_text("772\n" if name == "lo" else "1\n")
        for each in lower:
            (tmp_path / name / f"lower_{each}").mkdir()
    monkeypatch.setattr(host_look, "DEVICES", tmp_path)
    monkeypatch.setattr(host_offloads, "DEVICES", tmp_path)
    monkeypatch.setattr(host_look, "_ip", said_by_ip)


def said_by_ip(*words: str) -> str:
    if "route" in words:
        return "default via 192.0.2.254 dev eth0 proto dhcp metric 100\n" if "-4" in words else ""
    device = ADDRESSES.get(words[-1])
    return f"2: {device}    inet {words[-1]}/24 brd 192.0.2.255 scope global {device}\n" if device else ""


@pytest.mark.parametrize(
    ("here", "management", "beside"),
    [
        ("192.0.2.1", {"eth0.7", "eth0"}, {"eth0.8"}),
        ("192.0.2.2", {"eth0"}, {"eth0.7", "eth0.8"}),
        ("fe80::1%eth1", {"eth1"}, set()),
        ("127.0.0.1", {"eth0"}, {"eth0.7", "eth0.8"}),  # a reverse tunnel
        ("", {"eth0"}, {"eth0.7", "eth0.8"}),
    ],
)
def test_what_ssh_comes_through_is_known_and_all_on_its_wire(here: str, management: set[str], beside: set[str]) -> None:
    found = host_look._interfaces(here)
    assert {each["name"] for each in found if each["management"]} == management
    assert {each["name"] for each in found if each["wire_of_management"]} == management | beside

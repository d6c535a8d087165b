"""The link that a user asks for is the link that is there; all of it, or the one before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver.bed.substrate import BedSettings
from driver.control.client import Bed
from driver.errors import InputError, LinkError
from driver.link import Link
from driver.profiles import PROFILES

from .handles import OpenBed
from .scripts import run_script

# What a measurement may be off by here. Tests share their machine with others; how exact the link is when it has
# the machine to itself is for `lanelab bench bed` to say.
SLACK_MS = 5


def qdiscs(bed: OpenBed) -> list[dict[str, object]]:
    shown: list[dict[str, object]] = json.loads(bed.run("router", "tc", "-j", "qdisc", "show").stdout)
    return [entry for entry in shown if entry["handle"] != "0:"]


@pytest.mark.parametrize(
    "settings",
    [
        {"rtt": "40ms"},
        {"delay_down": "40ms", "delay_up": "5ms"},
        {"rtt": "60ms", "rate": "5mbit"},
        {"rtt": "300ms", "rate": "2mbit", "queue": "40p"},
        {"rtt": "30ms", "rate": "4mbit", "queue": "20p"},
        {"rtt": "30ms", "rate": "4mbit", "queue": "40ms"},
        {"rtt": "30ms", "rate": "4mbit", "discipline": "fq_codel"},
        {"rtt": "30ms", "rate": "4mbit", "discipline": "cake"},
        {"rtt": "30ms", "rate_down": "8mbit", "rate_up": "1mbit", "mtu": "1200"},
    ],
    ids=lambda settings: ",".join(f"{key}={value}" for key, value in settings.items()),
)
def test_the_self_test_finds_what_was_asked_for(bed: OpenBed, settings: dict[str, str]) -> None:
    link = bed.set(**settings)
    found = bed.test()
    achieved = found["rtt"].achieved
    assert achieved is not None
    assert achieved == pytest.approx(link.rtt.milliseconds, abs=SLACK_MS)
    for name, way in (("down", link.down), ("up", link.up)):
        if way.rate:
            rate = found[f"rate {name}"].achieved
            assert rate == pytest.approx(way.rate.mbit, rel=0.1)
    for name in ("queue down", "queue up"):
        if name in found and found[name].verdict != "not measured":
            assert found[name].achieved == pytest.approx(found[name].target, rel=0.3, abs=4)


def test_losses_duplicates_and_overtaking_happen_as_often_as_asked(bed: OpenBed) -> None:
    bed.set(rtt="20ms", loss_down="5%", loss_up="ge(p=2%, r=20%)", duplicate_down="4%", reorder_up="5%")
    found = bed.test()
    for name in ("loss down", "loss up", "duplicate down", "reorder up"):
        result = found[name]
        assert result.achieved is not None
        assert result.target is not None
        # A few sigma beyond the self-test's own bounds: this must not fail once in a thousand runs.
        assert result.target / 2.5 < result.achieved < result.target * 2.5, result
        assert "95% interval" in result.note


def test_a_link_that_is_not_what_was_asked_fails_loudly(bed: OpenBed) -> None:
    bed.set(rtt="40ms", rate="5mbit")
    bed.run("router", "tc", "qdisc", "change", "dev", "to_client", "root", "netem", "delay", "60ms", "limit", "5000")
    report = bed.bed.test_link()
    assert not report["passed"]
    assert any("rtt is" in failure and "off by +4" in failure for failure in report["failures"]), report["failures"]


def test_a_new_link_leaves_nothing_of_the_old_one(bed: OpenBed) -> None:
    bed.set(rtt="40ms", rate="5mbit", loss="3%", jitter="2ms", discipline="fq_codel")
    bed.set(rtt="20ms")
    assert [(entry["dev"], entry["kind"]) for entry in qdiscs(bed)] == [("to_client", "netem"), ("to_server", "netem")]
    assert "loss" not in json.dumps(qdiscs(bed))
    bed.set()
    assert {str(entry["kind"]) for entry in qdiscs(bed)} == {"pfifo"}


def test_tcp_runs_as_the_link_says(bed: OpenBed) -> None:
    bed.set(congestion_control_client="reno", initial_window_server="3")
    client, server = (bed.run(node, "ip", "route", "get", "10.10.1.1").stdout for node in ("client", "server"))
    assert "congctl reno" in client
    assert "initcwnd 10" in client
    assert "congctl cubic" in server
    assert "initcwnd 3" in server
    bed.set()


def test_a_connection_uses_the_congestion_control_of_the_link(bed: OpenBed) -> None:
    """Whatever this machine's default is, and even where its administrator reserves it."""
    bed.set(congestion_control="cubic")
    program = (
        "import socket;s=socket.create_connection(('server',9));"
        "print(s.getsockopt(socket.IPPROTO_TCP,socket.TCP_CONGESTION,16))"
    )
    accept = "import socket;s=socket.create_server(('',9));print('ready',flush=True);s.accept()"
    script = f'node server python3 -c "{accept}" & sleep 0.7; node client python3 -c "{program}"; wait'
    assert "cubic" in run_script(bed, script)


def test_the_mtu_is_the_links(bed: OpenBed) -> None:
    bed.set(mtu="1000")
    assert bed.run("client", "ping", "-M", "do", "-s", "972", "-c", "1", "-W", "2", "server").status == 0
    assert bed.run("client", "ping", "-M", "do", "-s", "973", "-c", "1", "-W", "2", "server").status != 0
    bed.set()


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_can_be_set(bed: OpenBed, name: str) -> None:
    bed.bed.set_link(PROFILES[name].link)
    bed.set()


def test_an_unknown_congestion_control_changes_nothing(bed: OpenBed) -> None:
    bed.set(rtt="30ms")
    before = qdiscs(bed)
    with pytest.raises(InputError, match="no congestion control 'nonesuch'"):
        bed.set(rtt="50ms", congestion_control="nonesuch")
    assert qdiscs(bed) == before


FORGET_CAKE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(176, b'sch_cake', 0))"  # delete_module


def test_a_change_that_fails_half_way_restores_the_link_before(tmp_path: Path) -> None:
    with Bed(BedSettings(folder=tmp_path)) as made:
        bed = OpenBed(made)
        if made.info["router"] != "uml":
            pytest.skip("only in a kernel of its own can a module be taken away")
        bed.set(rtt="30ms", rate="5mbit")
        before = [(entry["dev"], entry["kind"], entry.get("options")) for entry in qdiscs(bed)]
        assert bed.run("router", "python3", "-c", FORGET_CAKE).status == 0
        with pytest.raises(LinkError, match=r"refused this link.*The previous link is back"):
            bed.set(rtt="50ms", rate="5mbit", discipline_up="cake")
        assert [(entry["dev"], entry["kind"], entry.get("options")) for entry in qdiscs(bed)] == before
        assert bed.run("client", "ping", "-c", "1", "-W", "2", "server").status == 0


def test_a_link_that_cannot_be_restored_is_refused_and_forwards_nothing(tmp_path: Path) -> None:
    with Bed(BedSettings(folder=tmp_path)) as made:
        bed = OpenBed(made)
        bed.set(rtt="30ms", rate="5mbit")
        bed.run("router", "ip", "link", "del", "queue_up")
        with pytest.raises(LinkError, match="broken"):
            bed.set(rtt="50ms", rate="5mbit")
        with pytest.raises(LinkError, match="broken"):
            bed.run("client", "true")
        with pytest.raises(LinkError, match="broken"):
            made.set_link(Link.parse({}))

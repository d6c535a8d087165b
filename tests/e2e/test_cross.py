"""Cross traffic beside a real page load."""

from pathlib import Path

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import ACCEPT_LINKS, play

pytestmark = needs_namespaces

TEXT = """
sites: dummy
links: {rate: 10mbit, rtt: 40ms, queue: 250p, cross: {flows: 2, cc: reno}}
arms: {HTTP: {}}
trials: 1
"""


def test_flows_share_the_link_with_a_page(lanelab: LanelabCommand, tmp_path: Path) -> None:
    played = play(lanelab, tmp_path, TEXT, ACCEPT_LINKS)
    assert played.done.returncode == 0, played.done.stderr
    measures = dict(played.rows("SELECT metric, value FROM measured"))
    assert 0 < measures["cross_share"] < 100
    assert measures["cross_rtt_ms"] > 40
    assert measures["queueing_delay_ms"] > 0
    assert measures["bytes_down"] < 1_500_000, "what the flows carry is not the page's"
    assert "told_packets_down" not in measures
    (file,) = played.folder.rglob("cross.json")
    assert file.stat().st_size

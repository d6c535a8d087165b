"""Real page loads through the judges with another link than theirs: none counts; on their own, all do."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Reason
from lanelab.driver.run.folder.trial_content import artifact_path
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.trial.packets.emulation import emulation_error
from lanelab.driver.trial.packets.link_evidence import link_evidence
from lanelab.driver.trial.packets.timeline import read_timeline
from lanelab.driver.trial.page_load.judges.link import LinkVerdict
from tests.kit.handles import LanelabCommand

from .runs import play

pytestmark = pytest.mark.long

MADE = {"rate": "10mbit", "queue": "1000p"}
TEXT = """
sites: dummy
links: {rate: 10mbit, rtt: [20ms, 100ms], queue: 1000p}
capture: [client, server]
arms:
  HTTP without keepalive: {keepalive: off}
  HTTP: {}
  HTTPS: {tls: 1.3}
  HTTP/2: {tls: 1.3, protocol: h2}
trials: 3
"""
OTHERS = (  # rtt of the trials, another link, what names it
    ("100ms", {"rtt": "20ms"}, Reason.LINK_RTT),
    ("100ms", {"rtt": "20ms", "rate": "20mbit"}, Reason.LINK_RTT),
    ("100ms", {"rtt": "150ms"}, Reason.LINK_RTT),
    ("20ms", {"rtt": "35ms"}, Reason.LINK_RTT),
    ("20ms", {"rtt": "20ms", "rate": "9.6mbit"}, Reason.LINK_RATE),
    ("20ms", {"rtt": "20ms", "mtu": "1400"}, Reason.LINK_MTU),
    ("20ms", {"rtt": "20ms", "initial_window": "4"}, Reason.INITIAL_WINDOW),
    ("20ms", {"delay_down": "20ms", "delay_up": "0ms"}, Reason.LINK_DELAY),
)


def test_no_real_load_passes_for_one_over_another_link(lanelab: LanelabCommand, tmp_path: Path) -> None:
    played = play(lanelab, tmp_path, TEXT, "--allow-missing")
    assert played.done.returncode == 0, played.done.stderr
    run = read_run(played.folder)
    assert len(run.ok) == 24
    for trial in run.ok:
        record = read_record(played.folder, trial.number)
        evidence, rtt = record.page_load, trial.cell.link.settings["rtt"]
        assert evidence is not None
        assert evidence.emulation is not None
        own = LinkVerdict(record, evidence, Link.parse({**MADE, "rtt": rtt}))
        assert list(own.failures()) == []
        folder = artifact_path(played.folder, trial.number, ".")
        ends = {node: read_timeline(folder / f"{node}.pcapng.gz", ADDRESSES["client"]) for node in ("client", "server")}
        for of, other, reason in OTHERS:
            if of == rtt:
                link = Link.parse({**MADE, **other})
                told = replace(
                    evidence,
                    link=link_evidence(ends["client"], ends["server"], link),
                    emulation=emulation_error(ends["client"], ends["server"], link),
                )
                found = {failure.reason for failure in LinkVerdict(record, told, link).failures()}
                assert reason in found, (trial.number, other)

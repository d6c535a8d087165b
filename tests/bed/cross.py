"""Checks of cross traffic in a real bed; test_cross.py runs them."""

import time

import pytest

from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.remote import cross
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.cross import CrossEvidence
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.cross_verdict import cross_failures
from lanelab.driver.trial.recorders.cross_traffic import Cross
from lanelab.driver.trial.recorders.recorder import Context, Recording
from tests.kit.inside import Check, InsideBed, main
from tests.kit.wait import wait_until

SHAPED = {"rtt": "40ms", "rate": "10mbit", "queue": "100p"}
LOAD_S = 2.0


def begun(bed: InsideBed, **settings: str) -> Cross:
    asked = {**SHAPED, **settings}
    bed.link.set(Link.parse(asked))
    recorder = Cross(Link.parse(asked))
    nodes = {name: bed.node(name) for name in NODE_NAMES}
    recorder.start(Context(nodes, bed.substrate.machines(), bed.memory, bed.memory))
    recorder.load_begins()
    return recorder


def ended(recorder: Cross) -> Recording:
    time.sleep(LOAD_S)  # a load: all that time flows and probes are under way
    recorder.load_ended()
    return recorder.stop()


def reasons(evidence: CrossEvidence, **settings: str) -> list[Reason]:
    record = TrialRecord("load", "now", {}, {}, (), (), (), {}, None, recordings={"cross": evidence})
    return [each.reason for each in cross_failures(record, Link.parse({**SHAPED, **settings}))]


def connections(bed: InsideBed) -> str:
    return bed.client.run(["ss", "-Htn", "sport", "=", f":{cross.PORT}", "or", "dport", "=", f":{cross.PORT}"]).stdout


def flows_fill_the_link_and_are_gone_afterwards(bed: InsideBed) -> None:
    for way, flows in (("down", 2), ("up", 1)):
        text = f"{flows} reno {way}"
        recorder = begun(bed, cross=text)
        assert len(connections(bed).splitlines()) == flows
        found = ended(recorder)
        assert isinstance(found.evidence, CrossEvidence)
        assert reasons(found.evidence, cross=text) == [], found.evidence
        assert found.evidence.way == way
        assert {flow.congestion_control for flow in found.evidence.flows} == {"reno"}
        assert 5 < found.measures["cross_share"] <= 102
        assert found.measures["cross_rtt_ms"] > 40
        assert found.evidence.probes.idle_ms >= 39
        wait_until(lambda: not connections(bed))  # what was closed may have its last packets sent again


def flows_that_are_killed_are_missed(bed: InsideBed) -> None:
    recorder = begun(bed, cross="2 cubic down")
    bed.server.run(["ss", "-K", "-t", "dport", "=", f":{cross.PORT}"], check=False)
    bed.server.run(["ip", "route", "replace", "blackhole", "10.10.1.0/24"])  # where a kernel cannot kill a connection
    time.sleep(2 * LOAD_S)  # a load without flows
    found = ended(recorder)
    bed.server.run(["ip", "route", "del", "blackhole", "10.10.1.0/24"])
    assert isinstance(found.evidence, CrossEvidence)
    assert set(reasons(found.evidence, cross="2 cubic down")) & {Reason.CROSS_MISSING, Reason.CROSS_STALLED}


def a_program_that_dies_fails_the_trial(bed: InsideBed) -> None:
    recorder = begun(bed, cross="1 cubic down")
    bed.client.run(["sh", "-c", f"ss -Htlnp sport = :{cross.PORT} | sed 's/.*pid=//; s/,.*//' | xargs kill -9"])
    with pytest.raises(BedError, match="cross traffic"):
        ended(recorder)
    recorder.close()
    assert not connections(bed)


def what_the_kernel_lacks_is_refused(bed: InsideBed) -> None:
    with pytest.raises(InputError, match="the server's kernel has no congestion control 'quick'") as refused:
        bed.link.set(Link.parse({**SHAPED, "cross": "2 quick down"}))
    assert refused.value.key == "cross"


CHECKS: list[Check] = [
    flows_fill_the_link_and_are_gone_afterwards,
    flows_that_are_killed_are_missed,
    a_program_that_dies_fails_the_trial,
    what_the_kernel_lacks_is_refused,
]

if __name__ == "__main__":
    main(*CHECKS)

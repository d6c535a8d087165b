"""Cross traffic: how it is written, what both ends tell, and which trials fail for it."""

from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.bed.remote.cross import FlowReport, ReceiverReport, SenderReport
from lanelab.driver.link import Link
from lanelab.driver.link.live.cross_flows import settles_s
from lanelab.driver.record.evidence.cross import CrossEvidence
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.cross_verdict import cross_failures
from lanelab.driver.trial.recorders.cross_traffic import evidence_of, measures_of
from tests.kit.experiments import ARMS, read

SHAPED = {"rtt": "40ms", "rate": "10mbit"}
LINK = Link.parse({**SHAPED, "cross": {"flows": 2, "cc": "reno"}})
RECEIVED: ReceiverReport = {
    "before": [3_000_000, 2_000_000],
    "bytes": [750_000, 250_000],
    "load_s": 1.0,
    "silence_s": 0.2,
    "sent": 4,
    "answers": [(0.1, 50.0), (0.2, 140.0), (0.3, 150.0), (0.4, 160.0)],
}
FLOW: FlowReport = {"control": "reno", "retransmissions": 3, "ended": False}
SENT: SenderReport = {
    "flows": [FLOW, FLOW],
    "samples": [(0.1, 0, 100_000, 10, 1), (0.2, 0, 120_000, 10, 1), (0.1, 1, 90_000, 10, 1)],
}


def seen(**changes: Any) -> CrossEvidence:
    received: Any = {**RECEIVED, **changes}
    return evidence_of(LINK, received, SENT, 40.0, 3.4)


def record(evidence: CrossEvidence | None, *failures: Failure) -> TrialRecord:
    recordings = {"cross": evidence} if evidence else {}
    return TrialRecord("load", "now", {}, {}, (), failures, (), {}, None, recordings=recordings)


def reasons(evidence: CrossEvidence | None, *failures: Failure) -> list[Reason]:
    return [each.reason for each in cross_failures(record(evidence, *failures), LINK)]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("none", "none"),
        ({"flows": 2}, "2 cubic down"),
        ({"flows": 1, "cc": "bbr", "way": "up"}, "1 bbr up"),
        ({"flows": 1, "congestion_control": "reno"}, "1 reno down"),
        ("{flows: 3, cc: reno}", "3 reno down"),
        ("3 reno", "3 reno down"),
        ("3 x cubic up", "3 cubic up"),
    ],
)
def test_it_is_written_in_parts_or_in_a_line(written: object, text: str) -> None:
    link = Link.parse({**SHAPED, "cross": written})
    assert link.to_mapping()["cross"] == text
    assert Link.parse(link.to_mapping()) == link


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({"flows": 0}, "no number of flows"),
        ({"flows": 33}, "no number of flows"),
        ({"flows": True}, "how many flows"),
        ({"cc": "cubic"}, "how many flows"),
        ({"flows": 2, "cc": "Cubic!"}, "no name of a congestion control"),
        ({"flows": 2, "way": "left"}, "no direction"),
        ({"flows": 2, "flow": 3}, "has no 'flow'"),
        ("{flows: 3, reno}", "has no 'reno'"),
        ("much", "no cross traffic"),
        ("2", "no cross traffic"),
    ],
)
def test_what_it_cannot_be_is_refused(written: object, says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        Link.parse({**SHAPED, "cross": written})
    assert refused.value.key == "cross"
    assert refused.value.remedy


def test_it_needs_a_queue_to_share() -> None:
    for mapping in ({}, {"rate_up": "1mbit"}, {"path": "direct"}):
        with pytest.raises(InputError) as refused:
            Link.parse({**mapping, "cross": "2 cubic down"})
        assert refused.value.key == "cross"
    assert Link.parse({"rate_up": "1mbit", "cross": "2 cubic up"}).cross


def test_an_experiment_has_links_with_and_without() -> None:
    text = f"sites: dummy\n{ARMS}links: {{rate: 10mbit, rtt: 40ms, cross: [none, {{flows: 2, cc: reno}}]}}\n"
    cases = read(text).links
    assert [case.link.cross.flows for case in cases] == [0, 2]
    assert [case.label for case in cases] == ["cross none", "cross 2 reno down"]


def test_measures_are_of_the_load() -> None:
    assert measures_of(LINK, seen()) == {
        "cross_rate": 8_000_000,
        "cross_share": 80.0,
        "cross_rtt_ms": 100.0,
        "queueing_delay_ms": 105.0,
        "queueing_delay_95_ms": 120.0,
    }


def test_what_nobody_answered_is_no_number() -> None:
    measures = measures_of(LINK, evidence_of(LINK, {**RECEIVED, "answers": []}, {**SENT, "samples": []}, 40.0, 3.4))
    assert measures.keys() == {"cross_rate", "cross_share"}


def test_flows_that_were_there_are_no_reason() -> None:
    assert reasons(seen()) == []


def test_a_trial_without_flows_fails() -> None:
    whole = seen()
    first, second = whole.flows
    assert reasons(None) == [Reason.EVIDENCE_MISSING]
    for spoiled in (
        replace(whole, flows=(first,)),
        replace(whole, flows=(first, replace(second, ended=True))),
        replace(whole, flows=(first, replace(second, bytes_before=0))),
        replace(whole, flows=(first, replace(second, congestion_control="cubic"))),
        replace(whole, way="up"),
    ):
        assert reasons(spoiled) == [Reason.CROSS_MISSING], spoiled
    assert reasons(replace(whole, longest_silence_s=5.0)) == [Reason.CROSS_STALLED]


def test_a_trial_that_failed_before_needs_no_second_reason() -> None:
    assert reasons(None, Failure(Reason.BED_LOST, "gone")) == []


def test_evidence_reads_back() -> None:
    whole = record(seen())
    assert TrialRecord.from_json(whole.to_json()).cross == whole.cross


def test_a_plan_counts_the_time_until_the_queue_stands() -> None:
    assert settles_s(Link.parse(SHAPED)) == 0
    assert settles_s(LINK) == pytest.approx(3.4)

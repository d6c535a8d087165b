"""Real page loads over HTTP/3 through the judge of the link: each counts on its own link, and on no other."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import OF_THE_MACHINE, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.trial.page_load.judges.link import LinkVerdict
from tests.kit.bench import Bench, Wanted
from tests.kit.http3_faults import FORCED

from .test_faults import needs_server

pytestmark = pytest.mark.measures

MADE = {"rtt": "40ms", "rate": "10mbit", "queue": "1000p"}
TOO_SHORT = {Reason.LINK_RTT, Reason.LINK_RATE}  # a large request that came too early may be the rate's up
OTHERS = (
    ({"rtt": "25ms"}, {Reason.LINK_RTT}),
    ({"rtt": "55ms"}, TOO_SHORT),
    ({"rtt": "200ms"}, TOO_SHORT),
    ({"rate": "5mbit"}, {Reason.LINK_RATE}),
    ({"mtu": "1300"}, {Reason.LINK_MTU}),
)


@dataclass(frozen=True)
class Loaded:
    record: TrialRecord

    def named(self, link: dict[str, str]) -> set[Reason]:
        assert self.record.page_load is not None
        verdict = LinkVerdict(self.record, self.record.page_load, Link.parse({**MADE, **link}))
        return {failure.reason for failure in verdict.failures()}


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    arm = {**FORCED, "browser": request.param}
    needs_server(arm)
    folder = tmp_path_factory.mktemp("quic")
    with Bed(BedSettings(folder=folder)) as bed:
        record = Bench(bed, folder / "trials").trial(Wanted(arm, MADE))
    assert {each.protocol for each in record.requests} == {"h3"}
    return Loaded(record)


def test_its_capture_proves_the_link(loaded: Loaded) -> None:
    assert loaded.named({}) == set()
    assert 40 <= loaded.record.measures["capture_rtt_ms"] < 55


@pytest.mark.parametrize(("other", "reasons"), OTHERS, ids=str)
def test_it_passes_for_a_load_over_no_other_link(loaded: Loaded, other: dict[str, str], reasons: set[Reason]) -> None:
    assert reasons & loaded.named(other)


def test_it_passes_for_a_load_over_no_quicker_link(loaded: Loaded) -> None:
    if {flag.name for flag in loaded.record.flags} & set(OF_THE_MACHINE):
        pytest.skip("the machine was starved: a router that catches up leaves no pace that tells a rate")
    assert Reason.LINK_RATE in loaded.named({"rate": "20mbit"})

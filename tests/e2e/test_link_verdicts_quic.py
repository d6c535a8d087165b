"""Real page loads over HTTP/3 through the judge of the link: each counts on its own link, and on no other."""

import re
from dataclasses import dataclass
from pathlib import Path

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
UNDER_WAY = 5  # packets lost in the last 0.1 s of a capture, which may still have been coming
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


@pytest.mark.parametrize(("other", "reasons"), OTHERS, ids=[str(other) for other, _ in OTHERS])
def test_it_passes_for_a_load_over_no_other_link(loaded: Loaded, other: dict[str, str], reasons: set[Reason]) -> None:
    assert reasons & loaded.named(other)


def test_it_passes_for_a_load_over_no_quicker_link(loaded: Loaded) -> None:
    if {flag.name for flag in loaded.record.flags} & set(OF_THE_MACHINE):
        pytest.skip("the machine was starved: a router that catches up leaves no pace that tells a rate")
    assert Reason.LINK_RATE in loaded.named({"rate": "20mbit"})


def test_the_losses_that_are_told_are_those_that_the_router_counts(tmp_path: Path) -> None:
    """With captures at both ends. Its queues are made anew for each load."""
    needs_server(FORCED)
    with Bed(BedSettings(folder=tmp_path)) as bed:
        bench = Bench(bed, tmp_path / "trials")
        record = bench.trial(Wanted(FORCED, {**MADE, "loss": "3%"}, both_ends=True))
        for way, device in (("down", "to_client"), ("up", "to_server")):
            shown = bench.run("router", f"tc -s qdisc show dev {device}")
            (dropped,) = re.findall(r"qdisc netem .* loss .*\n.* \(dropped (\d+)", shown)
            told, lost = (record.measures[f"{what}_packets_{way}"] for what in ("told", "lost"))
            assert told > 100
            assert int(dropped) - UNDER_WAY <= lost <= int(dropped)
    error = record.page_load.emulation if record.page_load else None
    assert error is not None
    assert error.down.strange == error.up.strange == 0

"""What one process does for another: arguments and answers cross as JSON, and keep their types."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from lanelab.driver.base.errors import RecordError
from lanelab.driver.base.operations import Remote, operations, served
from lanelab.driver.link import Link
from lanelab.driver.link.live.live_link import LiveLink
from lanelab.driver.link.live.operations import LinkChange, LinkEnded, LinkOperations, Pinged, Transfer, Way
from lanelab.driver.link.results import Result, SelfTest
from lanelab.driver.link.selftest.effort import USUAL, Effort
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.run.channel.fact_operations import FactOperations
from lanelab.driver.run.channel.facts import BedFactsHere
from lanelab.driver.trial.operations import TrialOperations
from lanelab.driver.trial.trials import Trials

TESTED = SelfTest((Result("rtt", "ms", 20.0, 20.1, 19.0, 21.0, "ok"),), 1.5)


class Here(LinkOperations):
    def __init__(self) -> None:
        self.asked: list[Any] = []

    def set_link(self, link: Link) -> LinkChange:
        self.asked.append(link)
        return LinkChange(("qdisc add",), 150)

    def test_link(self, effort: Effort = USUAL) -> SelfTest:
        self.asked.append(effort)
        return TESTED

    def ping(self, pings: Pings) -> Pinged:
        return Pinged(pings.count, (20.0, 20.5))

    def transfer(self, way: Way, seconds: float) -> Transfer:
        return Transfer(((0.0, 0), (seconds, 1 if way == "up" else 2)))

    def begin_link(self) -> None:
        self.asked.append("began")

    def end_link(self) -> LinkEnded:
        return LinkEnded(3, 0)


class There(LinkOperations):
    """Calls what is here, by way of JSON."""

    def __init__(self, here: Here) -> None:
        self._here, self.limits = here, dict[str, float]()

    def ask(self, name: str, arguments: Mapping[str, Any], within_s: float) -> object:
        self.limits[name] = within_s
        return json.loads(json.dumps(served(LinkOperations, self._here, name, json.loads(json.dumps(arguments)))))


def test_arguments_and_answers_keep_their_types() -> None:
    here = Here()
    there = There(here)
    link = Link.parse({"rtt": "40ms", "rate_down": "5mbit", "loss": "1%"})
    assert there.set_link(link) == LinkChange(("qdisc add",), 150)
    assert there.test_link() == TESTED
    assert there.test_link(effort=Effort(brief=True)) == TESTED
    assert there.ping(Pings(40, 2000)) == Pinged(40, (20.0, 20.5))
    assert there.transfer("up", 0.5) == Transfer(((0.0, 0), (0.5, 1)))
    assert there.end_link() == LinkEnded(3, 0)
    there.begin_link()
    assert here.asked == [link, USUAL, Effort(brief=True), "began"]
    assert there.limits["test_link"] > there.limits["transfer"] > there.limits["set_link"]


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("ping", {"pings": {"count": "many", "gap_us": 1}}, "ping: pings.count is not of type int"),
        ("transfer", {"way": "sideways", "seconds": 1.0}, "transfer: way is not one of down, up"),
        ("test_link", {"effort": {"brief": True}}, "attempts is missing"),
    ],
)
def test_what_is_not_of_its_type_is_named(name: str, arguments: Mapping[str, Any], why: str) -> None:
    with pytest.raises(RecordError, match=why):
        served(LinkOperations, Here(), name, arguments)


@pytest.mark.parametrize(
    ("interface", "here"), [(LinkOperations, LiveLink), (TrialOperations, Trials), (FactOperations, BedFactsHere)]
)
def test_every_operation_is_done_by_the_bed(interface: type[Remote], here: type[Remote]) -> None:
    assert operations(interface)
    assert operations(interface) <= vars(here).keys()
    assert not operations(here), "it would ask itself"


def test_no_name_is_used_twice() -> None:
    all_of_them = [name for each in (LinkOperations, TrialOperations, FactOperations) for name in operations(each)]
    assert len(all_of_them) == len(set(all_of_them))

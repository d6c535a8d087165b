"""What is said of round trips where hosts are not equally far: no number that is of no host."""

from collections.abc import Mapping

import pytest

from lanelab.analysis.results.explain.load_time_parts import MadeOf
from lanelab.analysis.results.model import Cell, LinkCase
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.parts import Part
from tests.kit.made_claims import ARMS


def made_of(link: Mapping[str, object]) -> MadeOf:
    case = LinkCase(1, "link", Link.parse(link).to_mapping())
    return MadeOf(Cell(1, "a", "page", case, ARMS[0]), 3, 1, 900.0, dict.fromkeys(Part, 100.0), {})


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"rtt": "40ms"}, "a round trip of 40 ms"),
        ({"distances": {"a.test": "10ms", "default": "200ms"}}, "a round trip to its host (10ms to 200ms)"),
        ({"distances": "recorded"}, "a round trip to its host"),
    ],
)
def test_a_round_trip_is_that_to_each_host(link: Mapping[str, object], words: str) -> None:
    made = made_of(link)
    assert made.round_trip_words == words
    assert ("round trips)" in " ".join(made.sentences())) == ("rtt" in link)

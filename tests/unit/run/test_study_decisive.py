"""What decides in an experiment, and what of it are words."""

import dataclasses

import pytest

from lanelab.driver.experiment.claim import Claim, Point
from lanelab.driver.run.study.decisive import OF_CLAIM, Decisive, decisive, difference
from tests.kit.experiments import read

TEXT = """\
sites: dummy
links: {rate: 10mbit, rtt: [20ms, 100ms]}
arms: {http: {}, h2: {protocol: h2, tls: 1.3}}
trials: 10
claims:
  faster:
    says: it is faster
    change: {of: h2, to: http}
    published: -39%
    margin: 8pp
    because: by eye
    for: every rtt
"""
WORDS = {"name", "says", "of", "because", "margin", "source", "places"}  # of the last two, what decides is taken


def differs(before: str, after: str) -> str:
    assert before in TEXT
    return difference(decisive(read(TEXT)), decisive(read(TEXT.replace(before, after))))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sites: dummy", "# a comment\nname: another\nsites: [dummy]"),
        ("{http: {}, h2: {protocol: h2, tls: 1.3}}", "{h2: {tls: 1.3, protocol: h2}, http: {keepalive: true}}"),
        ("10mbit", "10000kbit"),
        ("it is faster", "pages load faster"),
        ("faster:\n", "quicker:\n"),
        ("by eye", "with a ruler"),
        ("trials: 10", "trials: 10\nfigures: {x: rtt, y: plt, series: arm}"),
    ],
)
def test_words_decide_nothing(before: str, after: str) -> None:
    assert differs(before, after) == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("rtt: [20ms, 100ms]", "rtt: [20ms, 100ms], loss_up: 1%"),
        ("{protocol: h2, tls: 1.3}", "{protocol: h2, tls: 1.3, server: nginx}"),
        ("trials: 10", "trials: 10\nseed: 3"),
        ("trials: 10", "trials: 10\ntimeout: 50s"),
        ("trials: 10", "trials: 10\nretries: 1"),
        ("trials: 10", "trials: 10\norder: random"),
        ("trials: 10", "trials: 10\ntolerances: {missing: 1}"),
        ("trials: 10", "trials: 10\nscreenshot: true"),
        ("trials: 10", "until: {ci: 2%, min: 10, max: 10}"),
    ],
)
def test_what_is_measured_otherwise_has_other_settings(before: str, after: str) -> None:
    assert differs(before, after) == "measured with other settings"


@pytest.mark.parametrize(
    ("before", "after"),
    [("-39%", "-30%"), ("8pp", "2pp"), ("every rtt", "any rtt"), ("of: h2, to: http", "of: http, to: h2")],
)
def test_what_is_judged_otherwise_has_other_claims(before: str, after: str) -> None:
    assert differs(before, after) == "judged by other claims"


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("trials: 12", "measured with fewer rounds, 10 instead of 12"),
        ("trials: 6", "measured with more rounds, 10 instead of 6"),
        ("trials: 10\nbeds: 3", "measured with 1 instead of 3 beds"),
        ("trials: 12\nseed: 3", "measured with other settings and fewer rounds, 10 instead of 12"),
        ("until: {ci: 2%, min: 6, max: 40}", "measured with other settings and fewer rounds, 10 instead of 6 to 40"),
    ],
)
def test_fewer_rounds_and_beds_are_told_apart_from_other_settings(after: str, said: str) -> None:
    assert differs("trials: 10", after) == said


def test_rounds_and_claims_are_told_at_once() -> None:
    said = "measured with more rounds, 9 instead of 2, and judged by other claims"
    assert difference(Decisive("a", "b", 9, 9, 3), Decisive("a", "d", 2, 2, 3)) == said


def test_claims_are_not_compared_where_they_are_about_other_cells() -> None:
    assert difference(Decisive("a", "b", 9, 9, 3), Decisive("c", "d", 9, 9, 3)) == "measured with other settings"


def test_each_field_of_a_claim_decides_or_is_words() -> None:
    """A new one has to be named: it is one of both."""
    assert {field.name for field in dataclasses.fields(Claim)} == {*OF_CLAIM, *WORDS}
    assert {field.name for field in dataclasses.fields(Point)} == {"words", "cell", "base", "x"}

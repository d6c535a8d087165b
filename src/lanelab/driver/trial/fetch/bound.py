"""What no fetch can beat on a link. Pure.

    look-up + TCP handshake + TLS handshake + requests after one another + bytes that had to pass the bottleneck / rate

The parts are those of a page load's bound (page_load/bound.py), each with the quick case taken. What is asked for is
known from the start: of N objects, K at once, at least N / K requests and answers follow one another, and no page must
be there first. In series each object's own bytes pass between its request and the next.
"""

import math
from collections.abc import Sequence

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import HEADER, Link
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.fetch.settings import FetchSettings
from lanelab.driver.trial.page_load.answer_bytes import answer_bytes, loaded
from lanelab.driver.trial.page_load.bound import down_ns, frames_bytes, milliseconds, trip_ns, trips_before_request

TAIL_FRAMES = 1  # of an answer that may share its last frame with the next one's first


def fetch_bound(link: Link, arm: Arm, settings: FetchSettings, record: TrialRecord) -> float:
    """Return the milliseconds that the fetch in this record cannot have been faster than."""
    answers = loaded(record)
    if not answers:
        return 0.0
    trip = trip_ns(link)
    resolver = record.page_load.resolver if record.page_load else None
    opening = trips_before_request(link, link, arm, resolver, answers[0])
    begin = 0 if settings.warm else opening
    turns = math.ceil(len(answers) / settings.at_once)
    # Without keepalive each connection is opened for one object; a name is looked up once.
    again = 0 if arm.keepalive else trips_before_request(link, link, arm, None, answers[0])
    waiting = begin + turns * trip + (turns - 1) * again
    passing = begin + trip + _passing_ns(link, answers, record)
    in_series = 0
    if settings.at_once == 1:
        in_series = begin + sum(trip + _passing_ns(link, [each], record) for each in answers)
    return milliseconds(max(waiting, passing, in_series))


def _passing_ns(link: Link, answers: Sequence[Request], record: TrialRecord) -> int:
    """Return how long these answers keep the bottleneck busy. The frame that is counted in a round trip, and one that
    an answer may share with the next, are no part of it."""
    packets = record.page_load.packets.get("client") if record.page_load else None
    whole = frames_bytes(answer_bytes(answers, record), packets, link)
    return down_ns(link, whole - TAIL_FRAMES * (link.mtu + HEADER))

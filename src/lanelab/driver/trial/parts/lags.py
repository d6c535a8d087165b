"""How soon requests follow what they wait for, on the link: after the page, and after the answer before them. Pure.

A client of its own making of requests costs a load twice: between the page and the first requests that it asks for
(start lag), and between the end of an answer and the next request on that connection (turnaround). Both are what a
program between browser and link changes. docs/reference/parts.md defines them.
"""

import bisect
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise

from lanelab.driver.trial.parts.exchanges import MS, Exchange

START_LAGS: Mapping[int, str] = {1: "start_lag_ms", 6: "start_lag_6_ms"}  # which request after the page -> its measure
TURNAROUND = "turnaround_ms"


def lags(exchanges: Sequence[Exchange], *, one_at_a_time: bool) -> dict[str, float]:
    """The measures of a load; those that it has. `one_at_a_time`: a connection never carries two requests at once, so
    there is an end of an answer that the next one waits for."""
    in_order = sorted(exchanges, key=lambda each: each.sent)
    page = next((each for each in in_order if not each.redirects), None)
    if page is None:
        return {}
    after = [each for each in in_order if each.sent > page.sent]
    found = {name: after[which - 1].sent - page.last for which, name in START_LAGS.items() if which <= len(after)}
    turned = _turnarounds(in_order, page) if one_at_a_time else []
    if turned:
        found[TURNAROUND] = round(statistics.median(turned))
    return {name: round(value / MS, 3) for name, value in found.items()}


def _turnarounds(in_order: Sequence[Exchange], page: Exchange) -> list[int]:
    """From the last packet of each answer to the next request on its connection. What follows the page, or
    a redirect, is none: its answer has to be read for there to be a request."""
    by_stream: dict[int, list[Exchange]] = {}
    for each in in_order:
        if each.stream is not None:
            by_stream.setdefault(id(each.stream), []).append(each)
    found = []
    for carried in by_stream.values():
        stream = carried[0].stream
        came = [packet.at_ns for packet in stream.packets if not packet.up and packet.payload] if stream else []
        for before, each in pairwise(carried):
            at = bisect.bisect_right(came, each.sent)
            if before is not page and not before.redirects and at and came[at - 1] > before.sent:
                found.append(each.sent - came[at - 1])
    return found

"""From the records of loads to how faithful they were. Pure. docs/reference/site.md explains the numbers to users.

What was asked for is what the server's log has: it sees the requests of pages, frames, workers and preflights alike.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.fidelity import ProtocolFidelity
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.page_load import sockets
from lanelab.driver.trial.page_load.judges.extra import FAVICON
from lanelab.driver.trial.page_load.judges.objects import PREFLIGHT, Objects
from lanelab.driver.trial.page_load.requests import INEXACT, asked_of, host, on_network, target
from lanelab.driver.trial.tolerances import Tolerances

Key = tuple[str, str]  # method, and URL without scheme
PARTIAL = 206  # of an object that was recorded whole
EXACT = "exact"
FLOAT_ERROR = 1e-6
PLAIN = Arm.parse("verify", {})  # no arm's own rules
# Reasons against a trial that are what fidelity counts.
TOLERATED = {
    *(Reason.MISSING_OBJECT, Reason.FAILED_OBJECT, Reason.EXTRA_REQUEST, Reason.OUTSIDE_REQUEST),
    *(Reason.FROM_CACHE, Reason.COMPRESSION_IGNORED, Reason.INEXACT_ANSWER),
}


@dataclass(frozen=True, slots=True)
class Load:
    """One load against the recording."""

    exact: int
    inexact: int
    missing: int
    extra: int
    bytes_off: int
    requests: frozenset[Key]  # what every load should ask for again
    differences: tuple[str, ...]  # words on what is inexact, missing or extra


@dataclass(frozen=True, slots=True)
class Expectation:
    """The facts of a faithful load of the site."""

    wanted: Mapping[Key, SiteObject]
    late: frozenset[Key]  # may come or not
    unanswered: frozenset[str]
    hosts: frozenset[str]
    site: Site

    @classmethod
    def of(cls, site: Site) -> "Expectation":
        return cls(
            site=site,
            wanted={key(each): each for each in site.objects if not _may_be_absent(each)},
            late=frozenset(key(each) for each in site.objects if _may_be_absent(each)),
            unanswered=frozenset(site.unanswered),
            hosts=frozenset(site.hosts),
        )

    @property
    def bytes(self) -> int:
        return sum(each.size for each in self.wanted.values())

    def concerns(self, request: Key) -> bool:
        """Return whether it counts. An icon that the browser looks for by itself is not the page's."""
        known = request in self.wanted
        return known or not (
            request in self.late or request[1] in self.unanswered or request[1].partition("?")[0].endswith(FAVICON)
        )


def _may_be_absent(each: SiteObject) -> bool:
    return each.late or each.method == PREFLIGHT


def key(each: SiteObject) -> Key:
    return each.method, each.url


def problem_of(record: TrialRecord) -> str | None:
    """Return why this load shows nothing; None: it does. What fidelity counts itself is no reason."""
    failed = [each for each in record.failures if each.reason not in TOLERATED]
    if failed:
        return f"{failed[0].reason}: {failed[0].detail}"
    evidence = record.page_load
    if evidence is None or evidence.server is None:
        return "the server's log of requests is missing"
    if not evidence.server.requests:
        return "the server's log has no request"
    return None


def load_of(record: TrialRecord, expected: Expectation) -> Load:
    """Return the counts of a load that has no problem."""
    evidence = record.page_load
    lines = evidence.server.requests if evidence and evidence.server else ()
    served: dict[Key, ServedRequest] = {}
    for each in sockets.without(lines, sockets.handshakes(evidence) if evidence else ()):
        if each.host and each.path:
            served.setdefault((each.method, each.host + each.path), each)
    served = {request: each for request, each in served.items() if expected.concerns(request)}
    untaken = _untaken(record, expected.site)
    exact = {
        request: each
        for request, each in served.items()
        if request not in untaken and _is_exact(each, expected.wanted.get(request))
    }
    unknown = {request: each for request, each in served.items() if request not in expected.wanted}
    inexact = [request for request, each in unknown.items() if each.match in INEXACT]
    outside = _outside(record, expected)
    absent = [request for request in expected.wanted if request not in exact]
    # An answer that is another request's stands for one that the recording has and that was not asked for.
    missing = max(len(absent) - len(inexact), 0)
    return Load(
        exact=len(exact),
        inexact=len(inexact),
        missing=missing,
        extra=len(unknown) - len(inexact) + len(outside),
        bytes_off=sum(_off(each, exact.get(request)) for request, each in expected.wanted.items()),
        requests=frozenset((*served, *outside)),
        differences=(
            *(f"inexact: {_words(request)}" for request in inexact),
            *(
                f"missing: {_words(request, untaken.get(request))}"
                for request in absent[: len(absent) if missing else 0]
            ),
            *(f"extra: {_words(request)}" for request in (*unknown, *sorted(outside)) if request not in inexact),
        ),
    )


def _untaken(record: TrialRecord, site: Site) -> dict[Key, str]:
    """Return answers that do not count, with the reason: the browser refused them, had them too late, or had its own
    copy. The length of a body is counted apart: an arm may change it."""
    faults = Objects(record, PLAIN, site, Tolerances()).faults()
    refused = {asked_of(each) for each in record.requests if each.error is not None}
    broken = {request: why for request, why in faults.broken.items() if request in refused}
    return broken | faults.missing | dict.fromkeys(faults.cached, "from the cache")


def _words(request: Key, why: str | None = None) -> str:
    method, url = request
    return f"{'' if method == 'GET' else f'{method} '}{url}{f' ({why})' if why else ''}"


def _is_exact(served: ServedRequest, recorded: SiteObject | None) -> bool:
    """Judge by the server's word; where it has none, by the status."""
    if recorded is None:
        return False
    if served.match is not None:
        return served.match == EXACT
    return served.status in (recorded.status, PARTIAL)


def _off(recorded: SiteObject, served: ServedRequest | None) -> int:
    """Return how many bytes the body is off. Of a part that the browser asked for, as of a video, nothing can be
    said."""
    if served is None:
        return recorded.size
    if served.status == PARTIAL:
        return 0
    return abs(served.body_bytes - recorded.size)


def _outside(record: TrialRecord, expected: Expectation) -> set[Key]:
    """What went to hosts that the site does not have; the server never sees it."""
    keys = {(each.method, target(each)) for each in on_network(record.requests) if host(each) not in expected.hosts}
    return {each for each in keys if expected.concerns(each)}


@dataclass(frozen=True, slots=True)
class Loads:
    """All loads over one protocol, and what else is known of it."""

    protocol: str
    records: Sequence[TrialRecord]  # one for each load that was asked for
    pictures: Sequence[float] = ()  # share of pixels that differ from the recorded picture, of each load
    has_picture: bool = False  # the recording has one
    not_reproduced: tuple[str, ...] = ()


def fidelity_of(loads: Loads, wanted_loads: int, site: Site) -> ProtocolFidelity:
    """Return counts, and the score where there is all evidence for one."""
    expected = Expectation.of(site)
    problems = [why for record in loads.records if (why := problem_of(record))]
    sound = [load_of(record, expected) for record in loads.records if problem_of(record) is None]
    if len(loads.records) < wanted_loads:
        problems.append(f"{wanted_loads - len(loads.records)} of {wanted_loads} loads were not made")
    if loads.has_picture and len(loads.pictures) < wanted_loads:
        problems.append(f"{wanted_loads - len(loads.pictures)} of {wanted_loads} loads have no picture")
    keys = [each.requests for each in sound]
    counted = ProtocolFidelity(
        protocol=loads.protocol,
        loads=len(sound),
        wanted=len(expected.wanted) * len(sound),
        exact=sum(each.exact for each in sound),
        inexact=sum(each.inexact for each in sound),
        missing=sum(each.missing for each in sound),
        extra=sum(each.extra for each in sound),
        bytes_recorded=expected.bytes * len(sound),
        bytes_off=sum(each.bytes_off for each in sound),
        always=len(frozenset.intersection(*keys)) if keys else 0,
        ever=len(frozenset.union(*keys)) if keys else 0,
        pixels_differ=max(loads.pictures, default=None),
        not_reproduced=loads.not_reproduced,
        problems=tuple(dict.fromkeys(problems)),
        score=None,
    )
    return replace(counted, score=score_of(counted))


def differences_of(records: Iterable[TrialRecord], site: Site) -> tuple[str, ...]:
    """Return what differed in any of these loads."""
    expected = Expectation.of(site)
    sound = (record for record in records if record.page_load is not None)
    return tuple(dict.fromkeys(words for record in sound for words in load_of(record, expected).differences))


def score_of(counted: ProtocolFidelity) -> float | None:
    """The least of its parts, in percent, rounded down: 100 means all. None where evidence is absent."""
    if counted.problems or not counted.loads:
        return None
    return math.floor(100_000 * min(parts_of(counted).values()) + FLOAT_ERROR) / 1000


def parts_of(counted: ProtocolFidelity) -> dict[str, float]:
    """Return what the score is the least of, each from 0 to 1."""
    all_requests = counted.exact + counted.inexact + counted.missing + counted.extra
    parts = {
        "requests": _share(counted.exact, all_requests),
        "bytes": 1 - min(_share(counted.bytes_off, counted.bytes_recorded, of_nothing=0.0), 1.0),
        "stability": _share(counted.always, counted.ever),
    }
    if counted.pixels_differ is not None:
        parts["picture"] = 1 - counted.pixels_differ
    return parts


def _share(part: int, whole: int, of_nothing: float = 0.0) -> float:
    return part / whole if whole else of_nothing


def least(scores: Iterable[float | None]) -> float | None:
    """The score of several protocols; None where one of them has none, or there is none."""
    listed = list(scores)
    known = [score for score in listed if score is not None]
    return min(known) if known and len(known) == len(listed) else None

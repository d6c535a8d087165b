"""What the gateway's log says. Pure."""

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.gateway import GatewayConnection, GatewayLog, GatewayRequest, LookUp, Push

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class FirstLine(Coded):
    """The line in which the gateway describes itself."""

    version: str
    started_unix_us: int
    wire: Mapping[str, object]  # of its configuration, for the record


KINDS: Mapping[str, type[Coded]] = {
    "gateway": FirstLine,
    "connection": GatewayConnection,
    "request": GatewayRequest,
    "push": Push,
    "dns": LookUp,
}


def parse(data: bytes) -> GatewayLog:
    """Return the log. A line that is not whole, or that has other keys than its kind, is left out and counted: a
    gateway that was killed may leave one, one that ended well leaves none."""
    lines = [_read(line) for line in data.split(b"\n") if line]
    first = next((each for each in lines if isinstance(each, FirstLine)), None)
    connections = [each for each in lines if isinstance(each, GatewayConnection)]
    requests = [each for each in lines if isinstance(each, GatewayRequest)]
    return GatewayLog(
        version=first.version if first else None,
        started_unix_us=first.started_unix_us if first else None,
        wire=first.wire if first else None,
        connections=tuple(sorted(connections, key=lambda each: each.connection)),
        requests=tuple(sorted(requests, key=lambda each: each.request)),
        dns=tuple(each for each in lines if isinstance(each, LookUp)),
        unread_lines=lines.count(None),
        pushes=tuple(sorted((each for each in lines if isinstance(each, Push)), key=lambda each: each.promised_ms)),
    )


def _read(line: bytes) -> Coded | None:
    """Return what the line says; None where it cannot be understood."""
    try:
        entry = json.loads(line)
        kind = KINDS[entry.pop("event")]
        value = kind.from_json(entry)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError, RecordError):
        return None
    return value if _number(value) >= 1 else None


def _number(value: Coded) -> int:
    if isinstance(value, GatewayRequest):
        return value.request
    return value.connection if isinstance(value, GatewayConnection) else 1


def gaps(log: GatewayLog) -> Iterator[str]:
    """What the log of a gateway that ended well has, and this one does not."""
    if log.unread_lines:
        yield f"{log.unread_lines} of the lines of the gateway's log cannot be read"
    if log.started_unix_us is None:
        yield "the gateway's log lacks its first line"
    yield from _numbered("requests", [each.request for each in log.requests])
    # A connection whose name was not found has a number, and was none.
    unfound = any(each.error for each in log.dns)
    yield from _numbered("connections", [each.connection for each in log.connections], whole=not unfound)


def _numbered(kind: str, numbers: Sequence[int], *, whole: bool = True) -> Iterator[str]:
    """Yield what is wrong with numbers, which go from 1 on, each once; where they must be whole, without a gap."""
    counted = Counter(numbers)
    last = max(counted, default=0)
    if whole and last > len(counted):
        absent = _some(number for number in range(1, last) if number not in counted)
        yield f"the gateway's log lacks {last - len(counted)} of {kind}: {absent}"
    twice = sorted(number for number, count in counted.items() if count > 1)
    if twice:
        yield f"the gateway's log has {len(twice)} of {kind} more than once: {_some(twice)}"


def _some(numbers: Iterable[int]) -> str:
    return f"number {', '.join(map(str, itertools.islice(numbers, MOST_NAMED)))}"

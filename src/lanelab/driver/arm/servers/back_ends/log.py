"""What the logs of back ends say. Pure."""

import re
from collections.abc import Iterable

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.server import ServedRequest

CLOCK_US = 1
# date time LEVEL logger: words; native/servlet/common/Main.java writes every record on one line.
_LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?P<level>[A-Z]+) ")
# A client, or a proxy whose client it was, left before its answer was whole: what it lost, the load says itself. And
# of HTTP/2, settings that are not known are to be ignored. Nor does it matter how long a busy machine took to begin.
_HARMLESS = re.compile(
    r"StreamException: Stream: .* is reset|EofException|ClientAbortException|CloseNowException|Broken pipe|"
    r"Connection reset by peer|ClosedChannelException|An unknown setting with identifier|"
    r"Creation of SecureRandom instance"
)
_QUIET = {"INFO", "CONFIG", "FINE", "FINER", "FINEST"}


def unexpected(lines: Iterable[str]) -> list[str]:
    """Return warnings and worse, and what is no log line at all; not that a client has left."""
    return [line for line in lines if line.strip() and not _expected(line)]


def _expected(line: str) -> bool:
    match = _LINE.match(line)
    return match is not None and (match["level"] in _QUIET or bool(_HARMLESS.search(line)))


def requests(lines: Iterable[str]) -> list[ServedRequest]:
    """Raises RecordError for a log with lines: a servlet does not know how long heads are, nor what its connection
    carried before, and nothing is invented."""
    if any(line.strip() for line in lines):
        what = "a back end's log of requests does not say what went over its connections"
        raise RecordError(what, "Read access.log, or use another server", key="requests")
    return []

"""What Apache's logs say. Pure."""

import json
import re
from collections.abc import Iterable

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.server import ServedRequest

# [time] [module:level] [pid …] … AHnnnnn: words
_LINE = re.compile(r"^\[[^\]]+\] \[(?P<module>[^:\]]*):(?P<level>[a-z0-9]+)\] (?P<rest>.*)$")
_QUIET = {"notice", "info", "debug", *(f"trace{number}" for number in range(1, 9))}
# A child that died (by itself, with a core dump, by a signal): Apache notes it as a notice and starts another.
_NEVER_EXPECTED = {"AH00050", "AH00051", "AH00052"}
# Warnings that say nothing about a trial.
_EXPECTED = {
    "AH01873": "no TLS session cache: what an arm without resumption asks for",
    "AH01882": "how the distribution built its packages: the same in every trial",
    "AH01909": "the default virtual host's name is in no certificate, and shall not be",
}
RESUMED = "Resumed"
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))")


def unexpected(lines: Iterable[str]) -> list[str]:
    """Return the lines of an error log that speak against a trial: warnings and worse, dead children, and what is no
    log line at all."""
    return [line for line in lines if line.strip() and not _expected(line)]


def _expected(line: str) -> bool:
    match = _LINE.match(line)
    if not match:
        return False
    code = re.search(r"\bAH\d{5}\b", match["rest"])
    if code and code[0] in _NEVER_EXPECTED:
        return False
    return match["level"] in _QUIET or (code is not None and code[0] in _EXPECTED)


def requests(lines: Iterable[str]) -> list[ServedRequest]:
    """Return the lines of a log of requests. RecordError for one that cannot be read."""
    read = [_request(line) for line in lines if line.strip()]
    return [each for each in read if not _is_own(each)]


def _is_own(request: ServedRequest) -> bool:
    """Return whether Apache asked itself: so it wakes a child of which there are more than it needs, to end it."""
    client, server = (each.rpartition(":")[0] for each in (request.remote, request.local))
    return (request.method, request.path) == ("OPTIONS", "*") and client == server


def _request(line: str) -> ServedRequest:
    """Apache writes "-" where there is nothing to write; as `connection` it means that this one was closed."""
    try:
        entry = json.loads(_ESCAPE.sub(_as_json, line))
        words = str(entry.pop("request")).split(" ")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RecordError(f"a line of the server's log cannot be read: {line[:200]}", key="requests") from error
    entry = {key: None if value == "-" and key != "connection" else value for key, value in entry.items()}
    entry |= {"method": words[0], "path": words[1] if len(words) > 1 else None}
    resumed = entry.get("tls_resumed")
    entry["tls_resumed"] = None if resumed is None else resumed == RESUMED
    return ServedRequest.from_json({"tls": None, "spdy": None, **entry}, "requests")


def _as_json(escape: re.Match[str]) -> str:
    """Apache escapes like C, JSON has fewer of these."""
    if escape[1]:
        return f"\\u00{escape[1]}"
    return escape[0] if escape[2] in '"\\/bfnrt' else {"v": "\\u000b", "a": "\\u0007"}.get(escape[2], escape[2])

"""How a request spent its time, in HAR's parts, from what DevTools tell. Pure."""

from collections.abc import Mapping

from lanelab.driver.record.evidence.browser import Timings

NOT_APPLICABLE = -1


def timings(started: float, ended: float | None, timing: Mapping[str, float] | None) -> Timings:
    """Return milliseconds of each part, -1 for what did not happen. `started` and `ended` in seconds; `timing` is
    DevTools' ResourceTiming: seconds of `requestTime`, the rest milliseconds from it.

    The parts sum up to the whole, without `ssl`, which HAR counts within `connect`. What lies between them (waiting for
    a connection that another request opened, or in a queue) is `blocked`.
    """
    total = 0.0 if ended is None else max((ended - started) * 1000, 0.0)
    parts = dict.fromkeys(("blocked", "dns", "connect", "ssl"), float(NOT_APPLICABLE))
    parts |= {"send": 0.0, "wait": 0.0, "receive": 0.0}
    if timing is None:
        parts["blocked" if ended is None else "receive"] = round(total, 3)
        return Timings(**parts)
    parts["dns"] = _span(timing, "dnsStart", "dnsEnd")
    # With early data the request leaves before the connection is made: what follows is waiting for the answer.
    connected = {name: _until(timing, name, "sendStart") for name in ("connectEnd", "sslEnd")}
    parts["connect"] = _span({**timing, **connected}, "connectStart", "connectEnd")
    parts["ssl"] = _span({**timing, **connected}, "sslStart", "sslEnd")
    parts["send"] = max(_span(timing, "sendStart", "sendEnd"), 0.0)
    # Since 2022 there is a start of the answer's headers, too; wait is until their first byte where it is known.
    first_byte = timing.get("receiveHeadersStart") or timing.get("receiveHeadersEnd") or 0.0
    parts["wait"] = max(first_byte - max(timing.get("sendEnd", 0.0), 0.0), 0.0)
    if ended is not None:
        parts["receive"] = max((ended - timing["requestTime"]) * 1000 - first_byte, 0.0)
    known = sum(max(parts[name], 0.0) for name in ("dns", "connect", "send", "wait", "receive"))
    parts["blocked"] = max(total - known, 0.0)
    return Timings(**{name: value if value < 0 else round(value, 3) for name, value in parts.items()})


def _span(timing: Mapping[str, float], start: str, end: str) -> float:
    first, last = timing.get(start, -1.0), timing.get(end, -1.0)
    return float(NOT_APPLICABLE) if first < 0 or last < 0 else float(max(last - first, 0.0))


def _until(timing: Mapping[str, float], name: str, latest: str) -> float:
    """Return that moment, or the other where it was before."""
    moment, end = timing.get(name, -1.0), timing.get(latest, -1.0)
    return moment if end < 0 else min(moment, end)

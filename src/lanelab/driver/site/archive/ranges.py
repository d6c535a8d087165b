"""Parts of one file -> the whole file: how browsers fetch video. A server makes parts of it again when it is asked."""

import re
from collections.abc import Sequence
from dataclasses import replace

from lanelab.driver.site.archive.http_text import values_of
from lanelab.driver.site.exchange import Exchange

PARTIAL = 206
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")
_VALIDATORS = ("etag", "last-modified", "content-encoding", "content-type")


def joined(parts: Sequence[Exchange]) -> Exchange | None:
    """Return the answer to a request for all of it; None where bytes are missing, or where the parts are of several
    files."""
    pieces: list[tuple[int, bytes]] = []
    totals = set()
    for part in parts:
        ranges = [_RANGE.fullmatch(value.strip()) for value in values_of(part.headers, "content-range")]
        match = ranges[0] if len(ranges) == 1 else None
        if match is None or int(match[2]) - int(match[1]) + 1 != len(part.body):
            return None
        pieces.append((int(match[1]), part.body))
        totals.add(int(match[3]))
    kinds = {tuple(tuple(values_of(part.headers, name)) for name in _VALIDATORS) for part in parts}
    if len(totals) != 1 or len(kinds) != 1:
        return None
    body = bytearray()  # grows without copies: there may be many parts
    for begin, piece in sorted(pieces, key=lambda each: (each[0], -len(each[1]))):
        if begin > len(body):
            return None
        body += piece[len(body) - begin :]
    if len(body) != totals.pop():
        return None
    headers = tuple(each for each in parts[0].headers if each[0].lower() != "content-range")
    late = all(part.late for part in parts)
    return replace(parts[0], status=200, reason="OK", headers=headers, body=bytes(body), late=late)

"""Times as pairs of nanoseconds, and how a time is divided among claims that overlap. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Interval = tuple[int, int]


class Claim(NamedTuple):
    """A claim of something that was under way on its time. Of claims on the same moment the one with the lowest rank
    has it."""

    begin: int
    end: int
    rank: int
    detail: str = ""


class Piece(NamedTuple):
    """A time that one rank has."""

    begin: int
    end: int
    rank: int
    detail: str


def joined(intervals: Iterable[Interval], gap: int = 0) -> list[Interval]:
    """The same times, those that overlap or lie no more than `gap` apart as one."""
    result: list[Interval] = []
    for begin, end in sorted(intervals):
        if result and begin - result[-1][1] <= gap:
            result[-1] = result[-1][0], max(result[-1][1], end)
        else:
            result.append((begin, end))
    return result


def common(first: Sequence[Interval], second: Sequence[Interval]) -> list[Interval]:
    """The times that are in both; each is in order and without overlaps."""
    result, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        begin, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if begin < end:
            result.append((begin, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return result


def divide(whole: Interval, claims: Iterable[Claim], rest: int, shortest: int) -> list[Piece]:
    """All of `whole`, piece after piece: each moment belongs to the claim of the lowest rank, and to `rest` where there
    is none. A piece that is shorter than `shortest` belongs to the one before it."""
    edges: list[tuple[int, int, int, str]] = []
    for claim in claims:
        begin, end = max(claim.begin, whole[0]), min(claim.end, whole[1])
        if begin < end:
            edges += [(begin, 1, claim.rank, claim.detail), (end, -1, claim.rank, claim.detail)]
    edges.sort(key=lambda edge: edge[:3])
    active: list[dict[str, int]] = [{} for _ in range(rest)]
    pieces: list[Piece] = []
    at = whole[0]
    for moment, change, rank, detail in [*edges, (whole[1], 0, rest, "")]:
        if moment > at:
            _add(pieces, _piece(at, moment, active, rest), shortest)
            at = moment
        if change:
            count = active[rank].get(detail, 0) + change
            active[rank][detail] = count
            if not count:
                del active[rank][detail]
    return pieces


def _piece(begin: int, end: int, active: Sequence[dict[str, int]], rest: int) -> Piece:
    for rank, details in enumerate(active):
        if details:
            return Piece(begin, end, rank, max(details, key=len))
    return Piece(begin, end, rest, "")


def _add(pieces: list[Piece], piece: Piece, shortest: int) -> None:
    """Append it, or make it part of the last one where it goes on with that or is too short to stand alone."""
    last = pieces[-1] if pieces else None
    if last and (last.rank == piece.rank or piece.end - piece.begin < shortest):
        detail = max(last.detail, piece.detail, key=len) if last.rank == piece.rank else last.detail
        pieces[-1] = Piece(last.begin, piece.end, last.rank, detail)
    else:
        pieces.append(piece)

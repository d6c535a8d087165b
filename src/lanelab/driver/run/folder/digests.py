"""Digests of what a run folder stores: the run as a whole, each trial and each self-test have one for each part, made
in the transaction that stores it. Whoever reads a part compares it with its digest.

They show what was changed by mistake or in haste. Whoever changes a part and its digest is not found: against that,
publish the run as an artifact, and the digest of the archive.

The canonical form of a part is the JSON of its rows, as the database has them, in the order of the query.
"""

import hashlib
import itertools
import json
import operator
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from lanelab.driver.base.errors import ChangedError

Kind = Literal["run", "trial", "self-test"]
# The name of each part, as messages have it, and its rows. The first column is the number of the trial or self-test.
_CELL = "site, label, links.settings, arms.name, arms.settings, cells.id"
_TRIAL: Mapping[str, str] = {
    "cell, round or status": f"""
        SELECT trial, {_CELL}, session, bed, round, attempt, started_utc, wall_s, status, asked, versions, origin
        FROM trials JOIN cells USING (cell) JOIN links USING (link) JOIN arms USING (arm)
        WHERE {{which}} ORDER BY trial""",  # noqa: S608 - names from here
    "measures": "SELECT trial, name, value FROM measures WHERE {which} ORDER BY trial, name",
    "failures": "SELECT trial, reason, detail FROM failures WHERE {which} ORDER BY trial, rowid",
    "flags": "SELECT trial, name, detail FROM flags WHERE {which} ORDER BY trial, rowid",
    "list of files": "SELECT trial, name, bytes, sha256 FROM artifacts WHERE {which} ORDER BY trial, name",
    "record": "SELECT trial, record FROM trials WHERE {which} ORDER BY trial",
    "requests": """
        SELECT trial, number, url, status, protocol, connection, priority, started_ms, ended_ms, wire_bytes, body_bytes,
        data FROM requests WHERE {which} ORDER BY trial, number""",
    "series": "SELECT trial, name, t_ms, value FROM series WHERE {which} ORDER BY trial, name, t_ms, value",
}
_SELF_TEST: Mapping[str, str] = {
    "result": """
        SELECT self_test, label, settings, session, bed, moment, at_utc, passed, data
        FROM self_tests JOIN links USING (link) WHERE {which} ORDER BY self_test""",
}
_RUN: Mapping[str, str] = {
    "plan, figures or claims": "SELECT 1, key, value FROM meta WHERE key != 'state' AND {which} ORDER BY key",
    "beds": """
        SELECT 1, bed, uid, beds.facts, name, machines.facts
        FROM beds JOIN machines USING (machine) WHERE {which} ORDER BY bed""",
    "sessions": """
        SELECT 1, session, started_utc, ended_utc, ending, provenance FROM sessions WHERE {which} ORDER BY session""",
    "versions": "SELECT 1, versions, data FROM versions WHERE {which} ORDER BY versions",
    "list of trials": "SELECT 1, trial FROM trials WHERE {which} ORDER BY trial",
    "list of self-tests": "SELECT 1, self_test FROM self_tests WHERE {which} ORDER BY self_test",
}
_PARTS: Mapping[Kind, Mapping[str, str]] = {"run": _RUN, "trial": _TRIAL, "self-test": _SELF_TEST}
_NUMBER: Mapping[Kind, str] = {"run": "1", "trial": "trial", "self-test": "self_test"}
_TABLE: Mapping[Kind, str] = {"run": "meta", "trial": "trials", "self-test": "self_tests"}
THE_RUN = 1  # its number, since there is one
PLAN, BEDS, SESSIONS, VERSIONS, TRIALS, SELF_TESTS = _RUN
CELL, MEASURES, FAILURES, FLAGS, FILES, RECORD, REQUESTS, SERIES = _TRIAL
OF_RESULTS = (CELL, MEASURES, FAILURES, FLAGS)  # what tables, figures and claims are made of, and is small
OF_RECORD = (MEASURES, RECORD, REQUESTS, SERIES)
_NO_ROWS = hashlib.sha256(b"[]").hexdigest()
_canonical = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode  # rows hold no others
Taker = Callable[[int, Sequence[tuple[Any, ...]]], None]  # of the rows of a part, without their first column
Numbers = tuple[int, int]  # of trials or self-tests, from one to another
MOST_GUESSES = 8  # names of measures that are tried before a trial's own are read
AT_ONCE = 5000  # trials whose digests are compared in one go: of a run of very many, all would fill the memory


_NOTED = "SELECT number, parts FROM digests WHERE kind = ? AND number BETWEEN ? AND ?"
GONE, UNDIGESTED = "", "digest"


@dataclass(frozen=True, slots=True)
class Difference:
    """A part that is not what was stored. GONE: all of it is gone. UNDIGESTED: nobody can tell what it was."""

    kind: Kind
    number: int
    part: str

    def __str__(self) -> str:
        what = self.kind if self.kind == "run" else f"{self.kind} {self.number}"
        if self.part in (GONE, UNDIGESTED):
            return f"{what}{': its digest' if self.part else ''} is gone"
        several = self.part.endswith("s") and not self.part.startswith("list")
        verb = "were" if several or self.part == CELL else "was"
        return f"{what}: its {self.part} {verb} changed"


def note_digests(
    database: sqlite3.Connection,
    kind: Kind,
    number: int,
    parts: Iterable[str] | None = None,
    others: Mapping[str, str] | None = None,
) -> None:
    """Write the digests of what was just stored, within the transaction of the caller: of all parts, or of those that
    are named. `others` has digests of other parts, which need not be read again."""
    one = (number, number)
    known = {} if parts is None else _noted(database, kind, one).get(number, {})
    noted = {**known, **(others or {})}
    for part in parts if parts is not None and known else _PARTS[kind]:
        noted[part] = dict(_digests(database, kind, part, one)).get(number, _NO_ROWS)
    _write_digests(database, kind, {number: noted})


def note_new_digests(database: sqlite3.Connection, kind: Kind, numbers: Collection[int]) -> None:
    """Write the digests of all parts of trials or self-tests that were just stored, within the transaction of the
    caller: each part of all of them is read in one go."""
    if not numbers:
        return
    span = (min(numbers), max(numbers))
    read = {part: dict(_digests(database, kind, part, span)) for part in _PARTS[kind]}
    noted = {each: {part: of.get(each, _NO_ROWS) for part, of in read.items()} for each in numbers}
    _write_digests(database, kind, noted)


def _write_digests(database: sqlite3.Connection, kind: Kind, noted: Mapping[int, Mapping[str, str]]) -> None:
    rows = [(kind, number, json.dumps(digests)) for number, digests in noted.items()]
    database.executemany("INSERT OR REPLACE INTO digests VALUES (?, ?, ?)", rows)


class GrowingList:
    """The digest of a list of numbers that grows at its end, as that of a part whose rows have one column. To read the
    list of a run of very many trials anew for each of them takes longer than to store it."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._digest, self.last = hashlib.sha256(b"["), 0
        self.add(numbers)

    def add(self, numbers: Iterable[int]) -> None:
        """Each is above all that are there."""
        for number in numbers:
            if number <= self.last:
                raise ValueError(f"{number} does not follow {self.last}")
            self._digest.update(b"%s[%d]" % (b"," if self.last else b"", number))
            self.last = number

    @property
    def digest(self) -> str:
        whole = self._digest.copy()
        whole.update(b"]")
        return whole.hexdigest()


def differences(
    database: sqlite3.Connection,
    kind: Kind = "trial",
    numbers: Numbers | None = None,
    parts: Sequence[str] | None = None,
    takers: Mapping[str, Taker] | None = None,
) -> list[Difference]:
    """Return all parts, or those that are named, that differ, of all trials or self-tests, or of those with these
    numbers. `takers` get the rows of parts, which so are read once."""
    compared = list(_PARTS[kind]) if parts is None else list(parts)
    every = [numbers] if numbers else _blocks(database, kind)
    different = [each for block in every for each in _differences_within(database, kind, block, compared, takers or {})]
    order = {part: place for place, part in enumerate((GONE, UNDIGESTED, *compared))}
    return sorted(different, key=lambda each: (order[each.part], each.number))


def _blocks(database: sqlite3.Connection, kind: Kind) -> Iterator[Numbers]:
    """Yield the numbers of all trials or self-tests that are there or have digests, so many at once."""
    query = f"SELECT {_NUMBER[kind]} FROM {_TABLE[kind]} UNION SELECT number FROM digests WHERE kind = ? ORDER BY 1"  # noqa: S608
    known = [each for (each,) in database.execute(query, (kind,))]
    for first in range(0, len(known), AT_ONCE):
        block = known[first : first + AT_ONCE]
        yield block[0], block[-1]


def _differences_within(
    database: sqlite3.Connection, kind: Kind, numbers: Numbers, parts: Sequence[str], takers: Mapping[str, Taker]
) -> Iterator[Difference]:
    noted, column = dict(database.execute(_NOTED, (kind, *numbers))), _NUMBER[kind]
    query = f"SELECT {column} FROM {_TABLE[kind]} WHERE {column} BETWEEN ? AND ?"  # noqa: S608 - names from here
    there = {each for (each,) in database.execute(query, numbers)}
    yield from (Difference(kind, each, GONE) for each in noted.keys() - there)
    yield from (Difference(kind, each, UNDIGESTED) for each in there - noted.keys())
    for part in parts:
        take = takers.get(part)
        if take and part == MEASURES:
            now = dict(_taken_measures(database, numbers, noted, take))
        else:
            now = dict(_digests(database, kind, part, numbers, take))
        for each in noted.keys() & there:
            if _stored(noted[each], part) != now.get(each, _NO_ROWS):
                yield Difference(kind, each, part)


def require_unchanged(
    database: sqlite3.Connection,
    folder: Path,
    kind: Kind = "trial",
    numbers: Numbers | None = None,
    parts: Sequence[str] | None = None,
    takers: Mapping[str, Taker] | None = None,
) -> None:
    """Raises ChangedError for the first difference."""
    for difference in differences(database, kind, numbers, parts, takers):
        raise changed(folder, str(difference))


def changed(folder: Path, what: str) -> ChangedError:
    remedy = f"lanelab verify {folder} lists all that differs. Copy the run again from where it was made"
    return ChangedError(f"the run in {folder} is not what was stored: {what}", remedy)


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _noted(database: sqlite3.Connection, kind: Kind, numbers: Numbers) -> dict[int, Mapping[str, str]]:
    return {each: json.loads(text) for each, text in database.execute(_NOTED, (kind, *numbers))}


def _stored(text: str, part: str) -> str | None:
    """Return the digest of a part in these, as they are stored. They are looked through, and not taken apart, which for
    a run of very many trials takes a while."""
    before = f'"{part}": "'
    place = text.find(before)
    if place < 0:
        return cast(str | None, json.loads(text).get(part))
    return text[place + len(before) :].partition('"')[0]


def _digests(
    database: sqlite3.Connection, kind: Kind, part: str, numbers: Numbers, take: Taker | None = None
) -> Iterator[tuple[int, str]]:
    """Yield the digests of one part, as it is now."""
    which = f"{_NUMBER[kind]} BETWEEN ? AND ?"
    rows = database.execute(_PARTS[kind][part].format(which=which), numbers)
    for each, group in itertools.groupby(rows, key=operator.itemgetter(0)):
        content = [row[1:] for row in group]
        if take:
            take(int(each), content)
        yield int(each), _sha256(_canonical(content))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a trial's measures, and the canonical form of the part with places for the values."""

    names: tuple[str, ...]
    form: str

    @classmethod
    def of(cls, names: Iterable[str]) -> "_Names":
        kept = tuple(map(sys.intern, names))
        rows = (f"[{_canonical(name)},".replace("%", "%%") + "%s]" for name in kept)
        return cls(kept, f"[{','.join(rows)}]")


def _taken_measures(
    database: sqlite3.Connection, numbers: Numbers, noted: Mapping[int, str], take: Taker
) -> Iterator[tuple[int, str]]:
    """Yield the digests of the measures of trials, for who takes them. Most trials have measures of the same names, and
    to read those takes longer than all the rest: they are read where names that are known do not give the digest that
    is noted. What is taken is what was stored, also where somebody has changed a name since: that is found by who only
    compares."""
    which = "FROM measures WHERE trial BETWEEN ? AND ?"
    counts = database.execute(f"SELECT trial, count(*) {which} GROUP BY trial ORDER BY trial", numbers).fetchall()
    values = itertools.chain.from_iterable(database.execute(f"SELECT value {which} ORDER BY trial, name", numbers))
    known: dict[int, list[_Names]] = {}  # by how many
    for each, count in counts:
        of_trial = tuple(itertools.islice(values, count))
        texts = tuple(map(repr, of_trial))  # as JSON has them, but for what is no finite number
        stored = _stored(noted.get(each, "{}"), MEASURES)
        names = next((one for one in known.get(count, ()) if _sha256(one.form % texts) == stored), None)
        digest = stored
        if names is None:
            read = database.execute("SELECT name FROM measures WHERE trial = ? ORDER BY name", (each,))
            names = _Names.of(name for (name,) in read)
            digest = _sha256(_canonical(list(zip(names.names, of_trial, strict=True))))
            if len(known.setdefault(count, [])) < MOST_GUESSES:
                known[count].append(names)
        take(each, list(zip(names.names, of_trial, strict=True)))
        yield each, digest or ""

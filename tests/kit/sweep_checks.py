"""What every run of a sweep has to be in the end, whatever befell it: each check gives what is wrong, in words.

They read the run folder alone, and by their own means: what wrote it is what they judge.
"""

import contextlib
import datetime
import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

KNOWN_NAMES = {"run.sqlite", "experiment.yaml", "trials", "in-use", "report.html", "authority", "cluster"}
CLUSTER_NAMES = {"invitation.json", "scheduler.json", "scheduler.log"}  # by them workers find a run that goes on
STAMP_TOLERANCE_S = 5.0


def problems(folder: Path, rounds: int, endings: tuple[str, ...] | None = ("finished",)) -> list[str]:
    """All that is wrong with a run that has ended and should be whole. `endings`: of its sessions, in order; None: only
    the last one has to have finished."""
    database = sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)
    with contextlib.closing(database):
        return [
            *_database_is_sound(database),
            *lost_or_doubled(database, rounds),
            *half_there(folder, database),
            *torn_apart(database),
            *untested(database),
            *badly_ended(database, endings),
            *out_of_time(database),
        ]


def _database_is_sound(database: sqlite3.Connection) -> Iterator[str]:
    for (line,) in database.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"database: {line}"
    for table, row, parent, _ in database.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} names no row of {parent}"


def lost_or_doubled(database: sqlite3.Connection, rounds: int) -> Iterator[str]:
    """Each cell has one trial that counts in each round, its last attempt there; attempts are numbered without gaps."""
    found: dict[tuple[int, int], list[tuple[int, str]]] = defaultdict(list)
    for cell, number, attempt, status in database.execute("SELECT cell, round, attempt, status FROM trials"):
        found[cell, number].append((attempt, status))
    cells = [cell for (cell,) in database.execute("SELECT cell FROM cells")]
    wanted = {(cell, number) for cell in cells for number in range(1, rounds + 1)}
    for cell, number in sorted(wanted - found.keys()):
        yield f"cell {cell} has no trial in round {number}"
    for cell, number in sorted(found.keys() - wanted):
        yield f"cell {cell} has a trial in round {number}, which nobody asked for"
    for (cell, number), attempts in sorted(found.items()):
        where = f"cell {cell} in round {number}"
        statuses = [status for _, status in sorted(attempts)]
        if statuses.count("ok") != 1:
            yield f"{where}: {statuses.count('ok')} trials that count"
        elif statuses[-1] != "ok":
            yield f"{where}: was made again after it counted"
        if [attempt for attempt, _ in sorted(attempts)] != list(range(1, len(attempts) + 1)):
            yield f"{where}: attempts {sorted(attempt for attempt, _ in attempts)}"


def half_there(folder: Path, database: sqlite3.Connection) -> Iterator[str]:
    """Artifacts are just those that the database names, and nothing else is in the folder."""
    named: dict[str, dict[str, tuple[int, str]]] = defaultdict(dict)
    for trial, name, size, digest in database.execute("SELECT trial, name, bytes, sha256 FROM artifacts"):
        named[f"{trial:06d}"][name] = (size, digest)
    trials = {f"{trial:06d}" for (trial,) in database.execute("SELECT trial FROM trials")}
    folders = {path.name for path in (folder / "trials").iterdir()}
    for name in sorted(folders - trials):
        yield f"trials/{name} is of no trial"
    for trial, text in database.execute("SELECT trial, record FROM trials WHERE status = 'ok'"):
        if f"{trial:06d}" not in named:
            yield f"trial {trial:06d} names no artifact"
        if not json.loads(text).get("evidence"):
            yield f"trial {trial} has no evidence"
    for name in sorted(trials & named.keys()):
        yield from _artifacts(folder / "trials" / name, named[name])
    yield from _left_over(folder)


def _left_over(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        empty_journal = path.name == "run.sqlite-journal" and path.stat().st_size == 0
        if path.name not in KNOWN_NAMES and not empty_journal:
            yield f"{path.name} is left in the run folder"
    for path in sorted((folder / "cluster").glob("*")):
        if path.name not in CLUSTER_NAMES:
            yield f"cluster/{path.name} is left in the run folder"


def _artifacts(folder: Path, named: dict[str, tuple[int, str]]) -> Iterator[str]:
    there = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    for name in sorted(there.keys() ^ named.keys()):
        yield f"{folder.name}/{name} is {'of no trial' if name in there else 'missing'}"
    for name in sorted(there.keys() & named.keys()):
        content = there[name].read_bytes()
        if (len(content), hashlib.sha256(content).hexdigest()) != named[name]:
            yield f"{folder.name}/{name} is not what the database says"


def torn_apart(database: sqlite3.Connection) -> Iterator[str]:
    """What is compared by round comes from one bed of one machine, one trial after the other."""
    (text,) = database.execute("SELECT value FROM meta WHERE key = 'plan'").fetchone()
    component = _components([tuple(pair) for pair in json.loads(text)["compared"]])
    beds: dict[tuple[str, int], set[int]] = defaultdict(set)
    query = "SELECT id, round, bed FROM trials JOIN cells USING (cell) WHERE status = 'ok'"
    for cell, number, bed in database.execute(query):
        beds[component.get(cell, cell), number].add(bed)
    for (first, number), used in sorted(beds.items()):
        if len(used) > 1:
            yield f"round {number} of the comparisons of {first} is of beds {sorted(used)}"
    for (bed,) in database.execute("SELECT DISTINCT bed FROM trials WHERE bed NOT IN (SELECT bed FROM beds)"):
        yield f"bed {bed} is of no machine"
    for (digest,) in database.execute(
        "SELECT DISTINCT versions FROM trials WHERE versions NOT IN (SELECT versions FROM versions)"
    ):
        yield f"versions {digest!r} of trials are not noted"


def _components(pairs: list[tuple[str, ...]]) -> dict[str, str]:
    """Cell -> the first of those that it is compared with, over however many others."""
    heads: dict[str, str] = {}

    def head(cell: str) -> str:
        while heads.setdefault(cell, cell) != cell:
            cell = heads[cell]
        return cell

    for one, other in pairs:
        first, second = sorted((head(one), head(other)))
        heads[second] = first
    return {cell: head(cell) for cell in list(heads)}


def untested(database: sqlite3.Connection) -> Iterator[str]:
    """Every link was tested on every bed that used it, before it did, and passed, unless the run accepts links as they
    are."""
    bed = database.execute("SELECT value FROM meta WHERE key = 'bed'").fetchone()
    accepts = bool(json.loads(bed[0]).get("accept_links")) if bed else False
    query = """
        SELECT DISTINCT bed, link FROM trials JOIN cells USING (cell) WHERE NOT EXISTS (
            SELECT 1 FROM self_tests AS t
            WHERE t.bed = trials.bed AND t.link = cells.link AND t.moment = 'before' AND (t.passed OR ?)
        ) ORDER BY 1, 2
    """
    for bed, link in database.execute(query, (accepts,)):
        yield f"link {link} was used on bed {bed} without a self-test that it passed"


def badly_ended(database: sqlite3.Connection, endings: tuple[str, ...] | None) -> Iterator[str]:
    """Sessions say how they ended, as they did."""
    rows = database.execute("SELECT session, ending, ended_utc FROM sessions ORDER BY session").fetchall()
    found = tuple(str(ending) for _, ending, _ in rows)
    if (endings is not None and found != endings) or found[-1:] != ("finished",):
        yield f"the sessions ended {', '.join(found)}, not {', '.join(endings or ('…', 'finished'))}"
    for session, ending, ended in rows:
        if (ended is None) != (ending == "killed"):
            yield f"session {session} is said to have ended {ending}, at {ended}"
    (state,) = database.execute("SELECT value FROM meta WHERE key = 'state'").fetchone()
    if state != "finished":
        yield f"the run is {state}"


def out_of_time(database: sqlite3.Connection) -> Iterator[str]:
    """Trials began while their session went on, whatever their machine's clock said."""
    query = """
        SELECT trial, trials.started_utc, sessions.started_utc, ended_utc FROM trials JOIN sessions USING (session)
        WHERE origin = ''
    """
    tolerance = datetime.timedelta(seconds=STAMP_TOLERANCE_S)
    for trial, began, from_utc, to_utc in database.execute(query):
        when = datetime.datetime.fromisoformat(began)
        if when < datetime.datetime.fromisoformat(from_utc) - tolerance or (
            to_utc and when > datetime.datetime.fromisoformat(to_utc) + tolerance
        ):
            yield f"trial {trial} is said to have begun at {began}, its session at {from_utc}"

"""What a run knows of the machine and its user that is nobody else's: folders of the user, the machine's name, where
machines are reached. It is taken out of what leaves. Pure, but for the copy of a database.
"""

import html
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lanelab.driver.base.writing import writing
from lanelab.driver.run.folder.digests import note_digests

HIDDEN = "(removed)"
PLACE = "PATH"  # stands for the folder of the user's that a path began with
# Folders that every machine has: a path in one of them says nothing about its user.
COMMON = ("/bin", "/dev", "/etc", "/lib", "/lib64", "/opt", "/proc", "/run", "/sbin", "/sys", "/tmp", "/usr", "/var")  # noqa: S108
# Keys of provenance below which names and addresses of machines are.
OF_MACHINES = frozenset(
    {
        "address",
        "addresses",
        "host",
        "host_name",
        "hosts",
        "hostname",
        "inventory",
        "machines",
        "routes",
        "user",
        "workers",
    }
)
COLUMNS = (("trials", "record"), ("failures", "detail"), ("flags", "detail"), ("self_tests", "data"))


@dataclass(frozen=True, slots=True)
class Private:
    """Folders and names that must not leave."""

    folders: tuple[str, ...]  # the longest first
    names: tuple[str, ...]  # of the machine: whole words, in what was noted of the machine

    def hide(self, text: str) -> str:
        """Return the text without the folders: also as JSON and HTML write them."""
        for folder in self.folders:
            for written in dict.fromkeys((folder, json.dumps(folder)[1:-1], html.escape(folder))):
                text = re.sub(rf"{re.escape(written)}(?![\w.-])", PLACE, text)
        return text

    def hide_facts(self, data: Any, key: str = "") -> Any:  # noqa: ANN401 - JSON
        """Return provenance without folders, names of machines and where they are."""
        if key in OF_MACHINES:
            return HIDDEN
        if isinstance(data, Mapping):
            return {name: self.hide_facts(value, name) for name, value in data.items()}
        if isinstance(data, list):
            return [self.hide_facts(value) for value in data]
        if not isinstance(data, str):
            return data
        return self.hide_names(data)

    def hide_names(self, text: str) -> str:
        """Return the text without names of machines and without folders: of a page, in which every machine has a
        number."""
        for name in self.names:
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", HIDDEN, text)
        return self.hide(text)


def private_of(facts: Iterable[Any], further: Iterable[Path], names: Iterable[str]) -> Private:
    """Return what is private of `facts`, like provenance, which may name paths; `further`: more private folders."""
    folders: set[str] = set()
    for data in facts:
        for text in _texts(data):
            folders.update(
                str(PurePosixPath(word).parent) for word in re.split(r"[\s=,;'\"]+", text) if word[:1] == "/"
            )
    # The user's own are private wherever they lie, as a home below /var is.
    kept = {folder for folder in folders if not _is_common(folder)} | {str(path) for path in further} - {"/"}
    return Private(tuple(sorted(kept, key=lambda each: (-len(each), each))), tuple(sorted(filter(None, names))))


def _is_common(folder: str) -> bool:
    return folder == "/" or any(folder == each or folder.startswith(f"{each}/") for each in COMMON if each != "/tmp")  # noqa: S108


def _texts(data: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)


def copy_database(source: Path, target: Path, private: Private) -> None:
    """Copy the database of a run without what is private, also in pages that it no longer uses."""
    with writing(f"copy {source}"):
        with closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as database:
            aside = target.with_name(target.name + ".part")
            with closing(sqlite3.connect(aside)) as copy:
                database.backup(copy)
                _hide_in(copy, private)
                copy.execute("VACUUM INTO ?", (str(target),))
        for each in target.parent.glob(f"{aside.name}*"):
            each.unlink()


def _hide_in(database: sqlite3.Connection, private: Private) -> None:
    database.create_function("hide", 1, private.hide, deterministic=True)
    database.create_function(
        "hide_facts", 1, lambda text: json.dumps(private.hide_facts(json.loads(text))), deterministic=True
    )
    with database:
        database.execute("UPDATE sessions SET provenance = hide_facts(provenance)")
        database.execute("UPDATE sessions SET ending = hide(ending) WHERE ending IS NOT NULL")
        database.execute("UPDATE meta SET value = hide_facts(value) WHERE key = 'bed'")
        of_machine = "json_set(facts, '$.name', 'machine ' || machine, '$.identity', '')"
        database.execute(f"UPDATE machines SET name = 'machine ' || machine, facts = {of_machine}")  # noqa: S608
        database.execute("UPDATE beds SET facts = json_set(facts, '$.machine', 'machine ' || machine)")
        for table, column in COLUMNS:
            query = f"UPDATE {table} SET {column} = hide({column}) WHERE {column} != hide({column})"  # noqa: S608
            database.execute(query)
        for kind, number in database.execute("SELECT kind, number FROM digests").fetchall():
            note_digests(database, kind, number)
